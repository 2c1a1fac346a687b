"""Try a schema on what there is, before it's set. Nothing is written."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from time import monotonic
from typing import Any
from uuid import UUID

from accounts.callers import Caller
from accounts.errors import FieldError
from accounts.roles import BoardRole
from boards import access
from boards.models import Card
from boards.reads import column_on
from boards.shapes import card_key
from leases import schemas
from leases.errors import InvalidContract
from leases.models import Lease
from leases.schemas import Problem
from leases.verbs.judge import as_received

MAX_TRIED = 500
MAX_MISFITS_SHOWN = 50
MAX_PROBLEMS_SHOWN = 5
# A page waits for it, so it may take this long in all.
TRIAL_SECONDS = 3.0


@dataclass(frozen=True)
class Misfit:
    card_id: UUID
    key: str
    title: str
    problems: list[Problem]


@dataclass(frozen=True)
class Trial:
    """`tried` of `total` were judged (the first 500, fewer when time ran out), and
    `misfits` of them don't fit; `shown` has the first 50 of those."""

    total: int
    tried: int
    misfits: int
    shown: list[Misfit]

    @property
    def fits(self) -> int:
        return self.tried - self.misfits

    @property
    def hidden(self) -> int:
        return self.misfits - len(self.shown)


def try_input(caller: Caller, *, board_id: UUID, column_id: UUID, schema: Any) -> Trial:
    """Which cards of the column wouldn't fit as input. Managers.

    Raises NotFound, Forbidden, InvalidContract (the schema itself won't do).
    """
    _check(caller, board_id, column_id, schema, "input_schema")
    cards = Card.objects.present().filter(column_id=column_id)
    first = cards.in_order()[:MAX_TRIED]
    return _try(caller, schema, cards.count(), first, as_received)


def try_output(
    caller: Caller, *, board_id: UUID, column_id: UUID, schema: Any
) -> Trial:
    """The same for the results that its cards were completed with, latest first."""
    _check(caller, board_id, column_id, schema, "output_schema")
    done = Lease.objects.filter(
        board_id=board_id, column_id=column_id, state=Lease.State.COMPLETED
    )
    outputs: dict[UUID, Any] = {}
    latest = done.select_related("card").order_by("-id")[:MAX_TRIED]
    rows = [row.card for row in latest if outputs.setdefault(row.card_id, row) is row]
    return _try(caller, schema, len(rows), rows, lambda card: outputs[card.pk].output)


def _check(
    caller: Caller, board_id: UUID, column_id: UUID, schema: Any, name: str
) -> None:
    access.require(caller, board_id, BoardRole.MANAGER)
    column_on(board_id, column_id)
    try:
        schemas.accept(schema)
    except schemas.BadSchema as bad:
        error = FieldError(f"/{name}{bad.pointer}", "bad_schema", bad.detail)
        raise InvalidContract(errors=[error]) from bad


def _try(
    caller: Caller,
    schema: Any,
    total: int,
    cards: Iterable[Card],
    value_of: Callable[[Card], Any],
) -> Trial:
    deadline = monotonic() + TRIAL_SECONDS
    tried, misfits = 0, []
    for card in cards:
        if monotonic() > deadline:
            break
        tried += 1
        problems = schemas.problems(schema, value_of(card))
        if problems:
            misfits.append((card, problems[:MAX_PROBLEMS_SHOWN]))
    shown = [
        Misfit(
            card.pk, card_key(caller.workspace_key, card.number), card.title, problems
        )
        for card, problems in misfits[:MAX_MISFITS_SHOWN]
    ]
    return Trial(total, tried, len(misfits), shown)
