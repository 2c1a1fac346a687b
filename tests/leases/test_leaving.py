"""Whoever is shut out holds nothing for ever (case 20: kitodo/kitodo-production#4184)."""

import pytest

from accounts.models import Actor, User
from accounts.roles import WorkspaceRole
from accounts.verbs.logins import set_login_active
from accounts.verbs.people import LastOwner, edit_member
from boards.models import Event
from leases.errors import LeaseLost
from leases.models import Lease, Slot
from leases.verbs.cancel import request_cancel
from leases.verbs.claim_card import claim_card
from leases.verbs.complete import complete
from leases.verbs.reap import reap
from tests.builders import (
    World,
    a_person,
    a_world,
    card_row,
    event_types,
    lease_row,
    receipt,
    snapshot,
)
from tests.connections import together


@pytest.fixture
def bob(world):
    return a_person(world.workspace, WorkspaceRole.MEMBER)


def login_of(caller) -> User:
    return User.objects.get(actors=caller.actor_id)


def runs_the_server(caller) -> User:
    User.objects.filter(actors=caller.actor_id).update(is_superuser=True)
    return login_of(caller)


def disable(world: World, person) -> None:
    edit_member(world.owner, member_id=person.actor_id, disabled=True)


def deactivate(world: World, person) -> None:
    by = runs_the_server(world.owner)
    set_login_active(by=by, user_id=login_of(person).pk, active=False)


@pytest.mark.parametrize("shut_out", [disable, deactivate])
def test_what_a_person_has_started_is_open_again_when_they_are_shut_out(
    world, bob, shut_out
):
    world.set(concurrency_limit=3)
    cards = world.add_many(3)
    held = [claim_card(bob, card_id=card) for card in cards]
    assert {one.lease.expires_at for one in held} == {None}
    shut_out(world, bob)
    for one in held:
        lease, card = lease_row(one.lease.id), card_row(one.card.id)
        assert (lease.state, lease.outcome) == ("revoked", "requeued")
        assert lease.reason.startswith(f"@{bob.handle} was shut out")
        assert lease.holder.name == bob.name
        row = (card.state, card.holder_id, card.lease_id, card.attempts)
        assert row == ("open", None, None, 0)
        assert event_types(card.pk)[-1] == "card.lease.revoked"
        with pytest.raises(LeaseLost):
            complete(bob, **receipt(one))
    assert not Slot.objects.exclude(lease_id=None).exists()
    assert len(world.claim_all()) == 3


def test_the_history_says_who_shut_them_out(world, bob):
    card = world.add()
    held = claim_card(bob, card_id=card)
    disable(world, bob)
    reason = f"@{bob.handle} was shut out by @{world.owner.handle}."
    assert lease_row(held.lease.id).reason == reason
    last = Event.objects.filter(card_id=card).latest("sequence")
    assert last.actor_id == world.owner.actor_id
    assert last.data["lease"]["reason"] == reason


def test_what_lapses_by_itself_and_what_others_hold_stays(world, bob):
    card, theirs = world.add(), world.add()
    mine = claim_card(bob, card_id=card, lease_ttl_seconds=60)
    other = claim_card(world.owner, card_id=theirs)
    before = snapshot(world)
    disable(world, bob)
    assert snapshot(world) == before
    for one in (mine, other):
        assert lease_row(one.lease.id).state == "active"


def test_what_was_called_off_does_not_come_back(world, bob):
    card = world.add()
    claim_card(bob, card_id=card)
    request_cancel(world.owner, card_id=card)
    disable(world, bob)
    assert (card_row(card).state, card_row(card).lease_id) == ("failed", None)
    assert event_types(card)[-1] == "card.cancelled"


def test_being_refused_leaves_everything_as_it_was(world):
    claim_card(world.owner, card_id=world.add())
    before = snapshot(world)
    for shut_out in (disable, deactivate):
        with pytest.raises(LastOwner):
            shut_out(world, world.owner)
    assert snapshot(world) == before


def test_other_changes_take_nothing_away(world, bob):
    held = claim_card(bob, card_id=world.add())
    edit_member(world.owner, member_id=bob.actor_id, role=WorkspaceRole.ADMIN)
    edit_member(world.owner, member_id=bob.actor_id, disabled=False)
    reap()
    assert lease_row(held.lease.id).state == "active"


@pytest.mark.parametrize("gone", ["disabled", "inactive"])
def test_what_reached_them_too_late_is_taken_back_by_the_reaper(world, bob, gone):
    """A process that still knew their token, or a claim that ran at that moment."""
    if gone == "disabled":
        disable(world, bob)
    else:
        deactivate(world, bob)
    card = world.add()
    held = claim_card(bob, card_id=card)
    assert reap() == 1
    assert lease_row(held.lease.id).state == "revoked"
    assert (card_row(card).state, card_row(card).attempts) == ("open", 0)
    assert reap() == 0


def test_a_claim_at_the_moment_of_the_dismissal_holds_nothing_in_the_end(
    transactional_db,
):
    world = a_world()
    bob = a_person(world.workspace, WorkspaceRole.MEMBER)
    for _ in range(5):
        card = world.add()
        together(
            lambda card=card: claim_card(bob, card_id=card),
            lambda: disable(world, bob),
        )
        reap()
        assert not Lease.objects.filter(state="active").exists()
        assert card_row(card).state == "open"
        edit_member(world.owner, member_id=bob.actor_id, disabled=False)
    assert Actor.objects.get(pk=bob.actor_id).disabled_at is None
