"""Claiming several cards in one call."""

import pytest

from accounts.errors import Invalid
from leases.contract import MAX_CLAIM_COUNT
from leases.models import Lease
from leases.verbs.complete import complete
from tests.builders import event_types, lapse, receipt


def test_count_brings_as_many_cards_as_there_are(world):
    cards = world.add_many(3)
    assert [one.card.id for one in world.ask(count=2).claims] == cards[:2]
    assert [one.card.id for one in world.ask(count=2).claims] == cards[2:]
    empty = world.ask(count=2)
    assert (empty.claims, empty.reason) == ([], "drained")


def test_the_form_of_the_answer_follows_the_question(world):
    world.add_many(2)
    one, many = world.ask(), world.ask(count=1)
    assert (bool(one.card), bool(one.claims)) == (True, False)
    assert (bool(many.card), len(many.claims)) == (False, 1)


@pytest.mark.parametrize("count", [0, -1, MAX_CLAIM_COUNT + 1])
def test_a_count_out_of_bounds_is_refused(world, count):
    world.add()
    with pytest.raises(Invalid):
        world.ask(count=count)
    assert not Lease.objects.filter(board_id=world.board).exists()


def test_each_card_has_its_own_lease_receipt_and_event(world):
    cards = world.add_many(50)
    got = world.ask(count=50).claims
    assert len({one.lease_token for one in got}) == 50
    assert len({one.lease.id for one in got}) == 50
    assert {one.lease.card_id for one in got} == set(cards)
    assert all(one.lease.card_id == one.card.id for one in got)
    assert event_types(cards[49]) == ["card.created", "card.lease.claimed"]
    for one in got[:3]:
        complete(world.worker, **receipt(one))


def test_count_takes_no_more_than_the_limit_leaves(world):
    world.set(concurrency_limit=3)
    world.add_many(10)
    assert len(world.ask(count=2).claims) == 2
    assert len(world.ask(count=5).claims) == 1
    full = world.ask(count=5)
    assert (full.claims, full.reason) == ([], "at_capacity")


def test_count_takes_no_more_than_the_limit_leaves_when_cards_are_mine(world):
    world.set(concurrency_limit=3)
    world.add_many(5, assignee=world.worker.handle)
    world.add_many(5)
    assert len(world.ask(count=9).claims) == 3
    assert world.ask(count=9).reason == "at_capacity"


def test_count_supersedes_lapsed_leases_too(world):
    world.add_many(6)
    for held in world.ask(count=6).claims:
        lapse(held)
    assert [one.lease.attempt for one in world.ask(count=9).claims] == [2] * 6


def test_slots_of_a_call_for_many_are_free_again_one_by_one(world):
    world.set(concurrency_limit=4)
    world.add_many(10)
    got = world.ask(count=4).claims
    complete(world.worker, **receipt(got[2]))
    assert len(world.ask(count=4).claims) == 1
