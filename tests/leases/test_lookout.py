"""How often PostgreSQL is asked for all who wait: by a clock that the test turns."""

from itertools import pairwise
from time import monotonic

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from boards.models import Card, ClockTimestamp
from boards.nudges import Nudge
from leases import lookout
from leases.lookout import Lookout, Waiter, Wanted
from leases.openings import MOST_CARDS
from tests.builders import A_SECOND, a_world

WAITERS = 1_000


@pytest.fixture
def world(transactional_db, monkeypatch):
    # They take the test's connection with them.
    monkeypatch.setattr(lookout, "close_old_connections", lambda: None)
    return a_world()


def a_lookout(world, woken, waiters=WAITERS):
    """Without its thread: the test looks."""
    watching = Lookout(_thread=object())
    places = ((world.board, world.queue),)
    wanted = Wanted(world.workspace.pk, world.worker.actor_id, places)
    for number in range(waiters):
        watching.join(Waiter(wanted, lambda number=number: woken.append(number)))
    return watching


def looks(watching, seconds):
    """What is asked in so much time, and when."""
    now = monotonic()
    until, moments, statements = now + seconds, [], 0
    while (now := max(now, watching._next_at())) < until:
        watching._rung.clear()
        with CaptureQueriesContext(connection) as caught:
            watching.look(now)
        moments.append(now)
        statements += len(caught)
    return moments, statements


def test_a_thousand_who_wait_for_nothing_cost_a_statement_every_two_seconds(world):
    watching = a_lookout(world, woken := [])
    moments, statements = looks(watching, 120)
    assert statements == len(moments) <= 120 / 1.5
    assert max(b - a for a, b in pairwise(moments)) <= 2
    assert woken == []


def test_a_card_that_appears_costs_one_statement_and_wakes_one(world):
    watching = a_lookout(world, woken := [])
    looks(watching, 1)
    card = world.add("New")
    assert not watching._rung.is_set()
    watching.heard([Nudge(world.workspace.pk, world.board, card)])
    assert watching._rung.is_set()
    with CaptureQueriesContext(connection) as caught:
        watching.look(monotonic())
    assert len(caught) == 1
    assert woken == [0]


def test_a_card_that_is_claimed_while_it_looks_wakes_nobody_else(world, monkeypatch):
    watching = a_lookout(world, woken := [])
    looks(watching, 1)
    card = world.add("New")
    watching.heard([Nudge(world.workspace.pk, world.board, card)])
    watching.look(monotonic())
    (first,) = (one for one in watching._queues[world.queue].waiters if one.at)
    read = lookout.openings

    def read_before_the_claim(*given, **more):
        seen = read(*given, **more)
        watching.leave(first, has_claimed=True)
        return seen

    monkeypatch.setattr(lookout, "openings", read_before_the_claim)
    watching.heard([Nudge(world.workspace.pk, world.board, card)])
    watching.look(monotonic())
    assert woken == [0]
    # The next look reads it as it is, and it may have come back.
    monkeypatch.setattr(lookout, "openings", read)
    watching.heard([Nudge(world.workspace.pk, world.board, card)])
    watching.look(monotonic())
    assert woken == [0, 1]


def test_what_is_said_of_other_boards_and_of_what_brings_nothing_costs_nothing(world):
    watching = a_lookout(world, [], waiters=1)
    moments, _ = looks(watching, 1)
    other = a_world()
    watching.heard([Nudge(other.workspace.pk, other.board), Nudge(world.workspace.pk)])
    assert not watching._rung.is_set()
    with CaptureQueriesContext(connection) as caught:
        watching.look(moments[-1])
    assert len(caught) == 0


def test_without_a_nudge_a_card_is_found_within_two_seconds(world):
    watching = a_lookout(world, woken := [])
    looks(watching, 1)
    world.add("New")
    looks(watching, 2)
    assert woken == [0]


def test_a_nudge_that_says_anything_makes_it_look_everywhere(world):
    watching = a_lookout(world, woken := [])
    looks(watching, 1)
    world.add("New")
    watching.heard(None)
    looks(watching, 0.5)
    assert woken == [0]


def test_the_moment_at_which_a_card_is_due_is_known_and_looked_at(world, monkeypatch):
    monkeypatch.setattr(lookout, "SAFETY_SECONDS", 100.0)
    card = world.add("Later")
    due = ClockTimestamp() + 50 * A_SECOND
    Card.objects.filter(pk=card).update(available_at=due)
    watching = a_lookout(world, [], waiters=1)
    began = monotonic()
    watching.look(began)
    # Nothing will say so.
    assert watching._next_at() <= began + 50.0 < began + lookout.SAFETY_SECONDS
    assert watching._to_look_at(watching._next_at(), everywhere=False)[0]


def test_a_card_behind_a_hundred_others_is_found_by_what_happened(world):
    """One who waits for a label, where the first hundred don't have it."""
    world.add_many(MOST_CARDS + 1)
    watching, woken = Lookout(_thread=object()), []
    wanted = Wanted(
        world.workspace.pk,
        world.worker.actor_id,
        ((world.board, world.queue),),
        labels=frozenset({"red"}),
    )
    watching.join(Waiter(wanted, lambda: woken.append(1)))
    looks(watching, 1)
    world.add("Red", labels=["red"])
    looks(watching, 2)
    assert woken == [1]
