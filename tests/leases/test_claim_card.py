"""Claim of one given card: whatever its place in line, and a 409 that says exactly why
not."""

from datetime import timedelta
from uuid import uuid4

import pytest

from accounts.credentials import caller_of_actor
from accounts.errors import Forbidden, Invalid, NotFound
from accounts.models import Actor
from accounts.roles import BoardRole
from boards.errors import BoardArchived
from boards.models import Card, Event
from boards.verbs.boards import archive_board, set_board_member
from boards.verbs.cards import archive_card
from leases.errors import NotClaimable
from leases.models import Slot
from leases.verbs.claim_card import claim_card
from leases.verbs.complete import complete
from leases.verbs.give_back import release
from tests.builders import (
    a_person,
    a_world,
    an_agent,
    card_row,
    lapse,
    lease_row,
    make_due,
    snapshot,
)
from tests.invariants import assert_sound

A_DAY = timedelta(days=1)


def take(world, card, by=None, **more):
    return claim_card(by or world.worker, card_id=card, **more)


def refused(world, card, by=None):
    """Why not; and nothing has changed."""
    before = snapshot(world)
    with pytest.raises(NotClaimable) as error:
        take(world, card, by)
    assert snapshot(world) == before
    return error.value


def with_skills(caller, *skills):
    Actor.objects.filter(pk=caller.actor_id).update(skills=list(skills))
    return caller_of_actor(Actor.objects.get(pk=caller.actor_id))


def test_a_card_is_claimed_past_those_before_it(world):
    world.set(concurrency_limit=3)
    first, second = world.add(priority=1), world.add(priority=5)
    got = take(world, second, lease_ttl_seconds=60)
    assert (got.card.id, got.card.state, got.lease.attempt) == (second, "claimed", 1)
    assert got.lease.expires_at - got.lease.acquired_at == timedelta(seconds=60)
    assert Slot.objects.get(lease_id=got.lease.id).column_id == world.queue
    last = Event.objects.filter(card_id=second).order_by("-sequence")[0]
    assert (last.type, last.actor_id) == ("card.lease.claimed", world.worker.actor_id)
    assert world.claim().card.id == first
    complete(world.worker, lease_id=got.lease.id, lease_token=got.lease_token)
    assert card_row(second).state == "done"
    assert_sound(world.workspace.pk)


def test_an_agents_lease_is_as_long_as_the_contract_says(world):
    world.set(lease_ttl_seconds=100)
    assert take(world, world.add()).lease.seconds == 100
    world.set(lease_ttl_seconds=None)
    assert take(world, world.add()).lease.seconds == 300


def test_what_a_person_starts_never_lapses_whatever_the_contract_says(world):
    world.set(lease_ttl_seconds=100)
    got = take(world, world.add(), by=world.owner)
    assert (got.lease.seconds, got.lease.expires_at) == (None, None)
    assert lease_row(got.lease.id).expires_at is None
    assert take(world, world.add(), by=world.owner, lease_ttl_seconds=9).lease.seconds


def test_who_holds_it_is_named_and_until_when(world):
    card = world.add()
    held = take(world, card)
    error = refused(world, card, by=world.owner)
    facts = error.facts
    assert error.detail == f"@{world.worker.handle} is working on it."
    assert (facts["reason"], facts["until"]) == ("held", held.lease.expires_at)
    assert facts["held_by"].handle == world.worker.handle
    assert (facts["card"].id, facts["card"].state) == (card, "claimed")


def test_what_somebody_started_without_end_is_theirs(world):
    card = world.add()
    take(world, card, by=world.owner)
    other = a_person(world.workspace)
    error = refused(world, card, by=other)
    assert error.facts["held_by"].handle == world.owner.handle
    assert error.facts["until"] is None


def test_a_lapsed_lease_is_taken_over(world):
    card = world.add()
    first = world.claim()
    lapse(first)
    second = take(world, card)
    assert second.lease.attempt == 2
    assert lease_row(first.lease.id).state == "expired"
    assert_sound(world.workspace.pk)


def test_a_card_whose_lapsed_lease_was_its_last_attempt_has_ended(world):
    world.set(max_attempts=1)
    card = world.add()
    lapse(world.claim())
    with pytest.raises(NotClaimable) as error:
        take(world, card)
    assert error.value.facts["reason"] == "ended"
    assert card_row(card).state == "failed"


def test_an_open_card_without_an_attempt_left_is_dead_lettered_on_the_spot(world):
    card = world.add()
    Card.objects.filter(pk=card).update(attempts=5)
    with pytest.raises(NotClaimable):
        take(world, card)
    assert (card_row(card).state, card_row(card).column_id) == ("failed", world.failed)


def test_a_waiting_card_says_until_when_and_goes_when_it_is_due(world):
    at = card_row(world.add()).created_at + A_DAY
    card = world.add(not_before=at)
    error = refused(world, card)
    assert (error.facts["reason"], error.facts["until"]) == ("waiting", at)
    make_due(card)
    assert take(world, card).card.available_at is None
    assert_sound(world.workspace.pk)


def test_paused(world):
    world.set(paused=True, pause_reason="Lunch")
    error = refused(world, world.add())
    assert (error.facts["reason"], error.detail) == (
        "paused",
        "The queue is paused: Lunch",
    )


def test_at_capacity(world):
    world.set(concurrency_limit=1)
    world.add()
    held = world.claim()
    card = world.add()
    assert refused(world, card).facts["reason"] == "at_capacity"
    assert refused(world, card, by=world.owner).facts["reason"] == "at_capacity"
    release(world.worker, lease_id=held.lease.id, lease_token=held.lease_token)
    assert take(world, card).card.id == card


def test_what_does_not_fit_says_in_what(world):
    world.set(
        input_schema={
            "required": ["payload"],
            "properties": {"payload": {"type": "string"}},
        }
    )
    card, good = world.add(payload=1), world.add(payload="x")
    with pytest.raises(NotClaimable) as error:
        take(world, card)
    assert error.value.facts["reason"] == "misfit"
    (rule,) = error.value.facts["rules"]
    assert rule.problems[0]["pointer"] == "/payload"
    assert take(world, good).card.fits is True


def test_kept_for_somebody_else(world):
    other = an_agent(world.workspace)
    card = world.add(assignee=other.handle)
    error = refused(world, card)
    assert error.facts["reason"] == "assigned"
    assert error.detail == f"It's kept for @{other.handle}."
    assert take(world, card, by=other).card.id == card


def test_an_agent_must_have_the_skills_and_a_person_knows(world):
    card = world.add(skills=["seo", "german"])
    error = refused(world, card, by=with_skills(world.worker, "seo"))
    assert (error.facts["reason"], error.facts["rules"][0].skills) == (
        "skills",
        ["german", "seo"],
    )
    able = with_skills(world.worker, "seo", "german", "more")
    assert take(world, card, by=able).card.id == card
    other = world.add(skills=["seo"])
    assert take(world, other, by=world.owner).card.id == other


def test_no_queue_ended_or_put_away(world):
    plain = world.add(column=world.column("Ideas"))
    world.add()
    dead = world.fail_card(requeue=False)
    away = world.add()
    archive_card(world.owner, card_id=away)
    for card, reason in (
        (plain, "not_a_queue"),
        (dead, "ended"),
        (away, "archived"),
    ):
        assert refused(world, card).facts["reason"] == reason


def test_who_may(world):
    card = world.add()
    with pytest.raises(NotFound):
        take(world, card, by=a_world().owner)
    with pytest.raises(NotFound):
        take(world, uuid4())
    with pytest.raises(NotFound):
        take(world, card, column_id=world.done)
    with pytest.raises(Invalid):
        take(world, card, lease_ttl_seconds=0)
    set_board_member(
        world.owner,
        board_id=world.board,
        handle=world.worker.handle,
        role=BoardRole.COMMENTER,
    )
    with pytest.raises(Forbidden):
        take(world, card)
    archive_board(world.owner, board_id=world.board)
    with pytest.raises(BoardArchived):
        take(world, card, by=world.owner)
