"""Release: back untouched, the attempt not counted."""

import pytest

from accounts.errors import Invalid
from leases.errors import LeaseLost
from leases.verbs.complete import complete
from leases.verbs.give_back import fail, release
from leases.verbs.reasons import MAX_REASON_CHARACTERS
from tests.builders import card_row, event_types, lapse, receipt, snapshot


def test_a_released_card_is_open_at_once_and_the_attempt_does_not_count(world):
    world.set(backoff_seconds=[600])
    card = world.add()
    ended = release(world.worker, **receipt(world.claim()), note="Needs a login")
    assert (ended.lease.state, ended.lease.outcome) == ("released", "requeued")
    assert ended.lease.note == "Needs a login"
    assert (ended.card.state, ended.card.attempts) == ("open", 0)
    assert card_row(card).available_at is None
    held = world.claim()
    assert (held.card.id, held.lease.attempt) == (card, 1)
    assert event_types(card)[2] == "card.lease.released"


def test_a_card_may_be_released_more_often_than_it_may_be_tried(world):
    world.set(max_attempts=1)
    world.add()
    for _ in range(4):
        held = world.claim()
        assert held.lease.attempt == 1
        release(world.worker, **receipt(held))
    fail(world.worker, **receipt(world.claim()))
    assert world.ask().card is None


def test_earlier_attempts_still_count(world):
    world.add()
    fail(world.worker, **receipt(world.claim()))
    release(world.worker, **receipt(world.claim()))
    assert world.claim().lease.attempt == 2


def test_the_same_receipt_again_changes_nothing(world):
    world.add()
    held = world.claim()
    first = release(world.worker, **receipt(held), note="One")
    before = snapshot(world)
    again = release(world.worker, **receipt(held), note="Two")
    assert (again.replayed, again.lease) == (True, first.lease)
    assert snapshot(world) == before


def test_a_lapsed_lease_is_lost(world):
    world.add()
    held = world.claim()
    lapse(held)
    before = snapshot(world)
    with pytest.raises(LeaseLost):
        release(world.worker, **receipt(held))
    assert snapshot(world) == before


def test_a_lease_that_ended_otherwise_is_lost(world):
    world.add()
    held = world.claim()
    complete(world.worker, **receipt(held))
    with pytest.raises(LeaseLost):
        release(world.worker, **receipt(held))


def test_the_receipt_of_another_lease_releases_nothing(world):
    world.add_many(2)
    mine, other = world.claim(), world.claim()
    with pytest.raises(LeaseLost):
        release(world.worker, lease_id=mine.lease.id, lease_token=other.lease_token)
    assert card_row(mine.card.id).state == "claimed"


def test_a_note_has_its_limit(world):
    world.add()
    held = world.claim()
    with pytest.raises(Invalid):
        release(world.worker, **receipt(held), note="x" * (MAX_REASON_CHARACTERS + 1))
    release(world.worker, **receipt(held), note="x" * MAX_REASON_CHARACTERS)
