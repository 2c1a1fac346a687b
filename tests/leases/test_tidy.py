"""Tidy: lapsed leases end, waiting cards come due; with and without the reaper."""

import pytest

from boards.models import Card, ClockTimestamp, Event
from leases.models import Lease, Slot
from leases.verbs.reap import reap
from leases.verbs.tidy import BATCH, dead_letter_exhausted, tidy, untidy_columns
from tests.builders import (
    A_SECOND,
    a_world,
    card_row,
    event_types,
    lapse,
    lease_row,
    make_due,
    snapshot,
)


def lapse_all(world):
    Lease.objects.filter(column_id=world.queue, state="active").update(
        expires_at=ClockTimestamp() - A_SECOND
    )


def test_a_lapsed_lease_ends_as_expired_and_the_card_is_open_without_a_backoff(world):
    world.set(backoff_seconds=[600])
    card = world.add()
    held = world.claim()
    lapse(held)
    assert tidy(world.queue) == 1
    lease = lease_row(held.lease.id)
    assert (lease.state, lease.outcome, lease.reason) == (
        "expired",
        "requeued",
        "lease_expired",
    )
    assert (lease.ended_at > lease.expires_at, lease.next_due) == (True, None)
    row = card_row(card)
    assert (row.state, row.attempts, row.available_at) == ("open", 1, None)
    event = Event.objects.get(card_id=card, type="card.lease.expired")
    assert (event.actor_id, event.token_id) == (None, None)
    assert event.data["lease"]["holder"] == world.worker.handle


def test_the_last_attempt_is_dead_lettered(world):
    world.set(max_attempts=1)
    card = world.add()
    lapse(world.claim())
    tidy(world.queue)
    row = card_row(card)
    assert (row.state, row.column_id) == ("failed", world.failed)
    assert event_types(card)[-2:] == ["card.lease.expired", "card.lease.deadlettered"]


def test_a_lease_in_force_and_one_without_end_are_left_alone(world):
    world.set(lease_ttl_seconds=None)
    world.add_many(2)
    world.claim(world.owner)
    world.claim(world.worker)
    before = snapshot(world)
    assert tidy(world.queue) == 0
    assert snapshot(world) == before


def test_its_place_is_free_again(world):
    world.set(concurrency_limit=1)
    world.add()
    lapse(world.claim())
    tidy(world.queue)
    assert Slot.objects.get(column_id=world.queue).lease_id is None


def test_a_due_card_is_opened_in_silence(world):
    world.add()
    card = world.fail_card(retry_after_seconds=600)
    make_due(card)
    before = card_row(card)
    assert tidy(world.queue) == 1
    after = card_row(card)
    assert after.available_at is None
    assert (after.version, after.sequence) == (before.version, before.sequence)


def test_one_batch_and_one_more(world):
    """Elsewhere the rescuer stopped after a full batch."""
    world.set(max_attempts=2)
    for _ in range(3):
        world.add_many(50)
        assert len(world.ask(count=50).claims) == 50
    lapse_all(world)
    assert tidy(world.queue) == BATCH
    assert tidy(world.queue) == 50
    assert tidy(world.queue) == 0
    assert Lease.objects.filter(column_id=world.queue, state="expired").count() == 150


def test_more_lapsed_leases_than_a_batch_do_not_disturb_the_order(world):
    for _ in range(3):
        world.add_many(50)
    last = world.add(priority=1)
    for _ in range(4):
        world.ask(count=50)
    lapse_all(world)
    assert world.claim().card.id == last
    assert world.claim_all() == world.shown()[1:]


def test_more_due_cards_than_a_batch_do_not_disturb_the_order(world):
    for _ in range(3):
        world.add_many(50)
    Card.objects.filter(column_id=world.queue).update(
        available_at=ClockTimestamp() - A_SECOND
    )
    last = world.add(priority=1)
    make_due(last)
    assert world.claim().card.id == last


def test_leases_of_a_disabled_queue_lapse_too(world):
    card = world.add()
    held = world.claim()
    world.set(enabled=False, force=True)
    assert lease_row(held.lease.id).state == "revoked"
    assert card_row(card).state == ""


def test_the_reaper_tidies_every_column_and_only_where_something_is_overdue(world):
    other, quiet = a_world(), a_world()
    for one in (world, other, quiet):
        one.add()
    lapse(world.claim())
    lapse(other.claim())
    held = quiet.claim()
    assert set(untidy_columns()) == {world.queue, other.queue}
    assert reap() == 2
    assert reap() == 0
    assert lease_row(held.lease.id).state == "active"
    assert untidy_columns() == []


def test_the_reaper_goes_through_more_than_one_batch(world):
    for _ in range(3):
        world.add_many(50)
        world.ask(count=50)
    lapse_all(world)
    assert reap() == 150


def test_the_reaper_judges_what_nobody_asked_for(world):
    world.set(input_schema={"required": ["nothing"]})
    card = world.add()
    assert reap() == 1
    assert card_row(card).fits is False


def test_with_the_reaper_off_claims_and_answers_are_right_all_the_same(world):
    card = world.add()
    held = world.claim()
    lapse(held)
    assert world.claim().card.id == card


@pytest.mark.parametrize("column", ["failed", None])
def test_exhausted_open_cards_are_dead_lettered_where_the_contract_says(world, column):
    target = getattr(world, column) if column else None
    world.set(max_attempts=5, on_failure_column_id=target)
    world.add()
    card = world.fail_card()
    world.set(max_attempts=1)
    row = card_row(card)
    assert (row.state, row.column_id) == ("failed", target or world.queue)
    assert dead_letter_exhausted(world.queue) == 0
    event = Event.objects.get(card_id=card, type="card.lease.deadlettered")
    assert event.data == {"reason": "attempts_exhausted", "attempts": 1}
    assert event.sequence == row.sequence
