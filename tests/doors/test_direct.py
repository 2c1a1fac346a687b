"""Calls that are answered in front of Django's handler get the very same answers."""

import io
import json
import re
from http import HTTPStatus
from uuid import uuid4

import pytest
from django.core.wsgi import get_wsgi_application

from leases.models import Lease
from novum.front import in_front_of
from novum.mcp import endpoint as mcp
from novum.rest import direct as rest
from tests.doors.http import door_of

CHANGING = re.compile(
    rb'"(id|key|number|title|position|version|server_time|lease_token|\w+_id|\w+_at)": ?'
    rb'("[^"]*"|null|\d+)'
)


def direct(application):
    return in_front_of(application, rest.find, mcp.find)


def send(application, method, path, body=b"", **headers):
    environ = {
        "REQUEST_METHOD": method,
        "SCRIPT_NAME": "",
        "PATH_INFO": path,
        "QUERY_STRING": "",
        "SERVER_NAME": "127.0.0.1",
        "SERVER_PORT": "8000",
        "HTTP_HOST": "127.0.0.1:8000",
        "SERVER_PROTOCOL": "HTTP/1.1",
        "REMOTE_ADDR": "127.0.0.1",
        "CONTENT_TYPE": "application/json",
        "CONTENT_LENGTH": str(len(body)),
        "wsgi.input": io.BytesIO(body),
        "wsgi.url_scheme": "http",
        **headers,
    }
    told = {}

    def start(status, pairs, exc_info=None):
        told.update(status=status, headers=dict(pairs))

    content = b"".join(application(environ, start))
    return told["status"], told["headers"], content


@pytest.fixture
def django():
    return get_wsgi_application()


@pytest.fixture
def token(world):
    return {"HTTP_AUTHORIZATION": f"Bearer {door_of(world.worker).token}"}


def calls(world, lease):
    claim = f"/v1/boards/{world.board}/columns/{world.queue}:claim-next"
    complete = f"/v1/leases/{lease.lease.id}:complete"
    receipt = {"lease_token": lease.lease_token}
    return [
        (claim, b"{}"),
        (claim, b'{"count":2}'),
        (claim, b'{"count":0}'),
        (claim, b"{"),
        (claim.replace("claim", "clean"), b"{}"),
        (claim.replace(str(world.board), str(uuid4())), b"{}"),
        (claim.replace(str(world.board), str(world.board).upper()), b"{}"),
        (claim.replace(str(world.board), f"{world.board}\u00e9"), b"{}"),
        (complete, b"{}"),
        (complete, b'{"lease_token":"nvml_wrong"}'),
        (complete, json.dumps(receipt | {"output": {"a": 1}}).encode()),
        (complete, json.dumps(receipt | {"output": {"a": 1}}).encode()),
        ("/v1/leases:complete", b'{"leases":[]}'),
        (f"/v1/leases/{uuid4()}:fail", b'{"lease_token":"x"}'),
        ("/v1/boards", b'{"name":""}'),
        ("/v1/agents/nobody:stop", b"{}"),
        ("/v1/mcp", b"{"),
        ("/v1/mcp", b'{"jsonrpc":"2.0","id":1,"method":"tools/list"}'),
    ]


# Django's handler closes its connection at the end, which a test's transaction is in.
@pytest.mark.django_db(transaction=True)
def test_every_answer_is_the_same(world, django, token):
    world.add_many(10)
    one, other = world.claim(), world.claim()
    for mine, theirs in zip(calls(world, one), calls(world, other), strict=True):
        short = send(direct(django), "POST", *mine, **token)
        long = send(django, "POST", *theirs, **token)
        assert short[0] == long[0], mine
        assert _without_sizes(short[1]) == _without_sizes(long[1]), mine
        assert CHANGING.sub(b"", short[2]) == CHANGING.sub(b"", long[2]), mine
        assert int(short[1]["Content-Length"]) == len(short[2])


def _without_sizes(headers):
    # What differs from one call to the next.
    assert headers["X-Request-ID"]
    changing = ("Content-Length", "ETag", "X-Request-ID")
    return {k: v for k, v in headers.items() if k not in changing}


@pytest.mark.parametrize(
    "authorization", ["Bearer nvma_wrong", "Basic YTpi", "Bearer \u00e9", "Bearer "]
)
def test_without_a_good_token(world, django, authorization):
    path = f"/v1/boards/{world.board}/columns/{world.queue}:claim-next"
    status, headers, body = send(
        direct(django), "POST", path, b"{}", HTTP_AUTHORIZATION=authorization
    )
    assert status.startswith(str(HTTPStatus.UNAUTHORIZED.value))
    assert headers["WWW-Authenticate"].startswith("Bearer")
    assert json.loads(body)["code"] == "unauthenticated"


def test_all_else_goes_on_to_django(world, token):
    seen = []

    def behind(environ, start):
        seen.append((environ["REQUEST_METHOD"], environ["PATH_INFO"]))
        start("200 OK", [])
        return [b""]

    claim = f"/v1/boards/{world.board}/columns/{world.queue}:claim-next"
    send(direct(behind), "POST", claim, b"{}")
    send(direct(behind), "GET", "/v1/me", **token)
    send(direct(behind), "POST", claim, b"{}", **token, SCRIPT_NAME="/novum")
    assert seen == [
        ("POST", claim),
        ("GET", "/v1/me"),
        ("POST", claim),
    ]
    assert not Lease.objects.exists()
