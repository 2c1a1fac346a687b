"""The activity log: any filter gives what a walk through all events gives, in pages."""

import random
from datetime import timedelta
from fnmatch import fnmatch

import pytest
from django.db import connection
from django.utils.timezone import now

from accounts.errors import NotFound
from accounts.ids import new_id
from accounts.models import Actor
from accounts.pages import BadCursor
from accounts.roles import WorkspaceRole
from boards import activity, events
from boards.activity import ActivityFilter, everything, news
from boards.models import DAILY_EVENTS, Event
from boards.verbs.boards import create_board, edit_board
from boards.verbs.comments import add_comment
from leases.verbs.complete import complete
from leases.verbs.give_back import fail
from tests.builders import a_person, a_world, an_agent, receipt


@pytest.fixture
def busy(world):
    """Events of all sorts by two agents, two people and Novum, on two boards; and of
    another workspace."""
    a_world().add_many(3)
    chance, other = random.Random(7), an_agent(world.workspace)
    member = a_person(world.workspace, WorkspaceRole.MEMBER)
    second = create_board(world.owner, name="Second")
    cards = world.add_many(20)
    for card in cards:
        by = chance.choice([world.worker, other])
        held = world.claim(by)
        (complete if chance.random() < 0.7 else fail)(by, **receipt(held))
        add_comment(chance.choice([world.owner, member]), card_id=card, text="Well")
    Event.objects.create(
        workspace=world.workspace, type=events.CARD_MOVED, board_id=world.board
    )
    world.second, world.member, world.cards = second, member, cards
    return world


def fits(row, wanted, kinds, handles):
    return (
        (not wanted.types or any(fnmatch(row.type, one) for one in wanted.types))
        and (not wanted.kind or kinds.get(row.actor_id) == activity.KINDS[wanted.kind])
        and (not wanted.actor or handles.get(row.actor_id) == wanted.actor)
        and wanted.board_id in (None, row.board_id)
        and wanted.card_id in (None, row.card_id)
    )


def walked(world, wanted):
    """The same by a look at every event."""
    people = Actor.objects.in_bulk()
    kinds = {pk: one.kind for pk, one in people.items()}
    handles = {pk: one.handle for pk, one in people.items()}
    rows = Event.objects.filter(workspace=world.workspace).order_by("-id")
    return [row.pk for row in rows if fits(row, wanted, kinds, handles)]


def read(caller, wanted, limit):
    found, before, pages = [], "", 0
    while before is not None:
        page = activity.activity(caller, wanted, before=before, limit=limit)
        assert len(page.items) <= limit
        found += [row.pk for row in page.items]
        before, pages = page.before, pages + 1
        assert pages < 1000
    return found


@pytest.mark.parametrize("look", [1, 7, 20_000])
def test_every_filter_gives_what_a_walk_through_all_gives(busy, monkeypatch, look):
    monkeypatch.setattr(activity, "LOOK", look)
    monkeypatch.setattr(activity, "GLANCE", 1)
    options = {
        "types": [
            (),
            ("card.commented",),
            ("card.lease.*",),
            ("card.lease.failed", "card.lease.claimed"),
            ("board.*", "column.*"),
            ("nothing.*",),
        ],
        "kind": [None, activity.PEOPLE, activity.AGENTS],
        "actor": [None, busy.worker.handle, busy.member.handle],
        "board_id": [None, busy.board, busy.second],
        "card_id": [None, None, busy.cards[3]],
    }
    chance = random.Random(look)
    for _ in range(60):
        wanted = ActivityFilter(**{k: chance.choice(v) for k, v in options.items()})
        found = read(busy.owner, wanted, chance.choice([1, 4, 200]))
        assert found == walked(busy, wanted), wanted


def test_times_and_what_is_new(busy):
    rows = list(Event.objects.filter(workspace=busy.workspace).order_by("-id"))
    hour = timedelta(hours=1)
    past = ActivityFilter(until=now() - hour)
    assert read(busy.owner, past, 50) == []
    here = ActivityFilter(since=now() - hour, until=now() + hour)
    assert len(read(busy.owner, here, 50)) == len(rows)
    assert read(busy.owner, ActivityFilter(since=now() + hour), 50) == []
    assert read(busy.owner, ActivityFilter(since=now() - 50_000 * 24 * hour), 200)
    assert news(busy.owner, ActivityFilter(), newer_than=rows[3].pk, most=50) == 3
    assert news(busy.owner, ActivityFilter(), newer_than=rows[9].pk, most=5) == 5


def test_what_cannot_be_seen_is_in_no_answer(busy):
    edit_board(busy.owner, board_id=busy.board, default_role=None)
    seen = Event.objects.filter(board_id=busy.second).count()
    for wanted in (
        ActivityFilter(),
        ActivityFilter(kind=activity.PEOPLE),
        ActivityFilter(types=("board.*", "card.commented", "column.*")),
        ActivityFilter(actor=busy.owner.handle),
    ):
        assert 0 < len(read(busy.member, wanted, 3)) <= seen
    for gone in ({"board_id": busy.board}, {"card_id": busy.cards[0]}):
        with pytest.raises(NotFound):
            read(busy.member, ActivityFilter(**gone), 3)
    stranger = a_world()
    for gone in ({"card_id": busy.cards[0]}, {"card_id": new_id()}):
        with pytest.raises(NotFound):
            read(stranger.owner, ActivityFilter(**gone), 3)
    assert read(stranger.owner, ActivityFilter(actor=busy.owner.handle), 3) == []
    with pytest.raises(BadCursor):
        activity.activity(busy.owner, ActivityFilter(), before="x", limit=3)


def test_an_export_goes_through_all_of_it_in_batches(busy):
    batches = list(everything(busy.owner, ActivityFilter(), batch=10))
    assert max(map(len, batches)) == 10
    assert [row.pk for one in batches for row in one] == walked(busy, ActivityFilter())


def test_every_type_of_event_is_one_that_a_pattern_can_mean():
    constants = {
        value
        for name, value in vars(events).items()
        if name.isupper() and isinstance(value, str) and name != "EVENT_COLUMNS"
    }
    assert constants == set(events.TYPES)
    assert len(events.TYPES) == len(constants)
    assert set(DAILY_EVENTS) <= constants


PLANS = {
    "event_of_board": ({}, ("card.lease.claimed",)),
    "event_of_actor": ({"kind": activity.PEOPLE}, ()),
    "event_rare": ({}, ("card.archived", "board.*")),
}


MANY = """
INSERT INTO boards_event (id, workspace_id, transaction, type, actor_id, board_id, data,
  created_at)
SELECT gen_random_uuid(), %s, 1, 'card.lease.claimed', gen_random_uuid(), gen_random_uuid(), '{}',
  now() FROM generate_series(1, 20000)
"""


@pytest.mark.parametrize("index", PLANS)
def test_each_start_is_by_its_index(busy, index, monkeypatch):
    more, types = PLANS[index]
    with connection.cursor() as cursor:
        cursor.execute(MANY, [busy.workspace.pk])
        cursor.execute("ANALYZE boards_event")
    plans = []
    looked = activity._look

    def explained(start, conditions, values):
        with connection.cursor() as cursor:
            execute = cursor.execute

            class Explaining:
                def __enter__(self):
                    return self

                def __exit__(self, *_):
                    return False

                def execute(self, statement, parameters):
                    execute("EXPLAIN " + statement, parameters)
                    plans.append("\n".join(row[0] for row in cursor.fetchall()))
                    execute(statement, parameters)

                def fetchall(self):
                    return cursor.fetchall()

            with monkeypatch.context() as patched:
                patched.setattr(connection, "cursor", Explaining)
                return looked(start, conditions, values)

    monkeypatch.setattr(activity, "_look", explained)
    wanted = ActivityFilter(types=types, **more)
    activity.activity(busy.owner, wanted, limit=10)
    assert index in plans[0]
    assert "Seq Scan on boards_event" not in plans[0]
