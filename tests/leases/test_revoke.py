"""Revoke: a manager takes a card away; so does every change with force."""

import pytest

from accounts.errors import Forbidden, Invalid, NotFound
from accounts.models import Actor
from accounts.roles import WorkspaceRole
from boards.errors import CardHeld
from boards.verbs.boards import archive_board
from boards.verbs.cards import archive_card
from boards.verbs.moving import move_card
from leases.errors import LeaseLost
from leases.models import Lease, Slot
from leases.verbs.complete import complete
from leases.verbs.give_back import fail, release
from leases.verbs.pause import pause
from leases.verbs.reasons import MAX_REASON_CHARACTERS
from leases.verbs.renew import renew
from leases.verbs.revoke import free, revoke, stop_agent
from supervision.holds.revoking import revoke_many
from tests.builders import (
    a_person,
    a_world,
    an_agent,
    card_row,
    event_types,
    lapse,
    lease_row,
    receipt,
    snapshot,
)


def test_a_revoked_card_is_open_for_the_next_and_the_attempt_does_not_count(world):
    card = world.add()
    held = world.claim()
    ended = revoke(world.owner, lease_id=held.lease.id, reason="Wrong branch")
    assert (ended.lease.state, ended.lease.reason) == ("revoked", "Wrong branch")
    assert (ended.card.state, ended.card.attempts) == ("open", 0)
    again = world.claim(an_agent(world.workspace))
    assert (again.card.id, again.lease.attempt) == (card, 1)
    assert event_types(card)[2] == "card.lease.revoked"


def test_the_worker_learns_it_at_its_next_call(world):
    world.add()
    held = world.claim()
    revoke(world.owner, lease_id=held.lease.id)
    before = snapshot(world)
    for verb in (renew, complete, fail, release):
        with pytest.raises(LeaseLost) as lost:
            verb(world.worker, **receipt(held))
        assert lost.value.facts["lease_state"] == "revoked"
    assert snapshot(world) == before


def test_revoking_twice_changes_nothing(world):
    world.add()
    held = world.claim()
    revoke(world.owner, lease_id=held.lease.id, reason="One")
    before = snapshot(world)
    again = revoke(world.owner, lease_id=held.lease.id, reason="Two")
    assert (again.replayed, again.lease.reason) == (True, "One")
    assert snapshot(world) == before


def test_a_lapsed_lease_can_still_be_revoked(world):
    world.add()
    held = world.claim()
    lapse(held)
    assert revoke(world.owner, lease_id=held.lease.id).lease.state == "revoked"


def test_a_finished_lease_can_not_be_revoked(world):
    world.add()
    held = world.claim()
    complete(world.worker, **receipt(held))
    with pytest.raises(LeaseLost):
        revoke(world.owner, lease_id=held.lease.id)
    assert lease_row(held.lease.id).state == "completed"


def test_it_takes_a_manager(world):
    world.add()
    held = world.claim()
    member = a_person(world.workspace, WorkspaceRole.MEMBER)
    with pytest.raises(Forbidden):
        revoke(member, lease_id=held.lease.id)
    with pytest.raises(Forbidden):
        revoke(world.worker, lease_id=held.lease.id)
    with pytest.raises(NotFound):
        revoke(a_world().owner, lease_id=held.lease.id)
    assert lease_row(held.lease.id).state == "active"


def test_stopping_an_agent_takes_all_its_cards_on_every_board(world):
    other = a_world()
    other.workspace = world.workspace
    world.set(concurrency_limit=3)
    world.add_many(3)
    colleague = an_agent(world.workspace)
    mine, theirs = world.ask(count=2).claims, world.claim(colleague)
    assert stop_agent(world.owner, agent_id=world.worker.actor_id) == 2
    assert {lease_row(one.lease.id).state for one in mine} == {"revoked"}
    assert lease_row(theirs.lease.id).state == "active"
    assert Slot.objects.filter(column_id=world.queue, lease_id=None).count() == 2
    assert stop_agent(world.owner, agent_id=world.worker.actor_id) == 0


def test_stopping_an_agent_takes_an_admin_of_its_workspace(world):
    world.add()
    held = world.claim()
    with pytest.raises(Forbidden):
        stop_agent(world.worker, agent_id=world.worker.actor_id)
    assert stop_agent(a_world().owner, agent_id=world.worker.actor_id) == 0
    assert lease_row(held.lease.id).state == "active"


@pytest.mark.parametrize("change", ["move", "archive", "archive the board"])
def test_a_held_card_is_not_changed_behind_its_holders_back(world, change):
    card = world.add()
    held = world.claim()
    before = snapshot(world)
    with pytest.raises(CardHeld) as refused:
        _change(world, card, change, None)
    assert refused.value.facts["holder"] == f"@{world.worker.handle}"
    assert f"@{world.worker.handle}" in refused.value.detail
    assert snapshot(world) == before
    assert renew(world.worker, **receipt(held))


@pytest.mark.parametrize("change", ["move", "archive", "archive the board"])
def test_with_force_the_lease_ends_in_the_same_change(world, change):
    world.set(concurrency_limit=1)
    card = world.add()
    held = world.claim()
    _change(world, card, change, free(world.owner))
    lease = lease_row(held.lease.id)
    assert (lease.state, lease.outcome) == ("revoked", "requeued")
    row = card_row(card)
    assert (row.lease_id, row.holder_id, row.attempts) == (None, None, 0)
    assert Slot.objects.get(column_id=world.queue).lease_id is None
    assert not Lease.objects.filter(card=card, state="active").exists()


def _change(world, card, change, free):
    if change == "move":
        move_card(world.owner, card_id=card, column_id=world.done, free=free)
    elif change == "archive":
        archive_card(world.owner, card_id=card, free=free)
    else:
        archive_board(world.owner, board_id=world.board, free=free)


def test_stopping_an_agent_may_disable_it_in_the_same_change(world):
    world.add_many(2)
    world.ask(count=2)
    seat = world.worker.actor_id
    with pytest.raises(Invalid):
        stop_agent(world.owner, agent_id=seat, reason=TOO_LONG, disable=True)
    assert Actor.objects.get(pk=seat).disabled_at is None
    assert stop_agent(world.owner, agent_id=seat, disable=True) == 2
    assert Actor.objects.get(pk=seat).disabled_at is not None


TOO_LONG = "x" * (MAX_REASON_CHARACTERS + 1)


@pytest.mark.parametrize(
    "verb",
    [
        lambda w, lease: revoke(w.owner, lease_id=lease, reason=TOO_LONG),
        lambda w, lease: revoke_many(w.owner, lease_ids=[lease], reason=TOO_LONG),
        lambda w, lease: pause(
            w.owner, board_id=w.board, column_id=w.queue, reason=TOO_LONG
        ),
        lambda w, lease: w.set(paused=True, pause_reason=TOO_LONG),
    ],
    ids=["revoke", "revoke many", "pause", "set the contract"],
)
def test_of_a_reason_that_is_too_long_no_part_is_kept(world, verb):
    world.add()
    lease = world.claim().lease.id
    before = snapshot(world)
    with pytest.raises(Invalid) as refused:
        verb(world, lease)
    assert [one.code for one in refused.value.errors] == ["too_long"]
    assert snapshot(world) == before
