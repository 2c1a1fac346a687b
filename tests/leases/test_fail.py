"""Fail: again behind the backoff, or dead-lettered."""

from datetime import timedelta

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from accounts.errors import Invalid
from boards.models import Card, Event
from leases.contract import MAX_BACKOFF_SECONDS
from leases.errors import LeaseLost
from leases.verbs.complete import complete
from leases.verbs.give_back import fail, release
from leases.verbs.reasons import MAX_REASON_CHARACTERS
from tests.builders import (
    a_world,
    card_row,
    event_types,
    lapse,
    lease_row,
    make_due,
    receipt,
    snapshot,
)


def test_a_failed_card_opens_again_at_once_without_a_backoff(world):
    card = world.add()
    held = world.claim()
    ended = fail(world.worker, **receipt(held), reason="No network")
    assert (ended.lease.state, ended.lease.outcome) == ("failed", "requeued")
    assert (ended.lease.reason, ended.lease.next_due) == ("No network", None)
    assert (ended.card.state, ended.card.attempts) == ("open", 1)
    assert world.claim().card.id == card
    assert event_types(card) == [
        "card.created",
        "card.lease.claimed",
        "card.lease.failed",
        "card.lease.claimed",
    ]


def test_each_attempt_waits_longer_and_the_last_step_repeats(world):
    world.set(max_attempts=10, backoff_seconds=[10, 60, 600])
    card = world.add()
    waits = []
    for _ in range(5):
        ended = fail(world.worker, **receipt(world.claim()))
        waits.append((ended.lease.next_due - ended.server_time).total_seconds())
        assert card_row(card).available_at == ended.lease.next_due
        assert world.ask().reason == "waiting"
        make_due(card)
    assert waits == [10, 60, 600, 600, 600]


def test_the_worker_may_say_when_to_try_again(world):
    world.set(backoff_seconds=[600])
    world.add()
    ended = fail(world.worker, **receipt(world.claim()), retry_after_seconds=5)
    assert ended.lease.next_due - ended.server_time == timedelta(seconds=5)
    make_due(ended.card.id)
    ended = fail(world.worker, **receipt(world.claim()), retry_after_seconds=0)
    assert ended.lease.next_due is None
    assert world.claim()


@pytest.mark.parametrize("seconds", [-1, -0.001, MAX_BACKOFF_SECONDS + 1])
def test_a_wait_out_of_bounds_is_refused(world, seconds):
    world.add()
    held = world.claim()
    with pytest.raises(Invalid):
        fail(world.worker, **receipt(held), retry_after_seconds=seconds)
    assert card_row(held.card.id).state == "claimed"


@pytest.mark.parametrize(
    "attempts", [1, 2, 3, 34, 35, 65, 310, 1_000, 1_000_000, 2**31 - 2]
)
def test_the_backoff_stays_in_bounds_however_many_attempts_there_were(world, attempts):
    """Case 14: elsewhere it overflowed to zero near attempt 35."""
    world.set(backoff_seconds=[1, 2, MAX_BACKOFF_SECONDS], max_attempts=1000)
    card = world.add()
    held = world.claim()
    Card.objects.filter(pk=card).update(attempts=attempts)
    ended = fail(world.worker, **receipt(held))
    if attempts >= 1000:
        assert ended.lease.outcome == "dead_lettered"
        return
    wait = (ended.lease.next_due - ended.server_time).total_seconds()
    assert wait == [1, 2, MAX_BACKOFF_SECONDS][min(attempts, 3) - 1]


@pytest.mark.django_db
@settings(
    max_examples=30,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(steps=st.lists(st.integers(0, MAX_BACKOFF_SECONDS), max_size=6).map(sorted))
def test_the_backoff_never_falls(steps):
    world = a_world(backoff_seconds=steps, max_attempts=9)
    card = world.add()
    waits = []
    for _ in range(8):
        ended = fail(world.worker, **receipt(world.claim()))
        due = ended.lease.next_due
        waits.append((due - ended.server_time).total_seconds() if due else 0)
        make_due(card)
    assert waits == [steps[min(i, len(steps) - 1)] if steps else 0 for i in range(8)]


def test_the_last_attempt_goes_to_the_failure_column(world):
    world.set(max_attempts=2, backoff_seconds=[60])
    there = world.add(column=world.failed)
    card = world.add()
    fail(world.worker, **receipt(world.claim()), reason="First")
    make_due(card)
    ended = fail(world.worker, **receipt(world.claim()), reason="Second")
    assert (ended.lease.state, ended.lease.outcome) == ("failed", "dead_lettered")
    assert (ended.card.state, ended.card.column_id) == ("failed", world.failed)
    assert (ended.card.attempts, ended.lease.next_due) == (2, None)
    assert world.shown(world.failed) == [there, card]
    assert card_row(card).available_at is None
    assert event_types(card)[-2:] == ["card.lease.failed", "card.lease.deadlettered"]
    letter = Event.objects.get(card_id=card, type="card.lease.deadlettered")
    assert letter.data["lease"]["reason"] == "Second"
    assert letter.data["to_column_id"] == str(world.failed)


def test_without_a_failure_column_the_card_fails_in_place(world):
    world.set(max_attempts=1, on_failure_column_id=None)
    card = world.add()
    fail(world.worker, **receipt(world.claim()))
    row = card_row(card)
    assert (row.state, row.column_id) == ("failed", world.queue)
    assert world.ask().reason == "drained"


def test_who_asks_for_no_retry_gets_none(world):
    card = world.add()
    ended = fail(
        world.worker,
        **receipt(world.claim()),
        reason="Impossible",
        requeue=False,
        retry_after_seconds=5,
    )
    assert ended.lease.outcome == "dead_lettered"
    assert (card_row(card).state, card_row(card).attempts) == ("failed", 1)


def test_a_failed_card_is_failed_also_in_a_failure_column_that_is_a_queue(world):
    world.set(max_attempts=1, on_failure_column_id=world.queue)
    card = world.add()
    fail(world.worker, **receipt(world.claim()))
    assert (card_row(card).state, card_row(card).column_id) == ("failed", world.queue)
    assert world.ask().reason == "drained"


def test_the_same_receipt_again_changes_nothing(world):
    world.set(max_attempts=3, backoff_seconds=[60])
    world.add()
    held = world.claim()
    first = fail(world.worker, **receipt(held), reason="First")
    before = snapshot(world)
    again = fail(world.worker, **receipt(held), reason="Second", requeue=False)
    assert again.replayed is True
    assert (again.lease, again.card) == (first.lease, first.card)
    assert snapshot(world) == before


def test_a_lapsed_lease_is_lost_although_nobody_took_it_over(world):
    world.add()
    held = world.claim()
    lapse(held)
    before = snapshot(world)
    with pytest.raises(LeaseLost):
        fail(world.worker, **receipt(held), reason="late")
    assert snapshot(world) == before


@pytest.mark.parametrize("end", [complete, release])
def test_a_lease_that_ended_otherwise_is_lost(world, end):
    world.add()
    held = world.claim()
    end(world.worker, **receipt(held))
    before = snapshot(world)
    with pytest.raises(LeaseLost):
        fail(world.worker, **receipt(held))
    assert snapshot(world) == before


def test_the_receipt_of_another_lease_fails_nothing(world):
    """The check of the receipt belongs to every verb, not only to complete."""
    world.add_many(2)
    mine, other = world.claim(), world.claim()
    before = snapshot(world)
    for token in (other.lease_token, "", "nvml_" + "0" * 43):
        with pytest.raises(LeaseLost):
            fail(world.worker, lease_id=mine.lease.id, lease_token=token)
    assert snapshot(world) == before


def test_a_reason_has_its_limit(world):
    world.add()
    held = world.claim()
    with pytest.raises(Invalid):
        fail(world.worker, **receipt(held), reason="x" * (MAX_REASON_CHARACTERS + 1))
    fail(world.worker, **receipt(held), reason="x" * MAX_REASON_CHARACTERS)
    assert len(lease_row(held.lease.id).reason) == MAX_REASON_CHARACTERS


def test_a_worker_that_dies_at_every_claim_stops_at_the_maximum(world):
    """Case 8: elsewhere attempts were counted at a clean failure only."""
    world.set(max_attempts=3)
    card = world.add()
    leases = []
    for _ in range(3):
        leases.append(world.claim())
        lapse(leases[-1])
    assert world.ask().card is None
    row = card_row(card)
    assert (row.state, row.attempts, row.column_id) == ("failed", 3, world.failed)
    assert [lease_row(one.lease.id).state for one in leases] == ["expired"] * 3
