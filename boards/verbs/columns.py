"""Columns: create, change, move, delete."""

from uuid import UUID

import msgspec
from django.db import transaction

from accounts.callers import Caller
from accounts.errors import Conflict, Invalid
from accounts.roles import BoardRole
from boards import access, events
from boards.errors import ColumnNotEmpty
from boards.models import Board, Card, ClockTimestamp, Column
from boards.verbs.guard import Free
from boards.verbs.moving import locked_column, put_all
from boards.verbs.places import Place, place_column
from boards.verbs.text import name_of

MAX_COLUMNS = 100
MAX_WIP_LIMIT = 100_000


@transaction.atomic
def create_column(
    caller: Caller,
    *,
    board_id: UUID,
    name: str,
    color: str = "",
    wip_limit: int | None = None,
) -> UUID:
    """A column at the right end of the board. Managers. Raises Invalid."""
    access.require(caller, board_id, BoardRole.MANAGER)
    present = Column.objects.filter(board_id=board_id, archived_at=None)
    if present.count() >= MAX_COLUMNS:
        raise Invalid(f"A board has at most {MAX_COLUMNS} columns.")
    column = Column.objects.create(
        board_id=board_id, name=name_of(name), color=color, wip_limit=wip_limit
    )
    _record(caller, events.COLUMN_CREATED, column)
    return column.pk


@transaction.atomic
def edit_column(
    caller: Caller,
    *,
    board_id: UUID,
    column_id: UUID,
    name: str | msgspec.UnsetType = msgspec.UNSET,
    color: str | msgspec.UnsetType = msgspec.UNSET,
    wip_limit: int | msgspec.UnsetType | None = msgspec.UNSET,
) -> UUID:
    """Change what is given. Managers. Raises NotFound, Forbidden, Invalid."""
    access.require(caller, board_id, BoardRole.MANAGER)
    column = locked_column(board_id, column_id)
    if name is not msgspec.UNSET:
        column.name = name_of(name)
    if color is not msgspec.UNSET:
        column.color = color
    if wip_limit is not msgspec.UNSET:
        column.wip_limit = wip_limit
    column.save()
    _record(caller, events.COLUMN_UPDATED, column)
    return column.pk


@transaction.atomic
def move_column(
    caller: Caller, *, board_id: UUID, column_id: UUID, place: Place
) -> UUID:
    """Put the column before or after another one, or at an end. Managers."""
    access.require(caller, board_id, BoardRole.MANAGER)
    # Its neighbours must stay where they are meanwhile.
    Board.objects.select_for_update(no_key=True).get(pk=board_id)
    column = locked_column(board_id, column_id)
    place_column(column, place)
    _record(caller, events.COLUMN_MOVED, column)
    return column.pk


@transaction.atomic
def delete_column(
    caller: Caller,
    *,
    board_id: UUID,
    column_id: UUID,
    move_cards_to: UUID | None = None,
    free: Free | None = None,
) -> UUID:
    """Take the column off the board, its cards to the end of another one.

    Refused while it has cards and no destination is named (ColumnNotEmpty), while it is
    an enabled queue (Conflict: disable the contract first), and while its cards are
    being worked on (CardHeld, unless `free`). Managers. Its history stays.
    """
    access.require(caller, board_id, BoardRole.MANAGER)
    if move_cards_to == column_id:
        raise Invalid.at("/move_cards_to", "same_column", "Name another column.")
    # Alone, so that no card is on its way here and would be lost; lower id first.
    locked = {
        one: locked_column(board_id, one, alone=one == column_id)
        for one in sorted({column_id, move_cards_to or column_id})
    }
    column = locked[column_id]
    target = locked[move_cards_to] if move_cards_to else None
    if column.is_queue:
        raise Conflict("This column is a queue. Disable its contract first.")
    cards = Card.objects.locked().filter(column=column).order_by("id")
    if target:
        put_all(caller, cards, target, free)
    elif cards.filter(archived_at=None).exists():
        raise ColumnNotEmpty
    column.archived_at = ClockTimestamp()
    column.save()
    _record(caller, events.COLUMN_DELETED, column)
    return column.pk


def _record(caller: Caller, type: str, column: Column) -> None:
    events.record(
        caller,
        type,
        board=column.board_id,
        column_id=column.pk,
        data={"name": column.name},
    )
