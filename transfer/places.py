"""Where the cards of a document go: columns that are there, and those to be made."""

import re
from dataclasses import dataclass
from uuid import UUID

from accounts.callers import Caller
from accounts.errors import Conflict, Invalid
from accounts.roles import BoardRole
from boards import access
from boards.models import Board, Column
from boards.verbs.boards import create_board
from boards.verbs.columns import create_column
from boards.verbs.moving import locked_column
from leases.models import Contract
from leases.verbs.set_contract import Terms, set_contract
from transfer.contract import MAX_COLUMNS
from transfer.models import QueueName
from transfer.shapes import (
    BoardDocument,
    BoardPart,
    ColumnPart,
    ContractPart,
    Target,
)
from transfer.staging import Ground, ground_of


@dataclass(frozen=True)
class Places:
    """For each column of the document one that is there, or None: to be made. The
    grounds tell what the cards were made ready for."""

    board_id: UUID | None
    found: list[UUID | None]
    grounds: list[Ground]


def find_places(caller: Caller, document: BoardDocument, target: Target) -> Places:
    """Raises NotFound, Forbidden, BoardArchived, Invalid."""
    if target.board_id is None:
        if target.column_id is not None:
            detail = "Say the column's board, too."
            raise Invalid.at("/board_id", "required", detail)
        _check_count(document, [])
        grounds = [_ground_to_be(column) for column in document.columns]
        return Places(None, [None] * len(grounds), grounds)
    access.require(caller, target.board_id, BoardRole.EDITOR)
    there = list(Column.objects.filter(board_id=target.board_id, archived_at=None))
    if target.column_id is not None:
        column = next((one for one in there if one.pk == target.column_id), None)
        if column is None:
            detail = "There is no such column on this board."
            raise Invalid.at("/column_id", "unknown_column", detail)
        count = len(document.columns)
        return Places(target.board_id, [column.pk] * count, [ground_of(column)] * count)
    return _by_name(caller, document, target.board_id, there)


def _by_name(
    caller: Caller, document: BoardDocument, board_id: UUID, there: list[Column]
) -> Places:
    known = {column.name.casefold(): column for column in reversed(there)}
    found = [
        None if one.archived_at else known.get(one.name.strip().casefold())
        for one in document.columns
    ]
    if None in found:
        # Editors add cards; whoever needs new columns must be a manager.
        access.require(caller, board_id, BoardRole.MANAGER)
    _check_count(document, there)
    grounds = [
        ground_of(column) if column else _ground_to_be(part)
        for column, part in zip(found, document.columns, strict=True)
    ]
    return Places(board_id, [one.pk if one else None for one in found], grounds)


def _check_count(document: BoardDocument, there: list[Column]) -> None:
    names = {one.name.casefold() for one in there}
    new = [
        one
        for one in document.columns
        if not one.archived_at and one.name.strip().casefold() not in names
    ]
    if len(new) + len(there) > MAX_COLUMNS:
        raise Invalid(
            f"That would be {len(new) + len(there)} columns; a board has at most"
            f" {MAX_COLUMNS}. Choose another column of the table for the list, or one"
            " column of a board for all."
        )


def _ground_to_be(column: ColumnPart) -> Ground:
    contract, gone = column.contract, column.archived_at
    enabled = contract is not None and contract.enabled and gone is None
    checks = enabled and contract is not None and contract.input_schema is not None
    return Ground(is_queue=enabled, checks_input=checks, archived_at=gone)


def make_places(
    caller: Caller, document: BoardDocument, target: Target, places: Places
) -> tuple[UUID, list[UUID]]:
    """The board and a column for each of the document's, in the caller's transaction.

    Raises what the verbs raise, and Conflict when a column has changed meanwhile.
    """
    board_id = places.board_id
    if board_id is None:
        board_id = _make_board(caller, document.board, target.name)
    else:
        _lock_found(board_id, places)
    made: dict[int, UUID] = {}
    for i, part in enumerate(document.columns):
        if places.found[i] is None:
            made[i] = create_column(
                caller,
                board_id=board_id,
                name=part.name,
                color=part.color,
                wip_limit=part.wip_limit,
            )
    ids = [found or made[i] for i, found in enumerate(places.found)]
    for i in made:
        contract = document.columns[i].contract
        if contract is not None and document.columns[i].archived_at is None:
            _make_queue(caller, board_id, ids, i, contract)
    _date_columns(document, made)
    if places.board_id is None:
        _date_board(document.board, board_id)
    return board_id, ids


def _make_board(caller: Caller, part: BoardPart, name: str) -> UUID:
    role = BoardRole[part.default_role.upper()] if part.default_role else None
    return create_board(
        caller,
        name=name or part.name,
        description=part.description,
        default_role=role,
    )


def _lock_found(board_id: UUID, places: Places) -> None:
    wanted = {
        pk: ground
        for pk, ground in zip(places.found, places.grounds, strict=True)
        if pk is not None
    }
    for pk in sorted(wanted):
        if ground_of(locked_column(board_id, pk)) != wanted[pk]:
            raise Conflict("A column has changed meanwhile. Import once more.")


def _make_queue(
    caller: Caller, board_id: UUID, ids: list[UUID], i: int, part: ContractPart
) -> None:
    given = _free_name(caller, part.queue) if part.queue else None
    found = set_contract(
        caller,
        board_id=board_id,
        column_id=ids[i],
        terms=Terms(
            enabled=part.enabled,
            paused=part.paused,
            pause_reason=part.pause_reason,
            queue=given,
            lease_ttl_seconds=part.lease_ttl_seconds,
            max_attempts=part.max_attempts,
            backoff_seconds=part.backoff_seconds,
            on_success_column_id=_of(ids, part.on_success),
            on_failure_column_id=_of(ids, part.on_failure),
            concurrency_limit=part.concurrency_limit,
            input_schema=part.input_schema,
            output_schema=part.output_schema,
        ),
    )
    if part.queue and found.queue != part.queue:
        QueueName.objects.create(column_id=ids[i], wished=part.queue, given=found.queue)


def _of(ids: list[UUID], place: int | None) -> UUID | None:
    return None if place is None else ids[place]


def _free_name(caller: Caller, wished: str) -> str:
    """The name itself, or with a number behind it where it's taken."""
    base = re.sub(r"-\d+$", "", wished[:50]) or "queue"
    taken = set(
        Contract.objects.filter(
            workspace_id=caller.workspace_id, queue__startswith=base
        ).values_list("queue", flat=True)
    )
    name, number = wished, 1
    while name in taken:
        number += 1
        name = f"{base}-{number}"
    return name


def _date_columns(document: BoardDocument, made: dict[int, UUID]) -> None:
    """As old as they were; those that were gone are gone here, too."""
    rows = []
    for i, pk in made.items():
        part = document.columns[i]
        row = Column(pk=pk, archived_at=part.archived_at)
        if part.created_at:
            row.created_at = part.created_at
            rows.append(row)
        elif part.archived_at:
            Column.objects.filter(pk=pk).update(archived_at=part.archived_at)
    if rows:
        Column.objects.bulk_update(rows, ["created_at", "archived_at"])


def _date_board(part: BoardPart, board_id: UUID) -> None:
    dates = {"archived_at": part.archived_at}
    if part.created_at:
        dates["created_at"] = part.created_at
    Board.objects.filter(pk=board_id).update(**dates)
    access.forget()
