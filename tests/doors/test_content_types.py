"""A Content-Type that Django can make no request of is as good as none, at any door."""

from io import BytesIO

import pytest
from asgiref.sync import async_to_sync
from channels.testing import HttpCommunicator

from novum import asgi, wsgi

UNREADABLE = [
    *(f"text/plain; charset={name}" for name in ("hex", "rot13", "undefined", "a\0b")),
    "text/plain; charset*=hex''a",
    "text/plain; charset*=unheard-of''a",
    "a" * 20_000,
    f"text/plain; a={'a' * 20_000}",
]


@pytest.mark.parametrize("kind", UNREADABLE)
@pytest.mark.parametrize(
    ("method", "address", "expected"),
    [
        ("GET", "/v1/healthz", "200"),
        ("POST", "/v1/mcp", "401"),
        ("POST", "/v1/tasks:claim", "401"),
    ],
)
def test_web_reads_the_query_all_the_same(method, address, expected, kind, db):
    statuses = []
    wsgi.application(
        {
            "REQUEST_METHOD": method,
            "PATH_INFO": address,
            "QUERY_STRING": "a=%C3%A9",
            "CONTENT_TYPE": kind,
            "SERVER_NAME": "localhost",
            "SERVER_PORT": "80",
            "wsgi.input": BytesIO(),
            "wsgi.url_scheme": "http",
        },
        lambda status, headers: statuses.append(status[:3]),
    )
    assert statuses == [expected]


@pytest.mark.parametrize("kind", UNREADABLE)
@pytest.mark.parametrize("address", ["/v1/healthz", "/v1/events?wait_seconds=1"])
def test_live_reads_it_too(address, kind):
    @async_to_sync
    async def ask():
        headers = [(b"host", b"localhost"), (b"content-type", kind.encode("latin-1"))]
        call = HttpCommunicator(asgi.application, "GET", address, headers=headers)
        return await call.get_response(timeout=30)

    assert ask()["status"] in (200, 401)
