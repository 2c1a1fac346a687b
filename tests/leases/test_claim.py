"""Claim: the next eligible card, one lease, one event."""

from datetime import timedelta
from uuid import uuid4

import pytest

from accounts.errors import Forbidden, Invalid, NotFound
from accounts.roles import BoardRole
from boards.models import Event
from boards.verbs.boards import edit_board, set_board_member
from boards.verbs.cards import archive_card, edit_card
from leases.contract import MAX_LEASE_SECONDS
from leases.errors import NotAQueue
from leases.models import Lease
from leases.reads import held_by_caller, lease, leases
from leases.verbs.complete import complete
from leases.verbs.give_back import fail, release
from leases.verbs.renew import renew
from tests.builders import (
    a_world,
    an_agent,
    as_json,
    card_row,
    event_types,
    lapse,
    lease_row,
    make_due,
    receipt,
)


def test_a_claim_gives_the_card_a_lease_and_a_receipt(world):
    card = world.add("Write it", description="All of it", payload={"topic": "x"})
    held = world.claim()
    assert held.card.id == held.lease.card_id == card
    assert (held.card.title, held.card.description) == ("Write it", "All of it")
    assert as_json(held.card).count('"payload":{"topic": "x"}') == 1
    assert held.card.state == "claimed"
    assert held.card.holder.handle == world.worker.handle
    assert held.card.created_by.handle == world.owner.handle
    assert held.card.lease_id == held.lease.id
    assert held.lease.state == "active"
    assert held.lease.board_id == world.board
    assert held.lease.column_id == world.queue
    assert held.lease_token.startswith("nvml_")


def test_what_a_claim_answers_is_what_is_stored(world):
    world.add()
    held = world.claim()
    assert lease(world.owner, lease_id=held.lease.id) == held.lease
    row = card_row(held.card.id)
    assert (row.state, row.attempts) == ("claimed", 1)
    assert (row.lease_id, row.holder_id) == (held.lease.id, world.worker.actor_id)
    assert (row.version, row.updated_at) == (held.card.version, held.card.updated_at)


def test_the_attempt_counts_from_the_claim_on(world):
    world.add()
    held = world.claim()
    assert held.lease.attempt == held.card.attempts == 1
    lapse(held)
    again = world.claim()
    assert again.lease.attempt == again.card.attempts == 2


def test_a_claim_writes_one_event_with_the_lease_inside(world):
    card = world.add()
    held = world.claim()
    event = Event.objects.get(card_id=card, type="card.lease.claimed")
    assert (event.sequence, event.lease_id) == (2, held.lease.id)
    assert (event.actor_id, event.token_id) == (
        world.worker.actor_id,
        world.worker.token_id,
    )
    assert event.data["lease"]["holder"] == world.worker.handle
    assert event.data["lease"]["attempt"] == 1
    assert event.data["lease"]["max_attempts"] == 5


def test_a_lease_lasts_five_minutes_unless_the_contract_says_otherwise(world):
    world.add_many(2)
    assert _length(world.ask()) == 300
    world.set(lease_ttl_seconds=60)
    assert _length(world.ask()) == 60


def test_the_length_asked_for_is_also_that_of_renewals(world):
    world.add()
    found = world.ask(lease_ttl_seconds=40)
    assert _length(found) == 40
    renewed = renew(
        world.worker, lease_id=found.lease.id, lease_token=found.lease_token
    )
    assert renewed.expires_at - renewed.server_time == timedelta(seconds=40)


@pytest.mark.parametrize("seconds", [0, -1, MAX_LEASE_SECONDS + 1])
def test_a_length_out_of_bounds_is_refused(world, seconds):
    world.add()
    with pytest.raises(Invalid) as refused:
        world.ask(lease_ttl_seconds=seconds)
    assert refused.value.errors[0].pointer == "/lease_ttl_seconds"
    assert not Lease.objects.filter(board_id=world.board).exists()


def test_without_a_length_in_the_contract_a_person_holds_a_card_without_end(world):
    world.set(lease_ttl_seconds=None)
    world.add_many(2)
    assert world.claim(world.owner).lease.expires_at is None
    assert _length(world.ask(world.worker)) == 300


def test_a_column_that_is_no_queue_is_not_claimed_from(world):
    world.set(enabled=False)
    world.add()
    with pytest.raises(NotAQueue):
        world.ask()


def test_a_column_that_never_had_a_contract_is_no_queue(world):
    world.queue = world.done
    with pytest.raises(NotAQueue):
        world.ask()


def test_a_column_of_another_board_does_not_exist_here(world):
    other = a_world()
    other.add()
    world.queue = other.queue
    with pytest.raises(NotFound):
        world.ask()
    world.queue = uuid4()
    with pytest.raises(NotFound):
        world.ask()


def test_strangers_do_not_see_the_queue_and_viewers_may_not_work(world):
    world.add()
    with pytest.raises(NotFound):
        world.ask(an_agent(a_world().workspace))
    set_board_member(
        world.owner,
        board_id=world.board,
        handle=world.worker.handle,
        role=BoardRole.VIEWER,
    )
    with pytest.raises(Forbidden):
        world.ask()
    edit_board(world.owner, board_id=world.board, default_role=None)
    with pytest.raises(NotFound):
        world.ask(an_agent(world.workspace))


def test_archived_cards_are_not_offered(world):
    archive_card(world.owner, card_id=world.add())
    assert world.ask().reason == "drained"


def test_a_card_of_somebody_else_is_not_offered(world):
    colleague = an_agent(world.workspace)
    card = world.add(assignee=colleague.handle)
    assert world.ask().card is None
    held = world.claim(colleague)
    assert held.card.id == card
    assert held.card.assignee.handle == colleague.handle


def test_a_card_for_later_is_not_offered_before_its_time(world):
    card = world.add()
    hour = card_row(card).created_at + timedelta(hours=1)
    edit_card(world.owner, card_id=card, not_before=hour)
    assert world.ask().reason == "waiting"
    make_due(card)
    assert world.claim().card.id == card
    assert card_row(card).available_at is None


def test_a_lapsed_lease_is_superseded_by_the_claim_itself(world):
    card = world.add()
    first = world.claim()
    lapse(first)
    second = world.claim(an_agent(world.workspace))
    assert second.card.id == card
    assert second.lease.id != first.lease.id
    old = lease_row(first.lease.id)
    assert (old.state, old.outcome, old.reason) == (
        "expired",
        "requeued",
        "lease_expired",
    )
    assert event_types(card)[1:] == [
        "card.lease.claimed",
        "card.lease.expired",
        "card.lease.claimed",
    ]


def test_a_lapsed_card_without_attempts_left_is_dead_lettered_and_the_next_one_comes(
    world,
):
    world.set(max_attempts=1)
    dead, alive = world.add(), world.add()
    lapse(world.claim())
    assert world.claim().card.id == alive
    row = card_row(dead)
    assert (row.state, row.column_id, row.attempts) == ("failed", world.failed, 1)
    assert event_types(dead)[-2:] == ["card.lease.expired", "card.lease.deadlettered"]


def test_a_card_that_is_out_of_attempts_since_the_limit_fell_never_reaches_a_worker(
    world,
):
    world.set(max_attempts=3)
    tried = world.add()
    world.fail_card(retry_after_seconds=60)
    world.set(max_attempts=1)
    alive = world.add()
    make_due(tried)
    assert world.claim().card.id == alive
    assert card_row(tried).state == "failed"
    assert card_row(tried).column_id == world.failed
    assert event_types(tried)[-1] == "card.lease.deadlettered"


def test_more_exhausted_cards_than_one_batch_never_make_a_false_null(world):
    world.set(max_attempts=2)
    for _ in range(3):
        world.add_many(50)
        for held in world.ask(count=50).claims:
            fail(world.worker, **receipt(held), retry_after_seconds=60)
    world.set(max_attempts=1)
    alive = world.add()
    for card in world.shown():
        if card != alive:
            make_due(card)
    assert world.claim().card.id == alive


def test_earlier_attempts_come_with_the_card_latest_first(world):
    world.add()
    first = world.claim()
    fail(world.worker, **receipt(first), reason="The file was empty")
    second = world.claim()
    release(world.worker, **receipt(second), note="Half of it is in the draft")
    colleague = an_agent(world.workspace)
    third = world.claim(colleague)
    assert [
        (one.attempt, one.state, one.reason, one.note, one.holder)
        for one in third.card.previous_attempts
    ] == [
        (2, "released", "", "Half of it is in the draft", world.worker.handle),
        (1, "failed", "The file was empty", "", world.worker.handle),
    ]
    assert all(one.ended_at for one in third.card.previous_attempts)
    assert third.lease.attempt == 2


def test_at_most_five_earlier_attempts_come_along(world):
    world.set(max_attempts=10)
    world.add()
    for number in range(7):
        fail(world.worker, **receipt(world.claim()), reason=f"No. {number}")
    reasons = [one.reason for one in world.claim().card.previous_attempts]
    assert reasons == ["No. 6", "No. 5", "No. 4", "No. 3", "No. 2"]


def test_a_first_claim_has_no_earlier_attempts(world):
    world.add()
    assert world.claim().card.previous_attempts == []


def test_the_receipt_is_in_the_answer_of_the_claim_and_nowhere_else(world):
    world.add()
    held = world.claim()
    page = {"page_size": 10, "page_token": ""}
    shown = [
        *leases(world.owner, board_id=world.board, **page).items,
        *held_by_caller(world.worker, **page).items,
        lease(world.owner, lease_id=held.lease.id),
    ]
    assert len(shown) == 3
    assert not any(held.lease_token in as_json(one) for one in shown)
    assert held.lease_token not in str(list(Event.objects.values()))
    assert held.lease_token not in str(Lease.objects.filter(pk=held.lease.id).values())
    ended = complete(world.worker, **receipt(held))
    assert held.lease_token not in as_json(ended)


def _length(found):
    return (found.lease.expires_at - found.server_time).total_seconds()
