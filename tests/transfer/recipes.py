"""For every operation of boards in and out a call that works."""

from typing import Any

from accounts.callers import Caller
from tests.builders import World
from transfer.verbs.imports import take_file

TABLE = "title,list\nCall the printer,To do\n"


def _document(world: World, by: Caller | None) -> dict[str, Any]:
    return {
        "document": {
            "format": "novum-board",
            "version": 1,
            "board": {"name": "Copied"},
            "columns": [{"name": "To do"}],
            "cards": [{"column": 0, "title": "Call the printer"}],
        }
    }


def _import(world: World, by: Caller | None) -> dict[str, Any]:
    """Their own, if they are somebody here."""
    is_ours = by and by.workspace_id == world.workspace.pk
    run, _ = take_file(by if by and is_ours else world.owner, content=TABLE.encode())
    return {"import_id": run.pk}


RECIPES = {
    "export_board": lambda world, by: {"board_id": world.board},
    "import_board": _document,
    "preview_import": lambda world, by: {"text": TABLE},
    "import_file": lambda world, by: {"text": TABLE},
    "get_import": _import,
}
