"""The feed for those who wait, and as a stream: through the real ASGI application."""

import asyncio
import json
import threading
from contextlib import asynccontextmanager
from time import monotonic, sleep
from urllib.parse import urlencode

import pytest
from asgiref.sync import sync_to_async
from asgiref.testing import ApplicationCommunicator
from django.db import connection
from django.test import Client

from accounts import credentials
from accounts.models import WorkerToken
from boards.models import Event, Snapshot
from boards.verbs.boards import edit_board
from novum.asgi import http
from novum.rest import bell, feed
from novum.rest.feed import Feed
from tests.builders import a_world
from tests.doors.http import token_of

PATIENCE = 30


@pytest.fixture
def world(transactional_db, monkeypatch):
    monkeypatch.setattr(bell, "LOOK_SECONDS", 0.02)
    return a_world()


def ask(app, token, accept="", last="", **query):
    headers = [(b"host", b"localhost")]
    for name, value in (("accept", accept), ("last-event-id", last)):
        if value:
            headers.append((name.encode(), value.encode()))
    if token:
        headers.append((b"authorization", f"Bearer {token}".encode()))
    scope = {
        "type": "http",
        "method": "GET",
        "path": "/v1/events",
        "query_string": urlencode(query).encode(),
        "headers": headers,
        "server": ("localhost", 80),
        "client": ("127.0.0.1", 1),
        "http_version": "1.1",
    }
    return ApplicationCommunicator(app, scope)


class Reader:
    """What a stream has told until now."""

    def __init__(self, call):
        self.call, self.text, self.head = call, "", None

    async def begin(self):
        await self.call.send_input({"type": "http.request", "body": b""})
        self.head = await self.call.receive_output(PATIENCE)
        return self

    async def events(self, number):
        """So many, as (cursor, event)."""
        deadline = monotonic() + PATIENCE
        while len(found := parsed(self.text)) < number:
            assert monotonic() < deadline, found
            part = await self.call.receive_output(PATIENCE)
            self.text += part.get("body", b"").decode()
        return found

    async def end(self):
        await self.call.send_input({"type": "http.disconnect"})
        await self.call.wait(PATIENCE)


def parsed(text):
    found = []
    for block in text.split("\n\n")[:-1]:
        lines = dict(
            line.split(": ", 1) for line in block.splitlines() if line[0] != ":"
        )
        if "data" in lines:
            event = json.loads(lines["data"])
            assert lines["event"] == event["type"]
            found.append((lines["id"], event))
    return found


async def page(app, token, **query):
    call = ask(app, token, **query)
    await call.send_input({"type": "http.request", "body": b""})
    head = await call.receive_output(PATIENCE)
    body = await call.receive_output(PATIENCE)
    await call.wait(PATIENCE)
    return head["status"], json.loads(body["body"])


@asynccontextmanager
async def streaming(app, token, **options):
    reader = await Reader(ask(app, token, "text/event-stream", **options)).begin()
    assert reader.head["status"] == 200
    try:
        yield reader
    finally:
        await reader.end()


def run(test):
    asyncio.run(test(Feed(http)))


def in_thread(function, *arguments, **named):
    return sync_to_async(function, thread_sensitive=False)(*arguments, **named)


def titles(found):
    return [event["data"].get("title") for _, event in found]


def settled():
    """Until the feed tells all there is: tests beside this one may have a transaction
    open in the same server, which holds it back."""
    deadline = monotonic() + PATIENCE
    while Event.objects.filter(transaction__gte=Snapshot()).exists():
        assert monotonic() < deadline
        sleep(0.02)


async def the_end(app, token):
    """The cursor behind all there is."""
    await in_thread(settled)
    cursor, found = "", ["some"]
    while found:
        _, told = await page(app, token, after=cursor, limit=200, wait_seconds=0.3)
        cursor, found = told["cursor"], told["items"]
    return cursor


def test_a_wait_ends_with_the_first_event(world):
    token = token_of(world.owner)

    async def test(app):
        after = await the_end(app, token)
        waiting = asyncio.create_task(
            page(app, token, after=after, wait_seconds=60, types="card.created")
        )
        await asyncio.sleep(0.1)
        assert not waiting.done()
        await in_thread(world.add, "New")
        # Within its patience, which ends long before the wait would.
        status, told = await waiting
        assert status == 200
        assert [one["data"]["title"] for one in told["items"]] == ["New"]

    run(test)


def test_a_wait_without_an_event_ends_in_time_with_the_same_cursor(world):
    token = token_of(world.owner)

    async def test(app):
        after = await the_end(app, token)
        started = monotonic()
        status, told = await page(app, token, after=after, wait_seconds=0.4)
        assert monotonic() - started >= 0.4
        assert (status, told["items"], told["cursor"]) == (200, [], after)
        assert not app.bell.waiters
        assert not app.open

    run(test)


def test_what_is_there_already_is_given_at_once(world):
    token = token_of(world.owner)

    async def test(app):
        await the_end(app, token)
        _status, told = await page(app, token, wait_seconds=60)
        assert told["items"]

    run(test)


def test_a_stream_tells_every_event_once_from_now_on(world):
    token = token_of(world.owner)

    async def test(app):
        await the_end(app, token)
        async with streaming(app, token, types="card.*") as reader:
            for number in range(5):
                await in_thread(world.add, f"No. {number}")
            found = await reader.events(5)
        headers = dict(reader.head["headers"])
        assert headers[b"content-type"] == b"text/event-stream"
        assert headers[b"cache-control"] == b"no-store"
        assert titles(found) == [f"No. {number}" for number in range(5)]

    run(test)


def test_last_event_id_goes_on_where_it_stopped(world):
    token = token_of(world.owner)

    async def test(app):
        await the_end(app, token)
        async with streaming(app, token, types="card.created") as reader:
            await in_thread(world.add_many, 5)
            first = await reader.events(5)
        await in_thread(world.add, "Meanwhile")
        last = first[1][0]
        async with streaming(app, token, last=last, types="card.created") as reader:
            found = await reader.events(4)
        assert titles(found) == [*titles(first)[2:], "Meanwhile"]

    run(test)


def test_one_hears_of_the_boards_that_one_sees_and_no_longer_than_one_does(world):
    other = a_world()
    token = token_of(world.worker)

    async def test(app):
        await the_end(app, token)
        async with streaming(app, token, types="card.created") as reader:
            await in_thread(other.add, "Theirs")
            await in_thread(world.add, "Ours")
            assert titles(await reader.events(1)) == ["Ours"]
            await in_thread(
                edit_board, world.owner, board_id=world.board, default_role=None
            )
            await in_thread(world.add, "Hidden")
            await in_thread(
                edit_board, other.owner, board_id=other.board, default_role=None
            )
            # Long enough for a look.
            await asyncio.sleep(0.3)
            assert await reader.call.receive_nothing(0.2)
        assert "Hidden" not in reader.text

    run(test)


def test_a_revoked_token_hears_nothing_more(world):
    token = token_of(world.owner)

    async def test(app):
        await the_end(app, token)
        async with streaming(app, token, types="card.created") as reader:
            await in_thread(revoke)
            await in_thread(world.add, "Secret")
            part = {"more_body": True}
            while part.get("more_body"):
                part = await reader.call.receive_output(PATIENCE)
                reader.text += part["body"].decode()
        assert "Secret" not in reader.text
        status, told = await page(app, token, wait_seconds=1)
        assert (status, told["code"]) == (401, "unauthenticated")

    def revoke():
        WorkerToken.objects.update(revoked_at="2026-01-01T00:00:00Z")
        credentials.forget_tokens()

    run(test)


@pytest.mark.parametrize(
    ("query", "status", "code"),
    [
        ({"after": "nonsense"}, 400, "bad_cursor"),
        ({"limit": 0}, 422, "invalid"),
        ({"wait_seconds": 61}, 422, "invalid"),
        ({"oops": 1}, 422, "invalid"),
        ({"board_id": "018f0000-0000-7000-8000-000000000000"}, 404, "not_found"),
    ],
)
def test_mistakes_are_told_as_everywhere(world, query, status, code):
    token = token_of(world.owner)

    async def test(app):
        found = await page(app, token, **{"wait_seconds": 1, **query})
        assert (found[0], found[1]["code"]) == (status, code)
        found = await page(app, token, accept="text/event-stream", **query)
        assert (found[0], found[1]["code"]) == (status, code)

    run(test)


def test_more_readers_at_one_time_than_one_may_have_are_told_so(world, monkeypatch):
    monkeypatch.setattr(feed, "MOST_PER_CREDENTIAL", 1)
    token = token_of(world.owner)

    async def test(app):
        async with streaming(app, token):
            call = ask(app, token, wait_seconds=1)
            await call.send_input({"type": "http.request", "body": b""})
            head = await call.receive_output(PATIENCE)
            body = json.loads((await call.receive_output(PATIENCE))["body"])
            await call.wait(PATIENCE)
        assert (head["status"], body["code"]) == (429, "rate_limited")
        assert body["violated-policies"] == ["feeds"]
        told = dict(head["headers"])
        policy = b'"feeds";q=1;qu="concurrent-requests"'
        assert told[b"ratelimit-policy"] == policy
        assert told[b"ratelimit"] == b'"feeds";r=0'
        assert told[b"retry-after"] == b"1"

    run(test)


def test_a_token_without_the_scope_hears_nothing(world):
    token = token_of(world.owner, ["work"])

    async def test(app):
        status, told = await page(app, token, wait_seconds=1)
        assert (status, told["code"]) == (403, "forbidden")

    run(test)


def test_web_answers_at_once_whatever_is_asked(world):
    """A waiting call would hold one of its few threads."""
    headers = {"Authorization": f"Bearer {token_of(world.owner)}"}
    started = monotonic()
    answer = Client(headers=headers).get("/v1/events", {"wait_seconds": "60"})
    assert (answer.status_code, monotonic() - started < PATIENCE) == (200, True)


def test_fifty_who_wait_hold_neither_a_thread_nor_a_connection_each(world, monkeypatch):
    token = token_of(world.owner)

    def sessions():
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT count(*) FROM pg_stat_activity"
                " WHERE datname = current_database()"
            )
            return cursor.fetchone()[0]

    async def test(app):
        await the_end(app, token)
        threads, before = threading.active_count(), await in_thread(sessions)
        readers = []
        for _ in range(50):
            call = ask(app, token, "text/event-stream", types="card.created")
            readers.append(await Reader(call).begin())
        assert threading.active_count() <= threads + 4
        assert await in_thread(sessions) <= before + bell.THREADS + 1
        _, told = await page(app, token, wait_seconds=1)
        assert told["code"] == "rate_limited"
        await in_thread(world.add, "For all")
        for reader in readers:
            assert titles(await reader.events(1)) == ["For all"]
        for reader in readers:
            await reader.end()
        assert not app.bell.waiters
        assert not app.open

    run(test)


def test_nothing_is_missed_or_repeated_while_many_write(world, monkeypatch):
    token = token_of(world.owner)
    monkeypatch.setattr(feed, "ALIVE_SECONDS", 0.5)
    writers, each = 8, 25

    def write():
        for _ in range(each):
            world.add(column=world.done)
        connection.close()

    async def test(app):
        await the_end(app, token)
        async with streaming(app, token, types="card.created", limit=7) as reader:
            await asyncio.gather(*(asyncio.to_thread(write) for _ in range(writers)))
            found = await reader.events(writers * each)
        stored = await in_thread(
            lambda: set(
                Event.objects.filter(type="card.created").values_list("pk", flat=True)
            )
        )
        ids = [event["id"] for _, event in found]
        assert len(ids) == len(set(ids))
        assert set(ids) == {str(one) for one in stored}

    run(test)
