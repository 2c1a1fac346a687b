"""Calling a card off: at once when nobody holds it, else its holder hears of it first."""

from datetime import timedelta

import pytest

from accounts.errors import Forbidden, NotFound
from accounts.roles import BoardRole, WorkspaceRole
from boards.models import Card, ClockTimestamp, Event
from boards.verbs.boards import edit_board
from boards.verbs.cards import archive_card
from boards.verbs.moving import move_card
from leases.errors import LeaseLost, NotCancellable
from leases.models import Lease, Slot
from leases.verbs.cancel import GRACE, request_cancel
from leases.verbs.claim import claim
from leases.verbs.complete import complete
from leases.verbs.give_back import fail, release
from leases.verbs.reap import reap
from leases.verbs.renew import renew, renew_many
from leases.verbs.requeue import requeue
from leases.verbs.revoke import free, revoke, stop_agent
from tests.builders import (
    a_person,
    a_world,
    card_row,
    event_types,
    lapse,
    lease_row,
    receipt,
    snapshot,
)
from tests.invariants import assert_sound


def cancel(world, card, by=None, **more):
    return request_cancel(by or world.owner, card_id=card, **more)


@pytest.fixture
def held(world):
    """A held card of a queue with a limit, and two attempts behind it."""
    world.set(concurrency_limit=2)
    world.add()
    world.fail_card()
    return world.claim()


def has_ended_as_cancelled(world, held):
    card, lease = card_row(held.card.id), lease_row(held.lease.id)
    assert (card.state, card.column_id, card.attempts) == ("failed", world.queue, 1)
    assert card.cancelled_at
    assert (lease.state, lease.outcome) == ("revoked", "cancelled")
    assert not Slot.objects.exclude(lease_id=None).exists()
    assert event_types(card.pk)[-3:] == [
        "card.cancel_requested",
        "card.lease.revoked",
        "card.cancelled",
    ]
    last = Event.objects.filter(card_id=card.pk).order_by("-sequence")[0]
    assert (last.data["reason"], last.data["by"]) == ("Too late", world.owner.handle)
    assert last.actor_id == world.owner.actor_id
    assert_sound(world.workspace.pk)


@pytest.mark.parametrize("waits", [False, True])
def test_an_open_card_ends_at_once(world, waits):
    later = {"not_before": card_row(world.add()).created_at + timedelta(days=1)}
    card = world.add(**(later if waits else {}))
    done = cancel(world, card, reason="Too late")
    assert (done.cancelled, done.cancel_requested) == (True, False)
    row = card_row(card)
    assert (row.state, row.available_at, row.column_id) == ("failed", None, world.queue)
    assert row.cancelled_at
    last = Event.objects.filter(card_id=card).order_by("-sequence")[0]
    assert last.type == "card.cancelled"
    assert last.data == {"reason": "Too late", "by": world.owner.handle}
    assert world.claim().card.id != card
    assert_sound(world.workspace.pk)


def test_twice_is_once(world):
    card = world.add()
    cancel(world, card)
    before = snapshot(world)
    assert cancel(world, card).cancelled
    assert snapshot(world) == before


def test_what_has_ended_or_is_no_job_stays(world):
    world.add()
    dead = world.fail_card(requeue=False)
    world.add()
    held = world.claim()
    complete(world.worker, **receipt(held))
    plain = world.add(column=world.column("Ideas"))
    for card in (dead, held.card.id, plain):
        before = snapshot(world)
        with pytest.raises(NotCancellable):
            cancel(world, card)
        assert snapshot(world) == before


def test_its_creator_and_managers_may(world):
    card = world.add()
    edit_board(world.owner, board_id=world.board, default_role=BoardRole.EDITOR)
    editor = a_person(world.workspace, WorkspaceRole.MEMBER)
    with pytest.raises(Forbidden):
        cancel(world, card, by=editor)
    with pytest.raises(NotFound):
        cancel(world, card, by=a_world().owner)
    Card.objects.filter(pk=card).update(created_by=editor.actor_id)
    assert cancel(world, card, by=editor).cancelled


def test_its_creator_may_not_any_more_when_they_may_not_edit(world):
    card = world.add()
    edit_board(world.owner, board_id=world.board, default_role=BoardRole.VIEWER)
    viewer = a_person(world.workspace, WorkspaceRole.MEMBER)
    Card.objects.filter(pk=card).update(created_by=viewer.actor_id)
    with pytest.raises(Forbidden):
        cancel(world, card, by=viewer)


def test_the_holder_hears_it_with_the_heartbeat_and_loses_the_card_after(world, held):
    asked = cancel(world, held.card.id, reason="Too late")
    assert (asked.cancelled, asked.cancel_requested) == (False, True)
    assert asked.until - asked.server_time <= GRACE
    told = renew(world.worker, **receipt(held))
    assert told.cancel_requested
    assert (told.cancel.by, told.cancel.reason) == (world.owner.handle, "Too late")
    assert told.expires_at > told.server_time
    assert card_row(held.card.id).state == "claimed"
    with pytest.raises(LeaseLost) as lost:
        renew(world.worker, **receipt(held))
    assert lost.value.facts["lease_state"] == "revoked"
    assert lost.value.facts["cancelled"]
    assert lost.value.facts["card"].state == "failed"
    has_ended_as_cancelled(world, held)


@pytest.mark.parametrize("verb", [complete, fail, release])
def test_whatever_a_holder_does_who_has_heard_the_card_is_cancelled(world, held, verb):
    cancel(world, held.card.id, reason="Too late")
    renew_many(world.worker, receipts={held.lease.id: held.lease_token})
    with pytest.raises(LeaseLost):
        verb(world.worker, **receipt(held))
    has_ended_as_cancelled(world, held)
    with pytest.raises(LeaseLost):
        verb(world.worker, **receipt(held))
    has_ended_as_cancelled(world, held)


def test_a_result_that_comes_before_the_holder_has_heard_counts(world, held):
    cancel(world, held.card.id)
    complete(world.worker, **receipt(held), output={"text": "Done"})
    card = card_row(held.card.id)
    assert (card.state, card.output, card.cancelled_at) == (
        "done",
        {"text": "Done"},
        None,
    )


@pytest.mark.parametrize("verb", [fail, release])
def test_what_is_given_back_before_that_is_not_offered_again(world, held, verb):
    cancel(world, held.card.id, reason="Too late")
    with pytest.raises(LeaseLost):
        verb(world.worker, **receipt(held))
    has_ended_as_cancelled(world, held)


def test_who_does_not_call_is_waited_for_a_minute(world, held):
    cancel(world, held.card.id, reason="Too late")
    reap()
    assert card_row(held.card.id).state == "claimed"
    Lease.objects.filter(pk=held.lease.id).update(
        cancel_requested_at=ClockTimestamp() - GRACE
    )
    assert reap() == 1
    has_ended_as_cancelled(world, held)
    assert reap() == 0


@pytest.mark.parametrize("by", ["reaper", "next claim"])
def test_a_lease_that_runs_out_ends_as_cancelled(world, held, by):
    cancel(world, held.card.id, reason="Too late")
    lapse(held)
    if by == "reaper":
        reap()
    else:
        assert world.ask().reason == "drained"
    has_ended_as_cancelled(world, held)


def test_who_has_lost_the_card_already_needs_no_minute(world, held):
    lapse(held)
    assert cancel(world, held.card.id, reason="Too late").cancelled
    has_ended_as_cancelled(world, held)


def test_people_who_call_off_what_they_hold_have_heard_it(world):
    card = world.add()
    got = claim(world.owner, board_id=world.board, column_id=world.queue)
    assert got.card.id == card
    assert cancel(world, card).cancelled
    assert card_row(card).state == "failed"
    assert_sound(world.workspace.pk)


@pytest.mark.parametrize("verb", [revoke, stop_agent])
def test_a_card_taken_away_after_it_was_called_off_is_cancelled(world, held, verb):
    cancel(world, held.card.id, reason="Too late")
    if verb is revoke:
        assert revoke(world.owner, lease_id=held.lease.id).card.state == "failed"
    else:
        assert stop_agent(world.owner, agent_id=world.worker.actor_id) == 1
    has_ended_as_cancelled(world, held)


def test_a_called_off_card_can_be_moved_and_put_away_by_force(world, held):
    cancel(world, held.card.id)
    archive_card(world.owner, card_id=held.card.id, free=free(world.owner))
    assert card_row(held.card.id).archived_at
    world.add()
    second = world.claim()
    cancel(world, second.card.id)
    move_card(
        world.owner,
        card_id=second.card.id,
        column_id=world.queue,
        free=free(world.owner),
    )
    assert lease_row(second.lease.id).state == "revoked"
    assert_sound(world.workspace.pk)


def test_a_cancelled_card_can_have_another_round(world):
    card = world.add()
    cancel(world, card)
    requeue(world.owner, card_id=card)
    assert card_row(card).cancelled_at is None
    assert world.claim().card.id == card


def test_the_second_request_leaves_the_first_one_as_it_is(world, held):
    cancel(world, held.card.id, reason="Too late")
    other = a_person(world.workspace)
    before = snapshot(world)
    assert cancel(world, held.card.id, by=other, reason="Me too").cancel_requested
    assert snapshot(world) == before
