"""Moving a card: to another column, to another board, and what state it has there."""

from uuid import uuid4

import pytest

from accounts.errors import Forbidden, NotFound
from accounts.roles import BoardRole
from boards.errors import VersionMismatch
from boards.models import Event
from boards.verbs.boards import create_board, set_board_member
from boards.verbs.columns import create_column, delete_column
from boards.verbs.moving import move_card
from boards.verbs.places import Place
from leases.verbs.complete import complete
from leases.verbs.set_contract import Terms, set_contract
from tests.builders import a_world, card_row, receipt, snapshot


def test_a_card_goes_to_the_bottom_of_another_column(world):
    there = world.add(column=world.done)
    card = world.add()
    move_card(world.owner, card_id=card, column_id=world.done)
    assert world.shown(world.done) == [there, card]
    assert world.shown() == []
    row = card_row(card)
    assert (row.state, row.version, row.sequence) == ("", 2, 2)


def test_or_to_a_place_in_it(world):
    a, b = (world.add(column=world.done) for _ in range(2))
    card = world.add()
    move_card(world.owner, card_id=card, column_id=world.done, place=Place(before=b))
    assert world.shown(world.done) == [a, card, b]


def test_the_event_says_from_where_to_where(world):
    card = world.add()
    move_card(world.owner, card_id=card, column_id=world.done)
    event = Event.objects.get(card_id=card, type="card.moved")
    assert event.data == {
        "from_column_id": str(world.queue),
        "to_column_id": str(world.done),
    }
    assert event.column_id == world.done


def test_in_a_queue_it_is_open_with_fresh_attempts(world):
    world.set(max_attempts=2)
    card = world.add()
    world.fail_card()
    move_card(world.owner, card_id=card, column_id=world.done)
    assert card_row(card).state == ""
    move_card(world.owner, card_id=card, column_id=world.queue)
    assert world.claim().lease.attempt == 1


def test_a_finished_card_stays_finished_outside_of_queues(world):
    card = world.add()
    complete(world.worker, **receipt(world.claim()), output="x")
    move_card(world.owner, card_id=card, column_id=world.failed)
    assert card_row(card).state == "done"
    move_card(world.owner, card_id=card, column_id=world.queue)
    assert card_row(card).state == "open"
    assert card_row(card).output == "x"


def test_a_dead_letter_stays_one_until_it_is_moved_into_a_queue(world):
    world.set(max_attempts=1)
    world.add()
    card = world.fail_card()
    move_card(world.owner, card_id=card, column_id=world.done)
    assert card_row(card).state == "failed"
    move_card(world.owner, card_id=card, column_id=world.queue)
    assert world.claim().lease.attempt == 1


def test_a_waiting_card_that_is_moved_waits_there(world):
    other = world.column("Other queue")
    set_contract(
        world.owner,
        board_id=world.board,
        column_id=other,
        terms=Terms(enabled=True),
    )
    world.add()
    card = world.fail_card(retry_after_seconds=60)
    move_card(world.owner, card_id=card, column_id=other)
    world.queue = other
    assert world.ask().reason == "waiting"


def test_within_its_column_a_move_keeps_its_state(world):
    world.add()
    card = world.fail_card(retry_after_seconds=60)
    world.add()
    move_card(world.owner, card_id=card, place=Place(end="bottom"))
    row = card_row(card)
    assert (row.state, row.attempts) == ("open", 1)
    assert row.available_at is not None
    assert world.shown()[-1] == card


def test_to_another_board_of_the_workspace(world):
    board = create_board(world.owner, name="Other")
    column = create_column(world.owner, board_id=board, name="There")
    card = world.add()
    number = card_row(card).number
    move_card(world.owner, card_id=card, column_id=column)
    row = card_row(card)
    assert (row.board_id, row.column_id, row.number) == (board, column, number)


def test_it_takes_an_editor_here_and_there(world):
    board = create_board(world.owner, name="Other", default_role=BoardRole.VIEWER)
    column = create_column(world.owner, board_id=board, name="There")
    card = world.add()
    before = snapshot(world)
    with pytest.raises(Forbidden):
        move_card(world.worker, card_id=card, column_id=column)
    hidden = create_board(world.owner, name="Hidden", default_role=None)
    unseen = create_column(world.owner, board_id=hidden, name="Unseen")
    with pytest.raises(NotFound):
        move_card(world.worker, card_id=card, column_id=unseen)
    set_board_member(
        world.owner,
        board_id=world.board,
        handle=world.worker.handle,
        role=BoardRole.VIEWER,
    )
    with pytest.raises(Forbidden):
        move_card(world.worker, card_id=card, column_id=world.done)
    assert snapshot(world)["cards"] == before["cards"]


def test_columns_that_are_not_here_are_not_found(world):
    deleted = world.column("Deleted")
    delete_column(world.owner, board_id=world.board, column_id=deleted)
    card = world.add()
    before = snapshot(world)
    for column in (a_world().queue, deleted, uuid4()):
        with pytest.raises(NotFound):
            move_card(world.owner, card_id=card, column_id=column)
    with pytest.raises(NotFound):
        move_card(world.owner, card_id=uuid4(), column_id=world.done)
    assert snapshot(world)["cards"] == before["cards"]


def test_a_version_that_is_not_the_present_one_is_refused(world):
    card = world.add()
    move_card(world.owner, card_id=card, column_id=world.done, version=1)
    with pytest.raises(VersionMismatch):
        move_card(world.owner, card_id=card, column_id=world.failed, version=1)
    assert card_row(card).column_id == world.done
