"""Dead letters as people look into them: input, output and all attempts side by side.

JSON is shown as PostgreSQL keeps it, so that no number loses a digit on the way.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Count, F, Func, TextField, Window
from django.db.models.functions import Left, RowNumber

from accounts.callers import Caller
from accounts.errors import NotFound
from accounts.pages import Page, Walk
from accounts.roles import BoardRole
from accounts.shapes import ActorRef, actor_ref
from boards import access
from boards.models import DEAD, Board, BoardMember, Card, Column
from boards.shapes import card_key
from leases.models import Lease
from supervision.letters import LetterFilter, leases_of, matching, note_of, page_of

MAX_ATTEMPTS = 8
MAX_JSON_CHARACTERS = 20_000


@dataclass(frozen=True)
class AttemptView:
    id: UUID
    number: int
    state: str
    outcome: str
    holder: ActorRef | None
    began: datetime
    ended: datetime | None
    reason: str
    note: str
    output: str


@dataclass(frozen=True)
class LetterView:
    """`input`, `properties` and `output` are JSON, cut where they're very long;
    `attempts` the latest first, `total` counts those not shown, too."""

    id: UUID
    key: str
    title: str
    board_id: UUID
    board: str
    column: str
    failed_in: str
    labels: list[str]
    version: int
    group: str
    reason: str
    note: str
    holder: ActorRef | None
    failed_at: datetime
    input: str
    properties: str
    output: str
    attempts: list[AttemptView]
    total: int
    may_act: bool


@dataclass(frozen=True)
class Place:
    """A column, for a choice; `may_put` cards there."""

    id: UUID
    name: str
    board_id: UUID
    board: str
    is_queue: bool
    may_put: bool


def places(caller: Caller) -> list[Place]:
    """All columns of the boards that one may see, board by board. Three statements."""
    boards = Board.objects.filter(access.visible(caller), archived_at=None)
    named = {
        one.board_id: one.role
        for one in BoardMember.objects.filter(actor_id=caller.actor_id)
    }
    seen = {board.pk: board for board in boards}
    columns = Column.objects.filter(board__in=seen, archived_at=None)
    found = [
        Place(
            column.pk,
            column.name,
            column.board_id,
            seen[column.board_id].name,
            column.is_queue,
            _may_put(caller, seen[column.board_id], named),
        )
        for column in columns.order_by("position", "id")
    ]
    return sorted(found, key=lambda one: (one.board.casefold(), str(one.board_id)))


def look(
    caller: Caller,
    wanted: LetterFilter,
    where: Iterable[Place],
    *,
    page_size: int,
    page_token: str,
) -> Page[LetterView]:
    """A page of those that match, newest first. Raises NotFound, BadCursor."""
    walk = Walk.through("inspector", wanted)
    cursor = walk.cursor(page_token)
    rows = page_of(_with_json(matching(caller, wanted)), page_size, cursor)
    return Page(_views(caller, rows.items, where), walk.token(rows.next_page_token))


def look_at(caller: Caller, card_id: UUID, where: Iterable[Place]) -> LetterView:
    """Raises NotFound, also for what is no dead letter."""
    rows = matching(caller, LetterFilter()).filter(pk=card_id)
    found = page_of(_with_json(rows), 1, "").items
    if not found:
        raise NotFound("There is no such dead letter here.")
    return _views(caller, found, where)[0]


def input_of(caller: Caller, card_id: UUID) -> str:
    """The whole input as JSON. Raises NotFound."""
    row = Card.objects.filter(DEAD, pk=card_id, workspace_id=caller.workspace_id)
    found = (
        row.annotate(text=_pretty("payload")).values_list("board_id", "text").first()
    )
    if found is None or not access.can_see(caller, found[0]):
        raise NotFound("There is no such dead letter here.")
    return found[1] or ""


def _may_put(caller: Caller, board: Board, named: dict[UUID, int]) -> bool:
    role = named.get(board.pk) or board.default_role
    return caller.is_admin() or (role or 0) >= BoardRole.EDITOR


def _pretty(field: str) -> Func:
    return Func(F(field), function="jsonb_pretty", output_field=TextField())


def _cut(field: str) -> Left:
    return Left(_pretty(field), MAX_JSON_CHARACTERS + 1)


def _with_json(rows: Any) -> Any:
    return rows.annotate(
        input_text=_cut("payload"),
        properties_text=_cut("properties"),
        output_text=_cut("output"),
    ).defer("payload", "properties", "output", "description")


def _views(caller: Caller, rows: list[Any], where: Iterable[Place]) -> list[LetterView]:
    leases = leases_of(rows)
    attempts = _attempts([row.pk for row in rows])
    known = {one.id: one for one in where}
    boards = {one.board_id: one for one in known.values()}
    return [
        _view(caller, row, leases, attempts.get(row.pk, ([], 0)), known, boards)
        for row in rows
    ]


def _view(
    caller: Caller,
    row: Any,
    leases: dict[UUID, Lease],
    attempts: tuple[list[AttemptView], int],
    known: dict[UUID, Place],
    boards: dict[UUID, Place],
) -> LetterView:
    note, board = note_of(row), boards.get(row.board_id)
    lease = leases.get(note.lease_id) if note else None
    lies, failed_in = known.get(row.column_id), known.get(row.failed_in)
    return LetterView(
        id=row.pk,
        key=card_key(caller.workspace_key, row.number),
        title=row.title,
        board_id=row.board_id,
        board=board.board if board else "",
        column=lies.name if lies else "",
        failed_in=failed_in.name if failed_in else "",
        labels=row.labels,
        version=row.version,
        group=row.group,
        reason=lease.reason if lease else row.group,
        note=lease.note if lease else "",
        holder=actor_ref(note.holder) if note else None,
        failed_at=row.failed_at,
        input=row.input_text or "",
        properties="" if row.properties_text == "{\n}" else row.properties_text or "",
        output=row.output_text or "",
        attempts=attempts[0],
        total=attempts[1],
        may_act=board.may_put if board else False,
    )


def _attempts(cards: list[UUID]) -> dict[UUID, tuple[list[AttemptView], int]]:
    """The latest few of each card, and how many there are."""
    numbered = Lease.objects.filter(card__in=cards).annotate(
        place=Window(RowNumber(), partition_by="card_id", order_by="-acquired_at"),
        total=Window(Count("id"), partition_by="card_id"),
    )
    rows = (
        numbered.filter(place__lte=MAX_ATTEMPTS)
        .select_related("holder")
        .annotate(output_text=_cut("output"))
        .defer("output")
        .order_by("card_id", "place")
    )
    found: dict[UUID, tuple[list[AttemptView], int]] = {}
    for row in rows:
        found.setdefault(row.card_id, ([], row.total))[0].append(_attempt(row))
    return found


def _attempt(row: Any) -> AttemptView:
    return AttemptView(
        id=row.pk,
        number=row.attempt,
        state=row.state,
        outcome=row.outcome,
        holder=actor_ref(row.holder),
        began=row.acquired_at,
        ended=row.ended_at,
        reason=row.reason,
        note=row.note,
        output=row.output_text or "",
    )
