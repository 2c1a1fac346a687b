"""A person's socket: what it tells, whom it doesn't, and when it is closed."""

import asyncio
import json
from time import monotonic

import pytest
from channels.db import database_sync_to_async
from channels.testing import WebsocketCommunicator
from django.conf import settings
from django.contrib.sessions.models import Session
from django.test import Client

from accounts.models import Actor
from accounts.roles import WorkspaceRole
from boards.verbs.boards import edit_board
from leases import changes
from novum.asgi import application
from novum.web import inbox_live
from novum.web.live import NO_SESSION
from tasks_people.verbs.create import create
from tasks_people.verbs.hold import complete
from tasks_people.verbs.messages import mark_read
from tasks_people.verbs.people import start
from tests.builders import World, a_person, a_world

PATIENCE = 30


@pytest.fixture
def world(transactional_db, monkeypatch) -> World:
    # Each test has an event loop of its own, so it needs a herald of its own.
    monkeypatch.setattr(inbox_live, "herald", inbox_live.Herald())
    return a_world()


def cookie_of(caller):
    client = Client()
    client.force_login(Actor.objects.get(pk=caller.actor_id).user)
    return client.cookies[settings.SESSION_COOKIE_NAME].value


def socket(cookie="", since="", origin="http://localhost"):
    headers = [(b"host", b"localhost"), (b"origin", origin.encode())]
    if cookie:
        headers.append((b"cookie", f"sessionid={cookie}".encode()))
    path = f"/live/me?since={since}"
    return WebsocketCommunicator(application, path, headers)


async def opened(caller, since=""):
    one = socket(await database_sync_to_async(cookie_of)(caller), since)
    assert (await one.connect(PATIENCE))[0]
    return one, json.loads(await one.receive_from(PATIENCE))


async def news(one, until):
    """The first news of which `until` holds, and all card ids up to it."""
    deadline = monotonic() + PATIENCE
    seen = set()
    while monotonic() < deadline:
        found = json.loads(await one.receive_from(PATIENCE))
        seen |= set(found.get("cards", []))
        if until(found):
            return seen
    raise AssertionError("no such news")


async def code_of(one):
    while True:
        sent = await one.receive_output(PATIENCE)
        if sent["type"] == "websocket.close":
            return sent["code"]


def names(card_id):
    return lambda found: str(card_id) in found.get("cards", [])


def run(test):
    asyncio.run(test())


def test_changes_and_the_count_of_messages_are_told(world):
    ben = a_person(world.workspace, WorkspaceRole.MEMBER)

    @database_sync_to_async
    def a_round():
        made = create(world.owner, queue="people", title="Call")
        start(ben, task_id=made)
        complete(ben, task_id=made)

    async def test():
        one, first = await opened(world.owner)
        assert first["unread"] == 0
        await a_round()
        await news(one, lambda found: found.get("unread") == 1)
        await database_sync_to_async(mark_read)(world.owner)
        await news(one, lambda found: found.get("unread") == 0)
        await one.disconnect()

    run(test)


def test_what_changed_since_the_page_was_read_is_told_first(world):
    moment = changes.moment()
    made = world.add()

    async def test():
        one, first = await opened(world.owner, moment.snapshot)
        assert first["cards"] == [str(made)]
        await one.disconnect()
        one, first = await opened(world.owner, "nonsense")
        assert first["many"]
        await one.disconnect()

    run(test)


def test_nobody_hears_of_boards_that_they_do_not_see(world):
    member = a_person(world.workspace, WorkspaceRole.MEMBER)
    edit_board(world.owner, board_id=world.board, default_role=None)
    other = a_world()

    async def test():
        ours, _ = await opened(world.owner)
        theirs, _ = await opened(member)
        strangers, _ = await opened(other.owner)
        hidden = await database_sync_to_async(world.add)()
        await news(ours, names(hidden))
        open_one = await database_sync_to_async(create)(
            world.owner, queue="people", title="For all"
        )
        # The board of the queue is new to the member: all is to be read anew.
        seen = await news(theirs, lambda found: found.get("many"))
        assert str(hidden) not in seen
        again = await database_sync_to_async(create)(
            world.owner, queue="people", title="For all"
        )
        seen = await news(theirs, names(again))
        assert str(hidden) not in seen
        elsewhere = await database_sync_to_async(other.add)()
        seen = await news(strangers, names(elsewhere))
        assert not seen & {str(hidden), str(open_one), str(again)}
        for one in (ours, theirs, strangers):
            await one.disconnect()

    run(test)


def test_it_is_closed_without_a_session_and_with_its_end(world):
    async def test():
        stranger = socket()
        await stranger.connect(PATIENCE)
        assert await code_of(stranger) == NO_SESSION
        one, _ = await opened(world.owner)
        await database_sync_to_async(Session.objects.all().delete)()
        assert await code_of(one) == NO_SESSION

    run(test)


def test_pages_of_other_hosts_get_none(world):
    async def test():
        cookie = await database_sync_to_async(cookie_of)(world.owner)
        one = socket(cookie, origin="https://elsewhere.example")
        assert not (await one.connect(PATIENCE))[0]

    run(test)
