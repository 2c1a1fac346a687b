"""The socket itself: who may listen, what arrives, and when it is closed."""

import asyncio
import json
from dataclasses import replace
from time import monotonic

import pytest
from asgiref.sync import sync_to_async
from channels.testing import WebsocketCommunicator
from django.conf import settings
from django.contrib.sessions.models import Session
from django.test import Client

from accounts.models import Actor
from accounts.roles import BoardRole, WorkspaceRole
from boards.verbs.boards import edit_board, set_board_member
from boards.verbs.cards import edit_card
from leases import changes
from novum.asgi import application
from novum.web import live
from novum.web.hub import Hub
from novum.web.live import NO_LONGER_MEMBER, NO_SESSION, to_close
from tests.builders import World, a_person, a_world

PATIENCE = 30


@pytest.fixture
def world(transactional_db, monkeypatch) -> World:
    # Each test has an event loop of its own, so it needs a hub of its own.
    monkeypatch.setattr(live, "hub", Hub(to_close))
    return a_world()


def cookie_of(caller):
    client = Client()
    client.force_login(Actor.objects.get(pk=caller.actor_id).user)
    return client.cookies[settings.SESSION_COOKIE_NAME].value


def socket(world, cookie="", since="", origin="http://localhost"):
    headers = [(b"host", b"localhost"), (b"origin", origin.encode())]
    if cookie:
        headers.append((b"cookie", f"sessionid={cookie}".encode()))
    path = f"/live/boards/{world.board}?since={since}"
    return WebsocketCommunicator(application, path, headers)


def run(test):
    asyncio.run(test())


async def opened(*arguments, **options):
    one = socket(*arguments, **options)
    assert (await one.connect(PATIENCE))[0]
    await frame(one)
    return one


async def frame(one, until=lambda frame: True):
    """The first frame of which `until` holds."""
    deadline = monotonic() + PATIENCE
    while monotonic() < deadline:
        found = json.loads(await one.receive_from(PATIENCE))
        if until(found):
            return found
    raise AssertionError("no such frame")


async def code_of(one):
    while True:
        sent = await one.receive_output(PATIENCE)
        if sent["type"] == "websocket.close":
            return sent["code"]


def has_card(card_id):
    return lambda frame: str(card_id) in [one["id"] for one in frame.get("cards", [])]


def test_a_change_arrives(world):
    cookie, since = cookie_of(world.owner), changes.moment().snapshot

    async def test():
        one = await opened(world, cookie, since)
        started = monotonic()
        card = await sync_to_async(world.add)("New")
        found = await frame(one, has_card(card))
        assert "New" in found["cards"][0]["html"]
        assert found["cursor"]
        # Twice what is promised: the machine may be busy.
        assert monotonic() - started < PATIENCE
        await one.disconnect()

    run(test)


def test_what_happened_between_the_page_and_the_socket_comes_first(world):
    cookie, since = cookie_of(world.owner), changes.moment().snapshot
    card = world.add("Between")

    async def test():
        one = socket(world, cookie, since)
        assert (await one.connect(PATIENCE))[0]
        first = json.loads(await one.receive_from(PATIENCE))
        assert has_card(card)(first)
        await one.disconnect()

    run(test)


def test_a_socket_that_was_idle_for_more_than_6_seconds_still_hears(world):
    cookie, since = cookie_of(world.owner), changes.moment().snapshot

    async def test():
        one = await opened(world, cookie, since)
        await asyncio.sleep(6.5)
        card = await sync_to_async(world.add)("Later")
        await frame(one, has_card(card))
        await one.disconnect()

    run(test)


def test_two_pages_get_the_same_frame(world):
    cookie, since = cookie_of(world.owner), changes.moment().snapshot

    async def test():
        pages = [await opened(world, cookie, since) for _ in range(2)]
        card = await sync_to_async(world.add)("Both")
        first, second = [await frame(one, has_card(card)) for one in pages]
        # The later of two looks may be merged into what the slower one gets.
        assert first["cards"] == second["cards"]
        for one in pages:
            await one.disconnect()
        assert live.hub.viewers == {}

    run(test)


def test_without_a_session_it_is_closed_with_4401(world):
    async def test():
        one = socket(world)
        await one.connect(PATIENCE)
        assert await code_of(one) == NO_SESSION

    run(test)


def test_strangers_are_closed_with_4403(world):
    cookie = cookie_of(a_world().owner)

    async def test():
        one = socket(world, cookie)
        await one.connect(PATIENCE)
        assert await code_of(one) == NO_LONGER_MEMBER

    run(test)


def test_a_page_of_another_host_is_refused(world):
    cookie = cookie_of(world.owner)

    async def test():
        one = socket(world, cookie, origin="https://evil.example")
        assert not (await one.connect(PATIENCE))[0]

    run(test)


def closes(world, cookie, change, code):
    async def test():
        one = await opened(world, cookie, changes_since)
        started = monotonic()
        await sync_to_async(change)()
        assert await code_of(one) == code
        assert monotonic() - started < PATIENCE

    changes_since = changes.moment().snapshot
    run(test)


def test_a_removed_member_is_out_within_2_seconds(world):
    member = a_person(world.workspace, WorkspaceRole.MEMBER)
    edit_board(world.owner, board_id=world.board, default_role=None)
    named = {"board_id": world.board, "handle": member.handle}
    set_board_member(world.owner, **named, role=BoardRole.VIEWER)

    def remove():
        set_board_member(world.owner, **named, role=None)

    closes(world, cookie_of(member), remove, NO_LONGER_MEMBER)


def test_who_signs_out_is_out_within_2_seconds(world):
    closes(world, cookie_of(world.owner), Session.objects.all().delete, NO_SESSION)


def test_a_new_password_ends_the_other_sessions_sockets(world):
    user = Actor.objects.select_related("user").get(pk=world.owner.actor_id).user

    def change():
        user.set_password("another one entirely")
        user.save()

    closes(world, cookie_of(world.owner), change, NO_SESSION)


def test_an_error_of_the_database_does_not_end_the_loop(world, monkeypatch):
    cookie, since = cookie_of(world.owner), changes.moment().snapshot
    works, broken = changes.since, []

    def breaks_once(*arguments, **options):
        if not broken:
            broken.append(True)
            raise ConnectionError("the database is away")
        return works(*arguments, **options)

    async def test():
        one = await opened(world, cookie, since)
        monkeypatch.setattr(changes, "since", breaks_once)
        card = await sync_to_async(world.add)("After all")
        await frame(one, has_card(card))
        assert broken
        await one.disconnect()

    run(test)


def test_many_who_come_back_at_once_are_told_by_one_look(world, monkeypatch):
    card = world.add()
    looks = []
    real = changes.since

    def counted(*arguments, **options):
        looks.append(options["boards"])
        return real(*arguments, **options)

    async def test():
        moment = await sync_to_async(changes.moment)()
        await sync_to_async(edit_card)(world.owner, card_id=card, title="Meanwhile")
        cookie = await sync_to_async(cookie_of)(world.owner)
        hub = live.hub
        first = await opened(world, cookie)
        viewer = next(iter(hub.viewers[world.board]))
        got = []

        async def send(text):
            got.append(json.loads(text))

        others = [replace(viewer, send=send) for _ in range(20)]
        for one in others:
            await hub.join(one)
        monkeypatch.setattr(changes, "since", counted)
        await asyncio.gather(*(hub.catch_up(one, moment.snapshot) for one in others))
        told = [frame for frame in got if has_card(card)(frame)]
        for one in others:
            hub.leave(one)
        await first.disconnect()
        assert len(told) == 20
        assert sum(isinstance(boards, list) for boards in looks) == 1

    run(test)
