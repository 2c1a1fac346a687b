"""How many statements a call of the loop may send, all that a door needs included: the
token, the role, the limits (issue 2). What the verbs send: tests.leases.test_budgets.
"""

import json

import pytest

from novum import limits
from tests.doors.http import Http, token_of
from tests.doors.test_direct import direct, send
from tests.leases.test_budgets import at_most


@pytest.fixture
def token(world):
    """For a queue with everything on that costs: a limit, both schemas, a backoff."""
    world.set(
        concurrency_limit=40,
        input_schema={"type": "object"},
        output_schema={"type": "object"},
        backoff_seconds=[1],
    )
    world.add_many(9)
    return token_of(world.worker)


@pytest.fixture(params=["in front of Django", "by Django's handler"])
def ask(request, world, token, settings):
    """POST as a worker does; token and role are known from the call before."""
    assert all(settings.RATE_LIMITS.values())
    headers = {"HTTP_AUTHORIZATION": f"Bearer {token}"}

    def in_front(path, body):
        content = json.dumps(body).encode()
        status, _, told = send(direct(None), "POST", path, content, **headers)
        return int(status.split()[0]), told

    def behind(path, body):
        answer = Http(token).post(path, body)
        return answer.status_code, answer.content

    way = in_front if request.param == "in front of Django" else behind

    def ask(path, **body):
        status, told = way(path, body)
        assert status == 200, told
        return json.loads(told)

    # Judges the cards, too.
    assert ask(claiming(world))["card"]
    assert limits._grants
    return ask


def claiming(world):
    return f"/v1/boards/{world.board}/columns/{world.queue}:claim-next"


def ending(held, verb):
    return f"/v1/leases/{held['lease']['id']}:{verb}"


def test_a_claim(world, ask):
    with at_most(3):
        assert ask(claiming(world))["card"]


@pytest.mark.parametrize("verb", ["complete", "fail", "release"])
def test_an_end(world, ask, verb):
    """The first one of the column, of which no terms are known, and the next."""
    more = {"output": {}} if verb == "complete" else {}
    for _ in range(2):
        held = ask(claiming(world))
        with at_most(3):
            ask(ending(held, verb), lease_token=held["lease_token"], **more)


def test_a_renewal(world, ask):
    held = ask(claiming(world))
    with at_most(2):
        ask(ending(held, "renew"), lease_token=held["lease_token"])


@pytest.mark.parametrize("reason", ["drained", "at_capacity", "paused", "waiting"])
def test_an_empty_poll(world, ask, reason):
    held = ask(claiming(world), count=8)["claims"]
    if reason == "at_capacity":
        world.set(concurrency_limit=9)
    elif reason == "paused":
        world.set(paused=True)
    elif reason == "waiting":
        lease = held[0]
        ask(
            ending(lease, "fail"),
            lease_token=lease["lease_token"],
            retry_after_seconds=60,
        )
    ask(claiming(world))
    with at_most(3):
        assert ask(claiming(world))["reason"] == reason
