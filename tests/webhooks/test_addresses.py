"""Where a webhook may go: every form in which a private place has been written."""

import pytest

from webhooks import conf
from webhooks.sending import resolving
from webhooks.sending.addresses import is_public
from webhooks.sending.resolving import Unknown, addresses, check_now
from webhooks.sending.targets import Refused, target_of

PUBLIC = ["93.184.216.34", "1.1.1.1", "8.8.8.8", "2606:4700::1111", "2a00:1450::1"]
PRIVATE = [
    # Each network of the list: its first, its last and one in between.
    *("0.0.0.0", "0.0.0.1", "0.255.255.255"),
    *("10.0.0.0", "10.1.2.3", "10.255.255.255"),
    *("100.64.0.0", "100.64.0.1", "100.100.100.200", "100.127.255.255"),
    *("127.0.0.1", "127.0.0.0", "127.1.2.3", "127.255.255.255"),
    *("169.254.0.0", "169.254.169.254", "169.254.170.2", "169.254.255.255"),
    *("172.16.0.0", "172.20.10.1", "172.31.255.255"),
    *("192.0.0.0", "192.0.0.192", "192.0.0.255"),
    *("192.0.2.1", "192.88.99.1", "198.51.100.1", "203.0.113.1"),
    *("192.168.0.0", "192.168.1.1", "192.168.255.255"),
    *("198.18.0.0", "198.19.255.255"),
    *("224.0.0.0", "224.0.0.1", "239.255.255.250", "239.255.255.255"),
    *("240.0.0.0", "250.1.2.3", "255.255.255.255"),
    *("::", "::1", "::2", "::ffff", "::7f00:1", "::127.0.0.1", "::8.8.8.8"),
    *("fe80::", "fe80::1", "febf:ffff::1", "fe80::1%eth0", "fe80::1%1"),
    *("fc00::", "fc00::1", "fd00::1", "fd00:ec2::254", "fdff:ffff::1"),
    *("fec0::", "fec0::1", "feff::1"),
    *("ff00::", "ff02::1", "ff05::2", "ffff::1"),
    *("64:ff9b::", "64:ff9b::7f00:1", "64:ff9b::127.0.0.1", "64:ff9b::8.8.8.8"),
    *("64:ff9b:1::", "64:ff9b:1::1", "64:ff9b:1:ffff::1"),
    *("2002::", "2002:7f00:1::", "2002:a00:1::1", "2002:ffff::1"),
    *("2001::", "2001::1", "2001:0:53aa:64c::1", "2001:10::1", "2001:1ff::1"),
    *("100::", "100::1", "100:0:0:1::1"),
    *("2001:db8::", "2001:db8::1", "2001:db8:ffff::1"),
    *("3fff::", "3fff::1", "3fff:fff::1"),
    *("5f00::", "5f00::1", "5f00:ffff::1"),
    # IPv4 in IPv6 is what's inside.
    *("::ffff:127.0.0.1", "::ffff:7f00:1", "::ffff:10.0.0.1", "::ffff:169.254.169.254"),
    *("::ffff:0:127.0.0.1",),
]
NO_ADDRESSES = ["", "localhost", "127.1", "0x7f.1", "2130706433", "256.1.1.1", "1.2.3"]
URLS_OF_LOOPBACK = [
    *("127.0.0.1", "127.1", "127.0.1", "2130706433", "017700000001", "0x7f000001"),
    *("0x7f.0.0.1", "0x7f.1", "0177.0.0.1", "0177.1", "127.0.0.0x1", "0", "0.0.0.0"),
    *("127.000.000.001", "00000177.0.0.1", "127.0.0.1.", "127.1.", "0x7F.1"),
    *("①②⑦.0.0.1", "１２７.0.0.1", "127。0。0。1", "127.0.0.１"),  # noqa: RUF001
    *("[::1]", "[::]", "[0:0:0:0:0:0:0:1]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]"),
    *("[::127.0.0.1]", "[fe80::1%25eth0]", "[64:ff9b::7f00:1]", "[2002:7f00:1::]"),
    *("localhost", "LOCALHOST", "localhost.", "a.localhost", "ｌocalhost"),  # noqa: RUF001
    *("localhost.localdomain.local", "redis", "postgres", "metadata"),
    *("metadata.google.internal", "printer.local", "nas.home.arpa", "x.internal"),
    *("169.254.169.254", "[fd00:ec2::254]", "10.0.0.1", "192.168.1.1"),
]


@pytest.mark.parametrize("address", PUBLIC)
def test_addresses_of_the_internet_are_public(address):
    assert is_public(address)


@pytest.mark.parametrize("address", PRIVATE)
def test_no_other_address_is(address):
    assert not is_public(address)


@pytest.mark.parametrize("text", NO_ADDRESSES)
def test_what_is_no_address_is_none(text):
    assert not is_public(text)


@pytest.mark.parametrize("host", URLS_OF_LOOPBACK)
def test_no_spelling_of_a_private_place_gets_through(host, monkeypatch):
    monkeypatch.setattr(conf, "ALLOWED_HOSTS", frozenset())
    with pytest.raises(Refused) as refused:
        check_now(target_of(f"https://{host}/hook"), 2.0)
    assert refused.value.code in ("bad_url", "forbidden_address")


@pytest.mark.parametrize(
    ("url", "code"),
    [
        ("", "bad_url"),
        ("example.com/hook", "bad_url"),
        ("//example.com", "bad_url"),
        ("ftp://example.com", "bad_url"),
        ("file:///etc/passwd", "bad_url"),
        ("gopher://example.com", "bad_url"),
        ("https:example.com", "bad_url"),
        ("https://", "bad_url"),
        ("https:///path", "bad_url"),
        ("https://?x", "bad_url"),
        ("https://user@example.com", "bad_url"),
        ("https://user:pass@example.com", "bad_url"),
        ("https://example.com@127.0.0.1/", "bad_url"),
        ("https://example.com#@127.0.0.1/", "bad_url"),
        ("https://example.com/#part", "bad_url"),
        ("https://example.com\\@127.0.0.1/", "bad_url"),
        ("https://example.com/a b", "bad_url"),
        ("https://example.com/\r\nX-Evil: 1", "bad_url"),
        ("https://exa\tmple.com/", "bad_url"),
        ("https://exam\nple.com/", "bad_url"),
        ("https://example.com:99999/", "bad_url"),
        ("https://example.com:-1/", "bad_url"),
        ("https://example.com:x/", "bad_url"),
        ("https://exa%6dple.com/", "bad_url"),
        ("https://example..com/", "bad_url"),
        ("https://-example.com/", "bad_url"),
        ("https://example.com./x?y=" + "z" * 2000, "bad_url"),
        ("https://[::1", "bad_url"),
        ("https://[nonsense]/", "bad_url"),
        ("https://1.2.3.4.5/", "bad_url"),
        ("http://example.com/", "needs_https"),
        ("https://example.com:22/", "forbidden_port"),
        ("https://example.com:6379/", "forbidden_port"),
        ("https://example.com:0/", "forbidden_port"),
    ],
)
def test_what_is_no_good_url_is_refused(url, code):
    with pytest.raises(Refused) as refused:
        target_of(url)
    assert refused.value.code == code


@pytest.mark.parametrize(
    ("url", "host", "header", "path"),
    [
        ("https://example.com", "example.com", "example.com", "/"),
        ("https://EXAMPLE.com:443/A?b=c", "example.com", "example.com", "/A?b=c"),
        ("https://example.com./x", "example.com", "example.com", "/x"),
        ("https://example.com:80/", "example.com", "example.com:80", "/"),
        ("https://example.com?x=1", "example.com", "example.com", "/?x=1"),
        ("https://bücher.example/", "xn--bcher-kva.example", None, "/"),
        ("https://93.184.216.34/", "93.184.216.34", "93.184.216.34", "/"),
        ("https://[2606:4700::1111]/", "2606:4700::1111", "[2606:4700::1111]", "/"),
        ("https://a_b.example.com/%20", "a_b.example.com", "a_b.example.com", "/%20"),
    ],
)
def test_a_good_url_is_taken_apart(url, host, header, path):
    target = target_of(url)
    assert (target.host, target.header, target.path) == (host, header or host, path)
    assert target.is_secure


def test_own_receivers_are_let_through_by_their_exact_name(monkeypatch):
    monkeypatch.setattr(conf, "ALLOWED_HOSTS", frozenset({"ci.internal", "10.0.0.5"}))
    for url in (
        "http://ci.internal:8080/x",
        "http://10.0.0.5:1/",
        "https://CI.internal",
    ):
        assert target_of(url).is_own
    for url in ("https://x.ci.internal/", "https://10.0.0.6/", "https://0x0a.0.0.5/"):
        with pytest.raises(Refused):
            target_of(url)


def test_plain_http_is_for_those_who_say_so(monkeypatch):
    monkeypatch.setattr(conf, "ALLOW_HTTP", True)
    assert not target_of("http://example.com/").is_secure
    with pytest.raises(Refused):
        target_of("http://192.168.0.1/")


def answering(monkeypatch, *found):
    def getaddrinfo(host, port, **kind):
        return [(2, 1, 6, "", (address, port)) for address in found]

    monkeypatch.setattr(resolving.socket, "getaddrinfo", getaddrinfo)


def test_a_name_with_one_private_address_among_others_is_refused(monkeypatch):
    answering(monkeypatch, "93.184.216.34", "10.0.0.1")
    with pytest.raises(Refused):
        addresses(target_of("https://example.com/"))
    answering(monkeypatch, "93.184.216.34", "93.184.216.34", "1.1.1.1")
    assert addresses(target_of("https://example.com/")) == ["93.184.216.34", "1.1.1.1"]


@pytest.mark.parametrize("address", PRIVATE)
def test_a_name_that_leads_to_a_private_address_is_refused(monkeypatch, address):
    answering(monkeypatch, address)
    with pytest.raises(Refused):
        addresses(target_of("https://example.com/"))


def test_a_name_that_nobody_knows_yet_can_be_saved_but_not_called():
    target = target_of("https://nobody-has-this-name.example/")
    check_now(target, 2.0)
    with pytest.raises(Unknown):
        addresses(target)
