"""Requeue: another round for a failed or done card, its history kept."""

import pytest

from accounts.errors import Conflict, Forbidden, NotFound
from accounts.roles import BoardRole
from boards.errors import CardHeld
from boards.verbs.boards import set_board_member
from boards.verbs.cards import edit_card
from boards.verbs.columns import delete_column
from leases.errors import NotRequeueable
from leases.models import Lease
from leases.verbs.complete import complete
from leases.verbs.give_back import fail
from leases.verbs.requeue import requeue
from leases.verbs.set_contract import Terms, set_contract
from tests.builders import a_world, card_row, event_types, receipt, snapshot


def dead(world):
    """A card that was tried twice and is dead-lettered."""
    world.set(max_attempts=2, backoff_seconds=[])
    card = world.add()
    world.fail_card(reason="First")
    world.fail_card(reason="Second")
    assert card_row(card).state == "failed"
    return card


def test_a_requeued_card_is_open_in_its_queue_with_fresh_attempts(world):
    card = dead(world)
    world.set(backoff_seconds=[600])
    later = world.add()
    requeue(world.owner, card_id=card)
    row = card_row(card)
    assert (row.state, row.attempts, row.available_at) == ("open", 0, None)
    assert world.shown() == [later, card]
    assert world.shown(world.failed) == []
    assert event_types(card)[-1] == "card.requeued"


def test_its_history_stays_and_comes_with_the_next_claim(world):
    card = dead(world)
    requeue(world.owner, card_id=card)
    held = world.claim()
    assert held.lease.attempt == 1
    assert [one.reason for one in held.card.previous_attempts] == ["Second", "First"]
    assert Lease.objects.filter(card=card).count() == 3


def test_the_next_failure_waits_out_the_first_step_again(world):
    card = dead(world)
    world.set(backoff_seconds=[10, 60])
    requeue(world.owner, card_id=card)
    ended = fail(world.worker, **receipt(world.claim()))
    assert (ended.lease.next_due - ended.server_time).total_seconds() == 10


def test_requeueing_twice_is_requeueing_once(world):
    card = dead(world)
    requeue(world.owner, card_id=card)
    before = snapshot(world)
    requeue(world.owner, card_id=card)
    assert snapshot(world) == before


def test_a_card_that_waits_goes_on_waiting(world):
    world.add()
    card = world.fail_card(retry_after_seconds=600)
    before = snapshot(world)
    requeue(world.owner, card_id=card)
    assert snapshot(world) == before


def test_a_leased_card_is_not_requeued(world):
    world.add()
    held = world.claim()
    before = snapshot(world)
    with pytest.raises(CardHeld) as refused:
        requeue(world.owner, card_id=held.card.id)
    assert f"@{world.worker.handle}" in refused.value.detail
    assert snapshot(world) == before


def test_a_done_card_gets_another_round(world):
    card = world.add()
    complete(world.worker, **receipt(world.claim()), output="v1")
    requeue(world.owner, card_id=card)
    assert world.claim().card.id == card
    assert card_row(card).output == "v1"


def test_a_card_that_was_in_no_queue_is_refused(world):
    with pytest.raises(NotRequeueable):
        requeue(world.owner, card_id=world.add(column=world.done))


def test_the_input_may_be_put_right_before(world):
    world.set(input_schema={"properties": {"payload": {"type": "object"}}})
    card = world.add(payload={})
    world.set(max_attempts=1)
    world.fail_card()
    edit_card(world.owner, card_id=card, payload="not an object")
    requeue(world.owner, card_id=card)
    assert world.ask().card is None
    assert card_row(card).fits is False
    edit_card(world.owner, card_id=card, payload={"ok": True})
    assert world.claim().card.id == card


def test_it_goes_back_to_the_queue_that_it_failed_in(world):
    """Also when the failure column is a queue of its own by now."""
    card = dead(world)
    set_contract(
        world.owner,
        board_id=world.board,
        column_id=world.failed,
        terms=Terms(enabled=True),
    )
    requeue(world.owner, card_id=card)
    assert world.shown() == [card]


def test_without_a_failure_column_it_stays_where_it_is(world):
    world.set(on_failure_column_id=None)
    card = dead(world)
    requeue(world.owner, card_id=card)
    assert world.shown() == [card]
    assert world.claim().card.id == card


def test_a_queue_that_is_gone_takes_nothing_back(world):
    card = dead(world)
    world.set(enabled=False)
    with pytest.raises(Conflict):
        requeue(world.owner, card_id=card)
    delete_column(world.owner, board_id=world.board, column_id=world.queue)
    with pytest.raises(Conflict):
        requeue(world.owner, card_id=card)
    assert card_row(card).state == "failed"


def test_it_takes_an_editor(world):
    card = dead(world)
    set_board_member(
        world.owner,
        board_id=world.board,
        handle=world.worker.handle,
        role=BoardRole.COMMENTER,
    )
    with pytest.raises(Forbidden):
        requeue(world.worker, card_id=card)
    with pytest.raises(NotFound):
        requeue(a_world().owner, card_id=card)
    assert card_row(card).state == "failed"
