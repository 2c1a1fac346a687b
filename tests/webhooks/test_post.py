"""One request and what may come of it, with real receivers on loopback."""

import asyncio
import socket
import ssl
import threading
import time
from datetime import UTC, datetime, timedelta

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from tests.webhooks import receivers
from tests.webhooks.receivers import receiving
from webhooks import conf
from webhooks.sending import post as posting
from webhooks.sending.post import post


def send(url, body=b"{}", headers=(), **more):
    return asyncio.run(post(url, list(headers), body, **more))


def timed(url):
    started = time.monotonic()
    answer = send(url)
    return answer, time.monotonic() - started


def test_a_body_arrives_as_it_is_with_its_headers():
    with receiving() as receiver:
        answer = send(receiver.url, b'{"a": "\xc3\xa4"}', [("X-One", "1")])
    (got,) = receiver.got
    assert (answer.status, answer.text, answer.problem) == (200, "ok", "")
    assert (got.body, got.path) == (b'{"a": "\xc3\xa4"}', "/hook")
    assert got.headers["X-One"] == "1"
    assert got.headers["Host"] == f"127.0.0.1:{receiver.server_port}"
    assert got.headers["Connection"] == "close"
    assert got.headers["Accept-Encoding"] == "identity"


@pytest.mark.parametrize("number", [200, 204, 301, 307, 400, 404, 410, 429, 500, 503])
def test_every_status_is_told_as_it_is(number):
    with receiving(receivers.status(number, Location="http://127.0.0.1/x")) as receiver:
        assert send(receiver.url).status == number


def test_a_redirect_to_loopback_is_not_followed():
    with receiving() as inner:
        with receiving(receivers.status(301, Location=inner.url)) as outer:
            assert send(outer.url).status == 301
        assert len(outer.got) == 1
        assert inner.got == []


def test_retry_after_is_handed_on():
    with receiving(receivers.status(429, Retry_After="7")) as receiver:
        assert send(receiver.url).retry_after == "7"


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize(
    "behaviour", [receivers.hanging, receivers.dripping, receivers.dripping_head]
)
def test_whoever_takes_too_long_is_cut(behaviour):
    with receiving(behaviour) as receiver:
        answer, seconds = timed(receiver.url)
    assert (answer.status, answer.problem) == (None, "timeout")
    assert conf.TOTAL_SECONDS <= seconds < conf.TOTAL_SECONDS + 15


def test_of_50_megabytes_64_kilobytes_are_read():
    with receiving(receivers.huge) as receiver:
        answer, seconds = timed(receiver.url)
        deadline = time.monotonic() + 10
        while not hasattr(receiver, "sent") and time.monotonic() < deadline:
            time.sleep(0.01)
        # What the system's buffers hold on top.
        assert receiver.sent < 20 * 1024 * 1024
    assert answer.status == 200
    assert answer.text == "x" * 1024
    assert seconds < conf.TOTAL_SECONDS


def test_a_gzip_bomb_stays_packed():
    with receiving(receivers.bomb) as receiver:
        answer = send(receiver.url)
    assert answer.status == 200
    assert len(answer.text) <= 1024


@pytest.mark.parametrize(
    ("behaviour", "problem"),
    [(receivers.garbage, "bad_answer"), (receivers.cut, "connection_lost")],
)
def test_what_is_no_answer_is_none(behaviour, problem):
    with receiving(behaviour) as receiver:
        assert send(receiver.url).problem in (problem, "bad_answer")


def test_nobody_there():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        # Held, so that nobody else gets it meanwhile, and not listened on.
        answer = send(f"http://127.0.0.1:{free.getsockname()[1]}/")
    assert (answer.status, answer.problem) == (None, "connection_refused")


def test_an_endless_head_is_not_read():
    def behave(handler):
        handler.wfile.write(b"HTTP/1.1 200 OK\r\n")
        while True:
            handler.wfile.write(b"X-A: b\r\n" * 1000)

    with receiving(behave) as receiver:
        answer, seconds = timed(receiver.url)
    assert answer.problem == "bad_answer"
    assert seconds < conf.TOTAL_SECONDS


def test_proxies_of_the_environment_are_not_used(monkeypatch):
    with receiving() as proxy, receiving() as receiver:
        for name in ("http_proxy", "HTTP_PROXY", "https_proxy", "all_proxy"):
            monkeypatch.setenv(name, proxy.url)
        assert send(receiver.url).status == 200
        assert proxy.got == []


def test_a_private_target_is_refused_at_each_try(monkeypatch):
    with receiving() as receiver:
        monkeypatch.setattr(conf, "ALLOWED_HOSTS", frozenset())
        monkeypatch.setattr(conf, "ALLOW_HTTP", True)
        monkeypatch.setattr(conf, "PORTS", frozenset({receiver.server_port}))
        assert send(receiver.url).problem == "forbidden_address"
        assert receiver.got == []


def test_a_name_that_changes_between_check_and_connect_changes_nothing(monkeypatch):
    """The first answer is a public address, every later one is loopback."""
    answers, connected = ["93.184.216.34", "127.0.0.1", "127.0.0.1"], []

    def getaddrinfo(host, port, **kind):
        return [(2, 1, 6, "", (answers.pop(0), port))]

    async def open_connection(address, port, **options):
        connected.append((address, options["server_hostname"]))
        raise ConnectionRefusedError

    monkeypatch.setattr(posting.resolving.socket, "getaddrinfo", getaddrinfo)
    monkeypatch.setattr(posting.asyncio, "open_connection", open_connection)
    assert send("https://rebind.example/").problem == "connection_refused"
    assert connected == [("93.184.216.34", "rebind.example")]
    assert len(answers) == 2
    # And when it's loopback at the next try, there's no connection at all.
    assert send("https://rebind.example/").problem == "forbidden_address"
    assert len(connected) == 1


def test_the_next_address_is_tried_where_one_refuses(monkeypatch):
    monkeypatch.setattr(conf, "ALLOWED_HOSTS", frozenset({"two.example"}))
    with receiving() as receiver:
        url = f"http://two.example:{receiver.server_port}/"
        answer = send(url, resolve=lambda target: ["127.0.0.2", "127.0.0.1"])
    assert answer.status == 200
    assert receiver.got[0].headers["Host"] == f"two.example:{receiver.server_port}"


@pytest.mark.usefixtures("impatient")
def test_a_name_server_that_hangs_is_cut():
    answered, over = False, threading.Event()

    def slow(target):
        nonlocal answered
        answered = over.wait(60)
        return ["93.184.216.34"]

    async def cut_post():
        try:
            return await post("https://slow.example/", [], b"", resolve=slow), answered
        finally:
            over.set()

    answer, was_answered = asyncio.run(cut_post())
    assert answer.problem == "connect_timeout"
    assert not was_answered


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    """Of hook.example, by itself."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "hook.example")])
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(datetime.now(UTC) - timedelta(days=1))
        .not_valid_after(datetime.now(UTC) + timedelta(days=1))
        .add_extension(
            x509.SubjectAlternativeName([x509.DNSName("hook.example")]), critical=False
        )
        .sign(key, hashes.SHA256())
    )
    path = tmp_path_factory.mktemp("tls") / "both.pem"
    path.write_bytes(
        made.public_bytes(serialization.Encoding.PEM)
        + key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
    return path


@pytest.fixture
def secure(certificate, monkeypatch):
    """A receiver by https, and the names that its visitors asked for."""
    asked = []
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    context.sni_callback = lambda wrapped, name, context: asked.append(name)
    trusting = ssl.create_default_context(cafile=certificate)
    monkeypatch.setattr(posting, "tls", lambda: trusting)
    hosts = frozenset({"hook.example", "other.example"})
    monkeypatch.setattr(conf, "ALLOWED_HOSTS", hosts)
    receiver = receivers.Receiver(receivers.fast)
    receiver.socket = context.wrap_socket(receiver.socket, server_side=True)
    thread = threading.Thread(target=receiver.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    yield receiver, asked
    receiver.shutdown()
    receiver.server_close()


def here(target):
    return ["127.0.0.1"]


def test_the_certificate_is_asked_for_and_checked_by_name(secure):
    receiver, asked = secure
    url = f"https://hook.example:{receiver.server_port}/hook"
    assert send(url, resolve=here).status == 200
    assert asked == ["hook.example"]
    assert receiver.got[0].headers["Host"] == f"hook.example:{receiver.server_port}"


def test_a_certificate_of_another_name_is_refused(secure):
    receiver, _ = secure
    url = f"https://other.example:{receiver.server_port}/hook"
    assert send(url, resolve=here).problem == "tls"
    assert receiver.got == []
