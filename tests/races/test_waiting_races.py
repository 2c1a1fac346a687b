"""Verbs that wait for a row, and find it changed when they get it."""

import pytest

from accounts.errors import DomainError
from boards.errors import CardHeld
from boards.models import Card
from boards.verbs.boards import archive_board
from boards.verbs.cards import archive_card, edit_card, restore_card
from boards.verbs.comments import add_comment
from boards.verbs.moving import move_card
from boards.verbs.places import Place
from leases.verbs.complete import Result, complete, complete_many
from leases.verbs.requeue import requeue
from leases.verbs.revoke import free, stop_agent
from tests.builders import a_world, card_row, receipt
from tests.connections import (
    held_open,
    outcome,
    start,
    wait_until_blocked,
    wait_until_waiting,
)
from tests.invariants import assert_sound
from tests.races.places import held_card
from tests.ways import learn_terms, noted, went

pytestmark = pytest.mark.django_db(transaction=True)

BY_HAND = {
    "edit": lambda w, card: edit_card(w.owner, card_id=card, title="Better"),
    "comment": lambda w, card: add_comment(w.owner, card_id=card, text="Hi"),
    "archive": lambda w, card: archive_card(w.owner, card_id=card),
    "archive by force": lambda w, card: archive_card(
        w.owner, card_id=card, free=free(w.owner)
    ),
    "restore": lambda w, card: restore_card(w.owner, card_id=card),
    "reorder": lambda w, card: move_card(w.owner, card_id=card, place=Place(end="top")),
    "move": lambda w, card: move_card(w.owner, card_id=card, column_id=w.failed),
    "move by force": lambda w, card: move_card(
        w.owner, card_id=card, column_id=w.failed, free=free(w.owner)
    ),
    "requeue": lambda w, card: requeue(w.owner, card_id=card),
    "stop the agent": lambda w, card: stop_agent(w.owner, agent_id=w.worker.actor_id),
    "archive the board": lambda w, card: archive_board(
        w.owner, board_id=w.board, free=free(w.owner)
    ),
}


@pytest.mark.parametrize("kept", [True, False])
@pytest.mark.parametrize("by_hand", BY_HAND)
def test_a_change_by_hand_that_waited_for_a_completion(by_hand, kept, known):
    place, sent = held_card(known=known), []
    world, held = place.world, place.held
    completing = noted(lambda: complete(world.worker, **receipt(held)), sent)
    with held_open(completing) as completion:
        assert went(sent, known=known)
        call = start(lambda: BY_HAND[by_hand](world, held.card.id))
        assert wait_until_blocked(call, by=completion.pid)
        if kept:
            completion.commit()
    answer = outcome(call)
    if isinstance(answer, BaseException):
        assert isinstance(answer, DomainError), answer
    assert_sound(world.workspace.pk)
    if kept:
        assert not isinstance(answer, CardHeld)
        state = "open" if by_hand == "requeue" else "done"
        assert card_row(held.card.id).state == state


@pytest.mark.parametrize("kept", [True, False])
def test_a_completion_that_waited_for_a_change_by_hand(kept, known):
    place, sent = held_card(known=known), []
    world, card, held = place.world, place.card, place.held
    edit = held_open(lambda: edit_card(world.owner, card_id=card, title="Better"))
    with edit as edited:
        call = start(noted(lambda: complete(world.worker, **receipt(held)), sent))
        assert wait_until_blocked(call, by=edited.pid)
        if kept:
            edited.commit()
    done = outcome(call)
    assert went(sent, known=known)
    row = card_row(card)
    assert done.card.title == row.title == ("Better" if kept else "Card")
    assert row.version == done.card.version == (4 if kept else 3)
    assert_sound(world.workspace.pk)


def test_cards_are_locked_in_one_order_by_all_who_lock_several(
    known,
):
    """Leases made in the other order than the cards; else two would wait in a circle."""
    world, sent = a_world(), []
    if known:
        learn_terms(world)
    first, second = world.add(priority=2), world.add(priority=1)
    leases = world.ask(count=2).claims
    assert [one.card.id for one in leases] == [second, first]
    results = [Result(**receipt(one)) for one in leases]
    lock = held_open(lambda: Card.objects.select_for_update().get(pk=second).pk)
    with lock as somebody:
        many = start(noted(lambda: complete_many(world.worker, results=results), sent))
        assert wait_until_blocked(many, by=somebody.pid)
        board = start(
            lambda: archive_board(
                world.owner, board_id=world.board, free=free(world.owner)
            )
        )
        wait_until_waiting(2)
    assert [one.ended.card.state for one in outcome(many).results] == ["done"] * 2
    assert went(sent, known=known)
    assert outcome(board) == world.board
    assert_sound(world.workspace.pk)
