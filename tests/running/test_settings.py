import socket
import threading

import pytest

from novum.running.errors import StartError
from novum.running.settings import check_ports, from_environment
from tests.running.ports import two_free_ports


def test_the_defaults():
    settings = from_environment({})
    assert (settings.host, settings.port, settings.live_port) == (
        "127.0.0.1",
        8000,
        8001,
    )
    assert settings.data.name == ".novum"
    assert settings.data.is_absolute()
    assert settings.url == "http://127.0.0.1:8000"


@pytest.mark.parametrize("text", ["0", "65535", "-1", "http", "8000.5"])
def test_a_port_that_is_none_is_refused_by_name(text):
    with pytest.raises(StartError, match="NOVUM_PORT must be a number"):
        from_environment({"NOVUM_PORT": text})


def test_a_database_of_ones_own_demands_a_secret_of_ones_own():
    with pytest.raises(StartError, match="SECRET_KEY"):
        from_environment({"DATABASE_URL": "postgresql://x/y"})
    given = {"DATABASE_URL": "postgresql://x/y", "SECRET_KEY": "s" * 50}
    assert from_environment(given).database_url == "postgresql://x/y"


@pytest.mark.parametrize(
    ("host", "url"),
    [
        ("0.0.0.0", "http://127.0.0.1:8000"),
        ("::", "http://[::1]:8000"),
        ("novum.test", "http://novum.test:8000"),
    ],
)
def test_the_address_is_one_that_can_be_opened(host, url):
    assert from_environment({"NOVUM_HOST": host}).url == url


@pytest.mark.parametrize("offset", [0, 1], ids=["web", "live"])
def test_a_taken_port_is_named_with_what_to_set(offset):
    port = two_free_ports()
    settings = from_environment({"NOVUM_PORT": str(port)})
    check_ports(settings)
    with (
        socket.create_server(("127.0.0.1", port + offset)),
        pytest.raises(StartError, match=rf"Port {port + offset} .*NOVUM_PORT"),
    ):
        check_ports(settings)


def test_a_port_that_is_given_back_in_time_is_waited_for():
    port = two_free_ports()
    taken = socket.create_server(("127.0.0.1", port))
    giving_back = threading.Timer(0.3, taken.close)
    giving_back.start()
    check_ports(from_environment({"NOVUM_PORT": str(port)}), patience_seconds=30)
    assert taken.fileno() == -1
    giving_back.join()


def test_a_host_that_is_not_ours_is_named():
    settings = from_environment({"NOVUM_HOST": "192.0.2.1"})
    with pytest.raises(StartError, match="NOVUM_HOST"):
        check_ports(settings)
