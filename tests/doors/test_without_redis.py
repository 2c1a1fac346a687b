"""Every operation works with Redis gone, and no verb waits for it longer than it says.

What a call may have waited is counted, not timed: each time the calling thread connects to
that address or reads from it, with the timeout that it had set. (Nudges are sent by a
thread of their own, for which nobody waits.)
"""

import socket
import threading

import pytest

from boards import nudges
from novum import health, limits
from novum.operations.registry import OPERATIONS
from tests.connections import undone
from tests.doors.http import Http, token_of
from tests.doors.principals import forget
from tests.doors.recipes import sent

WAYS = ("silent", "refusing")
# The doctor looks at Redis because it's asked to: it answers whatever it finds.
LOOKS_AT_IT = "list_findings"
VERBS = [operation for operation in OPERATIONS if operation.name != LOOKS_AT_IT]


@pytest.fixture(params=WAYS)
def address(request, settings):
    """Of a Redis that takes connections and says nothing, or of none at all."""
    listener = socket.create_server(("127.0.0.1", 0), backlog=1000)
    port = listener.getsockname()[1]
    if request.param == "refusing":
        listener.close()
    settings.REDIS_URL = f"redis://127.0.0.1:{port}/0"
    yield "127.0.0.1", port
    listener.close()


@pytest.fixture
def waits(address, monkeypatch):
    """The timeouts of what this thread waited for at that address, in order."""
    found, peers, me = [], {}, threading.get_ident()

    def spied(name):
        real = getattr(socket.socket, name)

        def call(one, *arguments, **more):
            if name == "connect":
                peers[id(one)] = arguments[0]
            if peers.get(id(one)) == address and threading.get_ident() == me:
                found.append((name, one.gettimeout()))
            return real(one, *arguments, **more)

        monkeypatch.setattr(socket.socket, name, call)

    for name in ("connect", "recv", "recv_into"):
        spied(name)
    return found


@pytest.fixture
def call(world, settings, monkeypatch, django_capture_on_commit_callbacks):
    """Asks as the owner, who may everything; gives the status. Nothing of it stays."""
    settings.RATE_LIMITS = dict.fromkeys(settings.RATE_LIMITS, 1_000_000)
    monkeypatch.setattr(limits, "_redis", None)
    monkeypatch.setattr(limits, "_redis_rests_until", 0.0)
    monkeypatch.setattr(limits, "_grants", {})
    monkeypatch.setattr(nudges, "_sender", nudges._Sender())
    door = Http(token_of(world.owner))

    def call(operation):
        with undone(), django_capture_on_commit_callbacks(execute=True):
            forget()
            asked = sent(operation, world, world.owner)
            answer = asked.by(door, operation)
        forget()
        return answer.status_code

    return call


def test_every_operation_works_and_waits_once_at_most(call, waits, monkeypatch):
    """Each is the first that finds Redis gone: no grant is left, and its rest is over."""
    wrong = {}
    for operation in VERBS:
        waits.clear()
        limits._grants.clear()
        monkeypatch.setattr(limits, "_redis_rests_until", 0.0)
        status = call(operation)
        names = [name for name, _ in waits]
        longest = max((seconds for _, seconds in waits), default=0.0)
        if (
            status != operation.status
            or names.count("connect") > 1
            or len(names) > 2
            or longest > limits.REDIS_TIMEOUT_SECONDS
        ):
            wrong[operation.name] = status, list(waits)
    assert wrong == {}


def test_while_it_rests_nobody_asks_again(call, waits, monkeypatch):
    monkeypatch.setattr(limits, "monotonic", lambda: 1000.0)
    wrong = {}
    for operation in VERBS:
        # A new credential or minute would ask for a grant.
        limits._grants.clear()
        status = call(operation)
        if status != operation.status:
            wrong[operation.name] = status
    assert wrong == {}
    assert [name for name, _ in waits].count("connect") == 1
    assert len(waits) <= 2


def test_the_doctor_answers_as_well(call, waits):
    (doctor,) = (one for one in OPERATIONS if one.name == LOOKS_AT_IT)
    assert call(doctor) == doctor.status
    assert max(seconds for _, seconds in waits) <= health.REDIS_SECONDS
