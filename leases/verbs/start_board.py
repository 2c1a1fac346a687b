"""A new board from a template: columns, some of them queues already."""

from dataclasses import dataclass
from uuid import UUID

from django.db import transaction

from accounts.callers import Caller
from accounts.errors import Invalid
from accounts.roles import BoardRole
from boards.verbs.boards import create_board
from boards.verbs.columns import create_column
from leases.verbs.set_contract import Terms, set_contract


@dataclass(frozen=True)
class Plan:
    """Columns from left to right; `queues` says where success and failure lead."""

    columns: tuple[str, ...] = ()
    queues: tuple[tuple[str, str, str], ...] = ()


PLANS = {
    "empty": Plan(),
    "kanban": Plan(("To do", "Doing", "Done")),
    "pipeline": Plan(
        ("Backlog", "Drafting", "Review", "Needs attention", "Done"),
        (
            ("Drafting", "Review", "Needs attention"),
            ("Review", "Done", "Needs attention"),
        ),
    ),
}


@transaction.atomic
def start_board(
    caller: Caller,
    *,
    name: str,
    description: str = "",
    default_role: BoardRole | None = BoardRole.EDITOR,
    plan: str = "empty",
) -> UUID:
    """A board after one of PLANS; its creator is manager. Raises Invalid."""
    if plan not in PLANS:
        detail = f"Templates are {', '.join(PLANS)}."
        raise Invalid.at("/plan", "unknown_plan", detail)
    board_id = create_board(
        caller, name=name, description=description, default_role=default_role
    )
    ids = {
        title: create_column(caller, board_id=board_id, name=title)
        for title in PLANS[plan].columns
    }
    for queue, success, failure in PLANS[plan].queues:
        terms = Terms(
            enabled=True,
            on_success_column_id=ids[success],
            on_failure_column_id=ids[failure],
        )
        set_contract(caller, board_id=board_id, column_id=ids[queue], terms=terms)
    return board_id
