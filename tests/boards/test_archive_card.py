"""Putting a card away and bringing it back."""

import pytest

from accounts.errors import Conflict, Forbidden, NotFound
from accounts.roles import BoardRole
from boards.errors import VersionMismatch
from boards.reads import CardFilter, cards
from boards.verbs.boards import edit_board
from boards.verbs.cards import archive_card, restore_card
from boards.verbs.columns import delete_column
from boards.verbs.moving import move_card
from tests.builders import a_world, card_row, event_types, snapshot


def test_an_archived_card_leaves_the_board_and_comes_back_at_the_end(world):
    a, b, c = world.add_many(3)
    archive_card(world.owner, card_id=a)
    assert world.shown() == [b, c]
    away = CardFilter(board_id=world.board, archived=True)
    found = cards(world.owner, away, page_size=10, page_token="").items
    assert [one.id for one in found] == [a]
    restore_card(world.owner, card_id=a)
    assert world.shown() == [b, c, a]
    assert event_types(a) == ["card.created", "card.archived", "card.restored"]


def test_both_are_idempotent(world):
    card = world.add()
    restore_card(world.owner, card_id=card)
    assert card_row(card).version == 1
    archive_card(world.owner, card_id=card)
    before = snapshot(world)
    archive_card(world.owner, card_id=card)
    assert snapshot(world) == before


def test_a_restored_card_goes_on_as_what_it_was(world):
    world.add()
    card = world.fail_card(retry_after_seconds=60)
    archive_card(world.owner, card_id=card)
    assert world.ask().reason == "drained"
    restore_card(world.owner, card_id=card)
    assert world.ask().reason == "waiting"
    assert card_row(card).attempts == 1


def test_a_restored_card_is_judged_again(world):
    world.set(input_schema={"properties": {"payload": {"type": "object"}}})
    card = world.add(payload={})
    world.ask(count=50)
    card = world.add(payload={})
    archive_card(world.owner, card_id=card)
    world.set(input_schema={"properties": {"payload": {"type": "string"}}})
    restore_card(world.owner, card_id=card)
    assert world.ask().card is None
    assert card_row(card).fits is False


def test_a_card_whose_column_is_gone_is_moved_before_it_is_restored(world):
    column = world.column("Short-lived")
    card = world.add(column=column)
    archive_card(world.owner, card_id=card)
    delete_column(world.owner, board_id=world.board, column_id=column)
    with pytest.raises(Conflict):
        restore_card(world.owner, card_id=card)
    move_card(world.owner, card_id=card, column_id=world.done)
    restore_card(world.owner, card_id=card)
    assert world.shown(world.done) == [card]


def test_a_version_that_is_not_the_present_one_is_refused(world):
    card = world.add()
    with pytest.raises(VersionMismatch):
        archive_card(world.owner, card_id=card, version=2)
    archive_card(world.owner, card_id=card, version=1)


def test_it_takes_an_editor_who_sees_the_card(world):
    card = world.add()
    edit_board(world.owner, board_id=world.board, default_role=BoardRole.COMMENTER)
    for verb in (archive_card, restore_card):
        with pytest.raises(Forbidden):
            verb(world.worker, card_id=card)
        with pytest.raises(NotFound):
            verb(a_world().owner, card_id=card)
    assert card_row(card).archived_at is None
