"""A board out and in again is the same board."""


import pytest

from boards.verbs.boards import edit_board
from boards.verbs.cards import archive_card
from boards.verbs.columns import delete_column
from boards.verbs.comments import add_comment
from leases.verbs.complete import complete
from leases.verbs.give_back import fail, release
from tests.builders import a_person, a_workspace, a_world, receipt
from transfer.export import export_board
from transfer.models import ImportRun
from transfer.shapes import Target
from transfer.verbs.imports import import_content


def exported(caller, board):
    with export_board(caller, board_id=board).content as file:
        return file.read()


def imported(caller, content, **more):
    pk = import_content(caller, content=content, target=Target(), again=True, **more)
    return ImportRun.objects.get(pk=pk).board_id


@pytest.fixture
def world(db):
    """A board on which everything has happened."""
    world = a_world(
        backoff_seconds=[3600],
        concurrency_limit=3,
        input_schema={"type": "object", "properties": {"priority": {"maximum": 1e20}}},
    )
    done = world.add("Done", properties={"b": 1, "a": [1e20, None, 0.5]}, payload=[{}])
    held = world.claim()
    complete(world.worker, **receipt(held), output={"words": 312})
    add_comment(world.worker, card_id=done, text="Here it is.\n\n— ✓")
    world.add("Waits")
    fail(world.worker, **receipt(world.claim()), reason="Not now")
    world.add("Failed")
    fail(world.worker, **receipt(world.claim()), requeue=False, reason="Never")
    at_work = world.add("At work", skills=[], labels=["a", "b"], priority=1)
    release(world.worker, **receipt(world.claim()), note="Begin at page 3")
    world.claim()
    world.add("Part", parent=at_work, assignee=world.owner.handle)
    archive_card(world.owner, card_id=world.add("Away"))
    gone = world.column("Gone")
    archive_card(world.owner, card_id=world.add("Left behind", column=gone))
    delete_column(world.owner, board_id=world.board, column_id=gone)
    edit_board(world.owner, board_id=world.board, description="Ünicode\u2028 text")
    return world


def test_into_the_same_workspace_and_into_another_one(world):
    first = exported(world.owner, world.board)
    assert imported(world.owner, first) != world.board
    for caller in (world.owner, a_person(a_workspace())):
        again = exported(caller, imported(caller, first))
        assert again == first
        # And a copy of the copy, where the people are known as former ones already.
        assert exported(caller, imported(caller, again)) == first
