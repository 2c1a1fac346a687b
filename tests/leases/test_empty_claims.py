"""Nothing to claim: the answer says why, and when to ask again where that is known."""

import pytest

from boards.models import Card
from tests.builders import a_world, lapse


def test_an_empty_queue_is_drained(world):
    found = world.ask()
    assert (found.lease, found.lease_token, found.card) == (None, None, None)
    assert (found.reason, found.retry_after_seconds) == ("drained", None)
    assert found.server_time


def test_a_queue_with_leased_cards_only_is_drained(world):
    world.add()
    world.claim()
    assert world.ask().reason == "drained"


def test_waiting_cards_say_when_the_first_of_them_is_due(world):
    for seconds in (900, 60, 600):
        world.add()
        world.fail_card(retry_after_seconds=seconds)
    found = world.ask()
    assert found.reason == "waiting"
    assert found.retry_after_seconds == pytest.approx(60, abs=5)


def test_a_full_queue_is_at_capacity(world):
    world.set(concurrency_limit=1)
    world.add_many(2)
    world.claim()
    found = world.ask()
    assert (found.reason, found.card) == ("at_capacity", None)


def test_a_lapsed_lease_does_not_fill_a_place(world):
    world.set(concurrency_limit=1)
    world.add_many(2)
    lapse(world.claim())
    assert world.claim().lease.attempt == 2


def test_a_paused_queue_gives_nothing_and_goes_on_where_it_stopped(world):
    card = world.add()
    world.set(paused=True, pause_reason="Budget")
    found = world.ask()
    assert (found.reason, found.card) == ("paused", None)
    world.set(paused=False)
    assert world.claim().card.id == card


def test_pausing_leaves_leases_alone(world):
    world.add()
    lapse(world.claim())
    world.set(paused=True)
    assert world.ask().reason == "paused"


def test_cards_for_others_only_are_as_good_as_none(world):
    world.add(assignee=world.owner.handle)
    assert world.ask().reason == "drained"


def test_an_empty_answer_changes_nothing(world):
    world.add(assignee=world.owner.handle)
    before = list(Card.objects.values())
    for _ in range(3):
        world.ask()
    assert list(Card.objects.values()) == before


@pytest.mark.parametrize("count", [None, 5])
def test_reasons_are_the_same_for_one_and_for_many(db, count):
    world = a_world(concurrency_limit=1)
    assert world.ask(count=count).reason == "drained"
    world.add()
    world.fail_card(retry_after_seconds=60)
    assert world.ask(count=count).reason == "waiting"
    world.add()
    world.claim()
    assert world.ask(count=count).reason == "at_capacity"
    world.set(paused=True)
    assert world.ask(count=count).reason == "paused"
