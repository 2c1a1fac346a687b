"""Claims that wait: through the ASGI application, and through the web process."""

import asyncio
import json
import threading
from time import monotonic, sleep

import pytest
from asgiref.sync import sync_to_async
from asgiref.testing import ApplicationCommunicator
from django.db import connection

from accounts.credentials import forget_tokens
from accounts.models import Actor, WorkerToken
from boards.models import Card, ClockTimestamp
from boards.verbs.cards import NewCard, create_card
from leases import lookout
from leases.lookout import LOOKOUT
from leases.models import Lease
from leases.verbs import pause
from leases.verbs.complete import complete
from novum.asgi import http
from novum.operations import waiting
from novum.operations.waiting import MOST_WAITING
from novum.running.processes import BLOCKING_THREADS
from novum.waiting import Waiting
from tests.builders import A_SECOND, a_token, a_world, an_agent, receipt
from tests.doors.http import door_of, token_of

PATIENCE = 30


@pytest.fixture
def world(transactional_db, monkeypatch):
    monkeypatch.setattr(lookout, "SAFETY_SECONDS", 0.3)
    monkeypatch.setattr(lookout, "DOUBT_SECONDS", 0.2)
    yield a_world()
    until(lambda: LOOKOUT._thread is None)


@pytest.fixture
def path(world):
    return f"/v1/boards/{world.board}/columns/{world.queue}:claim-next"


def until(holds, seconds=PATIENCE):
    deadline = monotonic() + seconds
    while not holds():
        assert monotonic() < deadline
        sleep(0.01)


class Call:
    """One waiting call at the ASGI application."""

    def __init__(self, app, token, path, body=None, query="", headers=()):
        self.raw = json.dumps(body or {}).encode()
        scope = {
            "type": "http",
            "method": "POST",
            "path": path,
            "query_string": query.encode(),
            "headers": [
                (b"host", b"localhost"),
                (b"content-type", b"application/json"),
                (b"content-length", str(len(self.raw)).encode()),
                (b"authorization", f"Bearer {token}".encode()),
                *headers,
            ],
            "server": ("localhost", 80),
            "client": ("127.0.0.1", 1),
            "http_version": "1.1",
        }
        self.talk = ApplicationCommunicator(app, scope)

    async def begin(self):
        await self.talk.send_input({"type": "http.request", "body": self.raw})
        return self

    async def end(self):
        await self.talk.send_input({"type": "http.disconnect"})
        await self.talk.wait(PATIENCE)

    async def answer(self, patience=PATIENCE):
        head = await self.talk.receive_output(patience)
        body = await self.talk.receive_output(PATIENCE)
        await self.talk.wait(PATIENCE)
        return head["status"], json.loads(body["body"])


def run(test):
    asyncio.run(test(Waiting(http)))


def in_own_connection(function, *arguments, **named):
    try:
        return function(*arguments, **named)
    finally:
        connection.close()


def in_thread(function, *arguments, **named):
    run = sync_to_async(in_own_connection, thread_sensitive=False)
    return run(function, *arguments, **named)


async def waiters(number):
    """Until so many wait."""

    def there():
        return sum(len(one.waiters) for one in LOOKOUT._queues.values()) == number

    deadline = monotonic() + PATIENCE
    while not there():
        assert monotonic() < deadline
        await asyncio.sleep(0.01)


def test_a_wait_ends_with_the_first_card(world, path):
    token = token_of(world.worker)

    async def test(app):
        # Longer than an answer is waited for.
        call = await Call(app, token, path, query="wait_seconds=50").begin()
        await waiters(1)
        await in_thread(world.add, "New")
        status, told = await call.answer()
        assert (status, told["card"]["title"]) == (200, "New")

    run(test)


def test_what_is_there_is_claimed_at_once(world, path):
    world.add("There")
    token = token_of(world.worker)

    async def test(app):
        call = await Call(app, token, path, {"wait_seconds": 20}).begin()
        _, told = await call.answer()
        assert told["card"]["title"] == "There"

    run(test)


def test_an_empty_answer_comes_at_the_end(world, path):
    token = token_of(world.worker)

    async def test(app):
        began = monotonic()
        call = await Call(app, token, path, {"wait_seconds": 0.5}).begin()
        status, told = await call.answer()
        assert monotonic() - began >= 0.5
        assert (status, told["card"], told["reason"]) == (200, None, "drained")

    run(test)


def test_twenty_waiters_get_five_cards_each_of_them_once(world, path):
    seat = Actor.objects.get(pk=world.worker.actor_id)
    tokens = [a_token(seat)[0] for _ in range(20)]

    async def test(app):
        calls = [Call(app, one, path, {"wait_seconds": 20}) for one in tokens]
        for call in calls:
            await call.begin()
        await waiters(20)
        await in_thread(world.add_many, 5)
        await waiters(15)
        lucky, others = [], []
        for call in calls:
            has_it = call.talk.output_queue.qsize() > 0
            (lucky if has_it else others).append(call)
        told = [one for _, one in [await call.answer() for call in lucky]]
        got = sorted(one["card"]["title"] for one in told)
        assert got == [f"Card {n}" for n in range(5)]
        for call in others:
            await call.end()

    run(test)
    assert Lease.objects.count() == 5


def test_a_card_costs_one_claim_and_the_others_sleep_on(world, path):
    token = token_of(world.worker)

    async def test(app):
        attempts = []
        attempt = app.attempt
        app.attempt = lambda *given: attempts.append(1) or attempt(*given)
        calls = [Call(app, token, path, {"wait_seconds": 20}) for _ in range(10)]
        for call in calls:
            await call.begin()
        await waiters(10)
        attempts.clear()
        await in_thread(world.add, "One")
        await waiters(9)
        assert len(attempts) == 1
        await asyncio.sleep(1.0)
        assert len(attempts) == 1
        for call in calls:
            await call.end()

    run(test)


def test_who_goes_away_claims_nothing(world, path):
    token = token_of(world.worker)

    async def test(app):
        call = await Call(app, token, path, {"wait_seconds": 20}).begin()
        await waiters(1)
        await call.end()
        await in_thread(world.add, "Nobody's")
        await asyncio.sleep(0.5)

    run(test)
    assert not Lease.objects.exists()


def test_who_goes_away_after_being_woken_leaves_the_card_to_the_next(world, path):
    token = token_of(world.worker)

    async def test(app):
        first = await Call(app, token, path, {"wait_seconds": 20}).begin()
        await waiters(1)
        second = await Call(app, token, path, {"wait_seconds": 20}).begin()
        await waiters(2)
        (queue,) = LOOKOUT._queues.values()
        oldest = next(iter(queue.waiters))
        # It's woken, but its process is too busy to notice before it's gone.
        oldest.wake = lambda: None
        await in_thread(world.add, "Once")
        deadline = monotonic() + PATIENCE
        while oldest.at is None:
            assert monotonic() < deadline
            await asyncio.sleep(0.01)
        await first.end()
        _, told = await second.answer()
        assert told["card"]["title"] == "Once"

    run(test)
    assert Lease.objects.count() == 1


def test_who_goes_away_before_the_end_of_the_body_is_let_go(world, path):
    token = token_of(world.worker)

    async def test(app):
        call = Call(app, token, path, {"wait_seconds": 20})
        part = {"type": "http.request", "body": call.raw[:5], "more_body": True}
        await call.talk.send_input(part)
        await call.end()

    run(test)


def test_the_end_of_a_pause_wakes(world, path):
    token = token_of(world.worker)
    where = {"board_id": world.board, "column_id": world.queue}
    pause.pause(world.owner, **where, reason="")
    world.add("Held back")

    async def test(app):
        call = await Call(app, token, path, {"wait_seconds": 20}).begin()
        await waiters(1)
        await asyncio.sleep(0.4)
        assert not call.talk.output_queue.qsize()
        await in_thread(pause.resume, world.owner, **where)
        _, told = await call.answer()
        assert told["card"]["title"] == "Held back"

    run(test)


def test_a_place_that_becomes_free_wakes(world, path):
    world.set(concurrency_limit=1)
    world.add("First")
    world.add("Second")
    held = world.claim()
    token = token_of(world.worker)

    async def test(app):
        call = await Call(app, token, path, {"wait_seconds": 20}).begin()
        await waiters(1)
        await in_thread(
            complete,
            world.worker,
            **receipt(held),
            output=None,
        )
        _, told = await call.answer()
        assert told["card"]["title"] == "Second"

    run(test)


def test_a_card_whose_time_comes_wakes(world, path):
    card = world.add("Later")
    soon = ClockTimestamp() + A_SECOND
    Card.objects.filter(pk=card).update(available_at=soon)
    token = token_of(world.worker)

    async def test(app):
        call = await Call(app, token, path, {"wait_seconds": 50}).begin()
        _, told = await call.answer()
        assert told["card"]["title"] == "Later"

    run(test)


def test_a_lease_that_lapses_wakes(world, path):
    world.set(backoff_seconds=[0])
    world.add("Again")
    held = world.claim()
    token = token_of(world.worker)

    async def test(app):
        call = await Call(app, token, path, {"wait_seconds": 20}).begin()
        await waiters(1)
        leases = Lease.objects.filter(pk=held.lease.id)
        await in_thread(leases.update, expires_at=ClockTimestamp() - A_SECOND)
        _, told = await call.answer()
        assert told["lease"]["attempt"] == 2

    run(test)


def test_a_card_for_another_wakes_nobody_and_its_own_worker_gets_it(world, path):
    other = an_agent(world.workspace)
    mine, theirs = token_of(world.worker), token_of(other)

    async def test(app):
        attempts = []
        attempt = app.attempt
        app.attempt = lambda *given: attempts.append(1) or attempt(*given)
        call = await Call(app, mine, path, {"wait_seconds": 4}).begin()
        await waiters(1)
        await in_thread(
            create_card,
            world.owner,
            board_id=world.board,
            column_id=world.queue,
            card=NewCard(title="Theirs", assignee=other.handle),
        )
        _, told = await call.answer()
        assert (told["card"], len(attempts)) == (None, 1)
        call = await Call(app, theirs, path, {"wait_seconds": 20}).begin()
        _, told = await call.answer()
        assert told["card"]["title"] == "Theirs"

    run(test)


def test_labels_are_waited_for(world, path):
    token = token_of(world.worker)

    async def test(app):
        wish = {"wait_seconds": 20, "labels": ["red"]}
        call = await Call(app, token, path, wish).begin()
        await waiters(1)
        await in_thread(world.add, "Plain")
        await asyncio.sleep(0.5)
        await in_thread(
            create_card,
            world.owner,
            board_id=world.board,
            column_id=world.queue,
            card=NewCard(title="Red", labels=("red",)),
        )
        _, told = await call.answer()
        assert told["card"]["title"] == "Red"

    run(test)


def test_a_key_with_a_wait_makes_one_lease(world, path):
    token = token_of(world.worker)
    key = [(b"idempotency-key", b"one")]

    async def test(app):
        call = await Call(app, token, path, {"wait_seconds": 20}, headers=key).begin()
        await waiters(1)
        await in_thread(world.add_many, 2)
        _, first = await call.answer()
        # Repeated by one who'd wait for less, as at the end of a worker.
        call = await Call(app, token, path, {"wait_seconds": 1}, headers=key).begin()
        _, again = await call.answer()
        assert again["replayed"]
        assert again["lease"]["id"] == first["lease"]["id"]
        call = await Call(app, token, path, {}, headers=key).begin()
        _, again = await call.answer()
        assert again["lease"]["id"] == first["lease"]["id"]

    run(test)
    assert Lease.objects.count() == 1


def test_a_token_that_is_revoked_meanwhile_gets_nothing(world, path):
    token = token_of(world.worker)

    async def test(app):
        call = await Call(app, token, path, {"wait_seconds": 20}).begin()
        await waiters(1)
        await in_thread(WorkerToken.objects.update, revoked_at=ClockTimestamp())
        forget_tokens()
        await in_thread(world.add, "Kept")
        status, told = await call.answer()
        assert (status, told["code"]) == (401, "unauthenticated")

    run(test)
    assert not Lease.objects.exists()


def test_several_queues_are_waited_for_at_once(world):
    token = token_of(world.owner)
    door = door_of(world.owner)
    for queue in ("first", "second"):
        door.post("/v1/tasks", {"title": "x", "queue": queue})
        door.post("/v1/tasks:claim", {"queue": queue})

    async def test(app):
        wish = {"queue": "first,second", "wait_seconds": 20}
        call = await Call(app, token, "/v1/tasks:claim", wish).begin()
        await waiters(2)
        await in_thread(door.post, "/v1/tasks", {"title": "Here", "queue": "second"})
        _, told = await call.answer()
        assert told["task"]["title"] == "Here"

    run(test)


def test_a_tool_waits_too(world):
    token = token_of(world.worker)
    message = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {
            "name": "claim_next_card",
            "arguments": {
                "board_id": str(world.board),
                "column_id": str(world.queue),
                "wait_seconds": 20,
            },
        },
    }
    accept = [(b"accept", b"application/json, text/event-stream")]

    async def test(app):
        call = await Call(app, token, "/v1/mcp", message, headers=accept).begin()
        await waiters(1)
        await in_thread(world.add, "By tool")
        status, told = await call.answer()
        assert status == 200
        assert told["result"]["structuredContent"]["card"]["title"] == "By tool"

    run(test)


@pytest.mark.parametrize("wish", ["nan", "x", "-1", "51"])
def test_a_strange_wait_is_refused(world, path, wish):
    door = door_of(world.worker)
    answer = door.post(path, {}, query={"wait_seconds": wish})
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["pointer"] == "/wait_seconds"


def test_on_web_a_wait_ends_with_the_first_card(world, path):
    door = door_of(world.worker)
    later = threading.Timer(0.3, in_own_connection, [world.add, "New"])
    later.start()
    answer = door.post(path, {"wait_seconds": 20})
    later.join()
    assert answer.json()["card"]["title"] == "New"


def test_on_web_few_wait_and_further_ones_are_told_when_to_come(world, path):
    door = door_of(world.worker)
    taken = [waiting._places.acquire(blocking=False) for _ in range(MOST_WAITING)]
    assert all(taken)
    try:
        began = monotonic()
        answer = door.post(path, {"wait_seconds": 50})
        assert monotonic() - began < PATIENCE
    finally:
        waiting._places.release(MOST_WAITING)
    assert answer.json()["card"] is None
    assert answer.json()["retry_after_seconds"] == waiting.RETRY_SECONDS
    assert answer.headers["Retry-After"] == "1"


def test_there_are_threads_left_for_those_who_do_not_wait():
    assert BLOCKING_THREADS - MOST_WAITING >= 4


def test_me_tells_where_to_wait(world, settings):
    told = door_of(world.worker).get("/v1/me").json()
    assert told["waiting_url"] == settings.NOVUM_LIVE_URL
