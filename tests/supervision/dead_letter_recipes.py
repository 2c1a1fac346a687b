"""Calls of the operations on dead letters that work (see tests/doors/recipes)."""

from typing import Any

from accounts.callers import Caller
from supervision.bulk import actions
from supervision.bulk.planning import Selection
from supervision.bulk.rules import Doing
from supervision.letters import LetterFilter
from supervision.models import BulkAction, BulkItem
from tests.builders import World
from tests.supervision.dead import a_dead_letter


def _board(world: World, by: Caller | None) -> dict[str, Any]:
    a_dead_letter(world)
    return {"board_id": world.board}


def _one(world: World, by: Caller | None) -> dict[str, Any]:
    return {"card_id": a_dead_letter(world)}


def _many(world: World, by: Caller | None) -> dict[str, Any]:
    a_dead_letter(world)
    return {"filter": {"board_id": str(world.board)}, "dry_run": False}


def _action(world: World, by: Caller | None) -> dict[str, Any]:
    """With one card whose turn is still to come."""
    a_dead_letter(world)
    doing = Doing("discard", reason="Old")
    made = actions.start(world.owner, doing, Selection(wanted=LetterFilter()))
    assert made.action
    BulkItem.objects.update(state="waiting")
    BulkAction.objects.update(state="running", done=0, ended_at=None)
    return {"bulk_action_id": made.action.id}


RECIPES = {
    "list_dead_letters": _board,
    "list_dead_letter_groups": _board,
    "retry_dead_letter": _one,
    "retry_dead_letters": _many,
    "move_dead_letters": lambda world, by: {
        **_many(world, by),
        "to_column_id": world.column("Triage"),
    },
    "discard_dead_letters": lambda world, by: {**_many(world, by), "reason": "Old"},
    "list_bulk_actions": lambda world, by: {},
    "get_bulk_action": _action,
    "list_bulk_results": _action,
    "run_bulk_action": _action,
    "stop_bulk_action": _action,
}
