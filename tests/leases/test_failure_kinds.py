"""The kinds of failure: retry, a wait for a quota, fatal."""

from datetime import UTC, datetime, timedelta

import pytest

from accounts.errors import Invalid
from boards.models import Card, ClockTimestamp, Event
from leases.contract import MAX_WAITING_SECONDS, MAX_WAITS
from leases.verbs.complete import complete
from leases.verbs.give_back import fail
from leases.verbs.requeue import requeue
from tests.builders import card_row, lease_row, make_due, receipt, snapshot
from tests.invariants import assert_sound


def soon(minutes=30):
    return datetime.now(UTC) + timedelta(minutes=minutes)


def wait(world, **more):
    """Claim the only card and let it wait; its lease."""
    held = world.claim()
    fail(
        world.worker,
        **receipt(held),
        kind="wait_until",
        **({"until": soon()} | more),
    )
    return lease_row(held.lease.id)


def test_a_wait_costs_no_attempt_and_ends_in_time(world):
    world.set(backoff_seconds=[5], max_attempts=1)
    card, until = world.add(), soon()
    lease = wait(world, until=until, reason="Quota")
    row = card_row(card)
    assert (row.state, row.attempts, row.available_at, row.waits) == (
        "open",
        0,
        until,
        1,
    )
    assert (lease.state, lease.outcome, lease.failure, lease.next_due) == (
        "failed",
        "requeued",
        "wait_until",
        until,
    )
    last = Event.objects.filter(card_id=card).order_by("-sequence")[0]
    assert (last.type, last.data["lease"]["failure"]) == (
        "card.lease.failed",
        "wait_until",
    )
    assert world.ask().reason == "waiting"
    make_due(card)
    held = world.claim()
    assert held.lease.attempt == 1
    assert held.card.previous_attempts[0].reason == "Quota"
    assert_sound(world.workspace.pk)


def test_until_may_be_said_in_seconds_or_be_over(world):
    card = world.add()
    held = world.claim()
    ended = fail(
        world.worker, **receipt(held), kind="wait_until", retry_after_seconds=60
    )
    assert ended.lease.next_due - ended.lease.ended_at == timedelta(seconds=60)
    make_due(card)
    wait(world, until=soon(-5))
    assert card_row(card).available_at is None
    assert world.claim().lease.attempt == 1


def test_the_twenty_first_wait_counts_as_a_retry_at_the_same_time(world):
    world.set(backoff_seconds=[5])
    card = world.add()
    for number in range(1, MAX_WAITS + 1):
        assert wait(world).failure == "wait_until"
        assert (card_row(card).waits, card_row(card).attempts) == (number, 0)
        make_due(card)
    until = soon()
    lease = wait(world, until=until)
    row = card_row(card)
    assert (lease.failure, row.waits, row.attempts) == ("retry", MAX_WAITS, 1)
    assert row.available_at == until


def test_six_hours_after_the_first_wait_it_counts_as_a_retry(world):
    world.set(max_attempts=1)
    card = world.add()
    wait(world)
    make_due(card)
    Card.objects.filter(pk=card).update(
        waits_since=ClockTimestamp() - timedelta(seconds=MAX_WAITING_SECONDS)
    )
    lease = wait(world)
    assert (lease.failure, lease.outcome) == ("retry", "dead_lettered")
    assert card_row(card).state == "failed"
    assert_sound(world.workspace.pk)


def test_another_round_and_another_queue_begin_to_count_anew(world):
    card = world.add()
    wait(world)
    make_due(card)
    held = world.claim()
    fail(world.worker, **receipt(held), kind="fatal")
    requeue(world.owner, card_id=card)
    assert (card_row(card).waits, card_row(card).waits_since) == (0, None)
    wait(world)
    make_due(card)
    world.set(on_success_column_id=world.queue)
    held = world.claim()
    complete(world.worker, **receipt(held))
    assert (card_row(card).waits, card_row(card).waits_since) == (0, None)


def test_fatal_is_a_dead_letter_with_attempts_left(world):
    for more in ({"kind": "fatal"}, {"requeue": False}):
        card = world.add()
        held = world.claim()
        ended = fail(world.worker, **receipt(held), **more)
        assert (ended.lease.failure, ended.lease.outcome) == ("fatal", "dead_lettered")
        assert card_row(card).state == "failed"


def test_a_retry_is_what_a_failure_is(world):
    world.add()
    held = world.claim()
    assert fail(world.worker, **receipt(held)).lease.failure == "retry"
    held = world.claim()
    ended = fail(world.worker, **receipt(held), kind="retry", retry_after_seconds=9)
    assert ended.lease.failure == "retry"
    assert lease_row(held.lease.id).attempt == 2


@pytest.mark.parametrize(
    ("given", "pointer"),
    [
        ({"kind": "wait_until"}, "/until"),
        ({"kind": "wait_until", "until": soon(), "retry_after_seconds": 1}, "/until"),
        ({"kind": "wait_until", "until": soon(60 * 24 * 8)}, "/until"),
        ({"kind": "retry", "until": soon()}, "/until"),
        ({"until": soon()}, "/until"),
        ({"kind": "retry", "requeue": False}, "/requeue"),
        ({"kind": "never"}, "/kind"),
    ],
)
def test_what_contradicts_itself_is_refused(world, given, pointer):
    world.add()
    held = world.claim()
    before = snapshot(world)
    with pytest.raises(Invalid) as refused:
        fail(world.worker, **receipt(held), **given)
    assert refused.value.errors[0].pointer == pointer
    assert snapshot(world) == before
