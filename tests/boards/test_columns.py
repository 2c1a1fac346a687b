"""Columns: create, change, move, delete."""

import pytest

from accounts.errors import Conflict, Forbidden, Invalid, NotFound
from accounts.roles import WorkspaceRole
from boards import reads
from boards.errors import BoardArchived, CardHeld, ColumnNotEmpty
from boards.models import Column, Event
from boards.verbs.boards import archive_board
from boards.verbs.cards import archive_card
from boards.verbs.columns import (
    MAX_COLUMNS,
    create_column,
    delete_column,
    edit_column,
    move_column,
)
from boards.verbs.places import Place
from leases.models import Contract
from leases.reads import contract
from leases.verbs.revoke import free
from tests.builders import a_person, a_world, card_row, event_types


def shown(world):
    return [one.id for one in reads.columns(world.owner, board_id=world.board)]


def delete(world, column, **options):
    return delete_column(world.owner, board_id=world.board, column_id=column, **options)


def test_a_new_column_stands_at_the_right_end(world):
    before = shown(world)
    column = create_column(
        world.owner, board_id=world.board, name=" Ideas ", color="blue", wip_limit=3
    )
    assert shown(world) == [*before, column]
    found = reads.column(world.owner, board_id=world.board, column_id=column)
    assert (found.name, found.color, found.wip_limit) == ("Ideas", "blue", 3)
    assert found.is_queue is False


def test_what_is_given_changes(world):
    place = {"board_id": world.board, "column_id": world.done}
    edit_column(world.owner, **place, name="Published", wip_limit=5)
    edit_column(world.owner, **place, color="green")
    found = reads.column(world.owner, **place)
    assert (found.name, found.color, found.wip_limit) == ("Published", "green", 5)
    edit_column(world.owner, **place, wip_limit=None)
    assert reads.column(world.owner, **place).wip_limit is None


def test_a_name_must_be_seen(world):
    for name in ("", " \t", "\u200b", "x" * 101):
        with pytest.raises(Invalid):
            world.column(name)


def test_columns_are_put_among_their_neighbours(world):
    first, second, third = shown(world)
    place = {"board_id": world.board, "column_id": third}
    move_column(world.owner, **place, place=Place(before=second))
    assert shown(world) == [first, third, second]
    move_column(world.owner, **place, place=Place(end="top"))
    assert shown(world) == [third, first, second]
    move_column(world.owner, **place, place=Place(after=second))
    assert shown(world) == [first, second, third]
    other = a_world()
    with pytest.raises(Invalid):
        move_column(world.owner, **place, place=Place(before=other.queue))


def test_forty_inserts_between_two_columns(world):
    first, *rest = shown(world)
    put = []
    for number in range(40):
        column = world.column(f"No. {number}")
        move_column(
            world.owner,
            board_id=world.board,
            column_id=column,
            place=Place(after=first),
        )
        put.append(column)
    assert shown(world) == [first, *reversed(put), *rest]


def test_a_board_has_a_hundred_columns_at_most(world):
    for number in range(MAX_COLUMNS - 3):
        world.column(f"No. {number}")
    with pytest.raises(Invalid):
        world.column("One more")


def test_an_empty_column_is_deleted(world):
    delete(world, world.done)
    assert world.done not in shown(world)
    with pytest.raises(NotFound):
        reads.column(world.owner, board_id=world.board, column_id=world.done)
    with pytest.raises(NotFound):
        delete(world, world.done)


def test_a_column_with_cards_needs_a_place_for_them(world):
    cards = [world.add(column=world.done, priority=p) for p in (3, 1, 2)]
    with pytest.raises(ColumnNotEmpty):
        delete(world, world.done)
    there = world.add(column=world.failed, priority=2)
    delete(world, world.done, move_cards_to=world.failed)
    assert world.shown(world.failed) == [cards[1], there, cards[2], cards[0]]
    assert event_types(cards[0]) == ["card.created", "card.moved"]


def test_archived_cards_move_along_and_stay_archived(world):
    card = world.add(column=world.done)
    archive_card(world.owner, card_id=card)
    delete(world, world.done, move_cards_to=world.failed)
    row = card_row(card)
    assert (row.column_id, row.archived_at is None) == (world.failed, False)


def test_cards_moved_into_a_queue_become_jobs(world):
    card = world.add(column=world.done)
    delete(world, world.done, move_cards_to=world.queue)
    assert world.claim().card.id == card


def test_a_queue_is_not_deleted_before_it_is_switched_off(world):
    with pytest.raises(Conflict):
        delete(world, world.queue)
    world.set(enabled=False)
    delete(world, world.queue)


def test_held_cards_keep_their_column_unless_forced(world):
    card = world.add()
    held = world.claim()
    # A held card outside of a queue is there by hand only; the guard holds all the same.
    Column.objects.filter(pk=world.queue).update(is_queue=False)
    with pytest.raises(CardHeld):
        delete(world, world.queue, move_cards_to=world.done)
    delete(world, world.queue, move_cards_to=world.done, free=free(world.owner))
    row = card_row(card)
    assert (row.column_id, row.lease_id) == (world.done, None)
    assert held.card.id == card


def test_the_destination_must_be_another_column_of_the_board(world):
    world.add(column=world.done)
    with pytest.raises(Invalid):
        delete(world, world.done, move_cards_to=world.done)
    with pytest.raises(NotFound):
        delete(world, world.done, move_cards_to=a_world().done)
    assert world.done in shown(world)


def test_contracts_that_named_a_deleted_column_go_without(world):
    delete(world, world.done)
    assert Contract.objects.get(pk=world.queue).on_success_column_id == world.done
    found = contract(world.owner, board_id=world.board, column_id=world.queue)
    assert found.enabled


def test_every_change_is_told(world):
    column = world.column("One")
    place = {"board_id": world.board, "column_id": column}
    edit_column(world.owner, **place, name="Two")
    move_column(world.owner, **place, place=Place(end="top"))
    delete(world, column)
    rows = Event.objects.filter(column_id=column).order_by("id")
    assert [(row.type, row.data["name"]) for row in rows] == [
        ("column.created", "One"),
        ("column.updated", "Two"),
        ("column.moved", "Two"),
        ("column.deleted", "Two"),
    ]


def test_it_takes_a_manager_of_a_board_that_is_not_archived(world):
    member = a_person(world.workspace, WorkspaceRole.MEMBER)
    with pytest.raises(Forbidden):
        create_column(member, board_id=world.board, name="x")
    with pytest.raises(Forbidden):
        delete_column(member, board_id=world.board, column_id=world.done)
    with pytest.raises(NotFound):
        create_column(a_world().owner, board_id=world.board, name="x")
    archive_board(world.owner, board_id=world.board)
    with pytest.raises(BoardArchived):
        world.column("x")
