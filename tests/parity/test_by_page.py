"""A person's story by the pages: the same rows and events as by REST and MCP.

What differs by nature is only with which credential it was done.
"""

from typing import Any

import pytest

from boards.models import Comment
from tests.builders import World, a_world, snapshot
from tests.doors.http import token_of
from tests.invariants import assert_sound
from tests.parity.doors import DOORS, Door
from tests.parity.page import FORMS, Page
from tests.parity.person import Person
from tests.parity.test_parity import names_of, number, plain

pytestmark = pytest.mark.django_db
# What a page has that REST has not: the person's session instead of a token.
CREDENTIAL = "token_id"


def story(door: Door, world: World) -> Person:
    token = token_of(world.owner)

    def ask(operation: str, **values: Any) -> bool:
        told = door.ask(token, operation, "", **values)
        return told if isinstance(told, bool) else "error" not in told

    person = Person(ask, world)
    person.tell()
    assert_sound(world.workspace.pk)
    return person


def all_of(world: World, person: Person) -> dict[str, Any]:
    rows = snapshot(world)
    comments = Comment.objects.filter(card__board_id=world.board)
    rows["comments"] = list(comments.order_by("id").values())
    number(rows["cards"], "position")
    number(rows["events"], "transaction")
    for row in (*rows["events"], *rows["leases"]):
        row[CREDENTIAL] = None
    return plain({"steps": person.steps, "rows": rows}, names_of(world))


def check_same_as_by_page(door: Door) -> None:
    world = a_world()
    page = all_of(world, story(Page(world), world))
    world = a_world()
    other = all_of(world, story(door, world))
    assert page["steps"] == other["steps"]
    for table, rows in other["rows"].items():
        assert page["rows"][table] == rows, table


@pytest.mark.parametrize("door", DOORS)
def test_the_pages_give_the_same_rows_and_events(door):
    check_same_as_by_page(DOORS[door]())


def test_the_story_does_and_is_refused_everything_that_the_pages_have():
    world = a_world()
    steps = story(Page(world), world).steps
    assert {operation for operation, _ in steps} == set(FORMS)
    assert {operation for operation, done in steps if done} == set(FORMS)
    refused = {operation for operation, done in steps if not done}
    assert refused >= {
        *("set_column_contract", "move_card", "archive_card", "revoke_lease"),
        *("requeue_card", "cancel_card", "tasks.start", "tasks.complete"),
        *("tasks.give_back", "tasks.decline"),
    }
