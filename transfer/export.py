"""A board as a document, written card by card: 100,000 of them need no more memory than
five hundred.

Everything is read in one transaction that sees one moment, and written to a file first:
whoever downloads it slowly keeps no transaction open.
"""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import batched
from tempfile import SpooledTemporaryFile
from typing import IO, Any
from uuid import UUID

import msgspec
from django.db import connection, transaction

from accounts.callers import Caller
from accounts.models import Actor
from accounts.roles import BoardRole
from boards import access
from boards.models import Board, Card, ClockTimestamp, Column, Comment
from leases.models import Contract, Lease
from transfer import shapes
from transfer.contract import EXPORTED_AT_ONCE, FORMAT, VERSION
from transfer.models import Former, QueueName
from transfer.numbers import exact

SPOOLED_BYTES = 1024 * 1024
AT_WORK = "It was at work when the board was exported."
_ORDER = ("column__position", "column_id", "position", "id")


@dataclass(frozen=True)
class BoardFile:
    """At its beginning; whoever takes it closes it."""

    name: str
    size: int
    content: IO[bytes]


def export_board(caller: Caller, *, board_id: UUID) -> BoardFile:
    """The board with all that is on it. Raises NotFound.

    A card at work is told as open, its attempt as released when its holder was last
    heard of: nobody can hold a copy. What has waited long enough waits no more.
    """
    access.require(caller, board_id, BoardRole.VIEWER)
    # Closed by whoever sends it.
    file: Any = SpooledTemporaryFile(max_size=SPOOLED_BYTES)  # noqa: SIM115
    with transaction.atomic():
        if len(connection.savepoint_ids) == 0:
            with connection.cursor() as cursor:
                cursor.execute(
                    "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY"
                )
        board = Board.objects.get(pk=board_id)
        for piece in _pieces(board):
            file.write(piece)
    size = file.tell()
    file.seek(0)
    return BoardFile(board.name, size, file)


def _pieces(board: Board) -> Iterator[bytes]:
    told = _Telling(board)
    head = msgspec.json.encode(
        {"format": FORMAT, "version": VERSION, "board": told.board()}
    )
    yield head[:-1] + b',"columns":['
    yield from _lines(told.columns())
    yield b'],"cards":['
    yield from _lines(told.cards())
    yield b"]}"


def _lines(parts: Iterator[Any]) -> Iterator[bytes]:
    """One a line, so that two exports can be compared by any tool."""
    before = b"\n"
    for part in parts:
        yield before + msgspec.json.encode(part)
        before = b",\n"
    if before != b"\n":
        yield b"\n"


class _Telling:
    """The rows of one board in the words of a document."""

    def __init__(self, board: Board) -> None:
        self._board = board
        self._columns = list(
            Column.objects.filter(board=board).order_by("position", "id")
        )
        self._places = {row.pk: i for i, row in enumerate(self._columns)}
        self._now: datetime = (
            Board.objects.annotate(clock=ClockTimestamp())
            .values_list("clock", flat=True)
            .get(pk=board.pk)
        )
        self._handles = _handles(board.workspace_id)

    def board(self) -> shapes.BoardPart:
        row = self._board
        return shapes.BoardPart(
            name=row.name,
            description=row.description,
            default_role=row.get_default_role_display() if row.default_role else None,  # type: ignore[arg-type]
            archived_at=row.archived_at,
            created_at=row.created_at,
        )

    def columns(self) -> Iterator[shapes.ColumnPart]:
        contracts = {
            row.pk: row for row in Contract.objects.filter(column__in=self._columns)
        }
        borrowed = {
            row.pk: row for row in QueueName.objects.filter(column__in=self._columns)
        }
        for row in self._columns:
            contract = contracts.get(row.pk)
            yield shapes.ColumnPart(
                name=row.name,
                color=row.color,
                wip_limit=row.wip_limit,
                archived_at=row.archived_at,
                created_at=row.created_at,
                contract=None
                if contract is None
                else self._contract(contract, borrowed.get(row.pk)),
            )

    def _contract(
        self, row: Contract, borrowed: QueueName | None
    ) -> shapes.ContractPart:
        is_borrowed = borrowed is not None and borrowed.given == row.queue
        return shapes.ContractPart(
            enabled=row.enabled,
            queue=borrowed.wished if borrowed and is_borrowed else row.queue,
            paused=row.paused,
            pause_reason=row.pause_reason,
            lease_ttl_seconds=row.lease_ttl_seconds,
            max_attempts=row.max_attempts,
            backoff_seconds=row.backoff_seconds,
            on_success=self._place(row.on_success_column_id),
            on_failure=self._place(row.on_failure_column_id),
            concurrency_limit=row.concurrency_limit,
            input_schema=exact(row.input_schema),
            output_schema=exact(row.output_schema),
        )

    def _place(self, column_id: UUID | None) -> int | None:
        return self._places.get(column_id) if column_id else None

    def cards(self) -> Iterator[shapes.CardPart]:
        rows = Card.objects.filter(
            workspace_id=self._board.workspace_id, board=self._board
        ).order_by(*_ORDER)
        parents = self._parents()
        for chunk in batched(
            rows.iterator(chunk_size=EXPORTED_AT_ONCE), EXPORTED_AT_ONCE
        ):
            ids = [row.pk for row in chunk]
            comments = _by_card(Comment.objects.filter(card__in=ids).order_by("id"))
            leases = _by_card(
                Lease.objects.filter(card__in=ids).order_by("acquired_at", "id")
            )
            for row in chunk:
                yield self._card(
                    row, parents.get(row.parent_id), comments[row.pk], leases[row.pk]
                )

    def _parents(self) -> dict[UUID | None, int]:
        """Where the cards stand that others are a part of."""
        cards = Card.objects.filter(
            workspace_id=self._board.workspace_id, board=self._board
        )
        wanted = set(cards.exclude(parent=None).values_list("parent_id", flat=True))
        if not wanted:
            return {}
        ids = cards.order_by(*_ORDER).values_list("pk", flat=True)
        return {pk: i for i, pk in enumerate(ids.iterator()) if pk in wanted}

    def _card(
        self,
        row: Card,
        parent: int | None,
        comments: list[Comment],
        leases: list[Lease],
    ) -> shapes.CardPart:
        at_work = row.is_claimed()
        waits = row.available_at is not None and row.available_at > self._now
        return shapes.CardPart(
            column=self._places[row.column_id],
            title=row.title,
            description=row.description,
            priority=row.priority,
            labels=row.labels,
            skills=row.skills,
            assignee=self._handle(row.assignee_id),
            due=row.due,
            parent=parent,
            properties=exact(row.properties),
            payload=exact(row.payload),
            output=exact(row.output),
            state="open" if at_work else row.state,  # type: ignore[arg-type]
            not_before=row.available_at if waits and row.state == "open" else None,
            attempts=max(0, row.attempts - 1) if at_work else row.attempts,
            cancelled_at=row.cancelled_at,
            waits=row.waits,
            waits_since=row.waits_since,
            created_by=self._handle(row.created_by_id),
            created_at=row.created_at,
            updated_at=row.updated_at,
            archived_at=row.archived_at,
            comments=[self._comment(one) for one in comments],
            leases=[self._attempt(one, row) for one in leases],
        )

    def _comment(self, row: Comment) -> shapes.CommentPart:
        return shapes.CommentPart(
            author=self._handle(row.author_id),
            text=row.text,
            created_at=row.created_at,
            edited_at=row.edited_at,
        )

    def _attempt(self, row: Lease, card: Card) -> shapes.AttemptPart:
        """One in a column of another board, where the card was then, is told as one in
        the card's."""
        is_active = row.state == Lease.State.ACTIVE
        ended_at = row.renewed_at or row.acquired_at if is_active else row.ended_at
        place = self._places.get(row.column_id, self._places[card.column_id])
        return shapes.AttemptPart(
            attempt=row.attempt,
            column=place,
            holder=self._handles[row.holder_id],
            state="released" if is_active else row.state,  # type: ignore[arg-type]
            acquired_at=row.acquired_at,
            ended_at=ended_at or row.acquired_at,
            expires_at=row.expires_at,
            seconds=row.seconds,
            renewals=row.renewals,
            renewed_at=row.renewed_at,
            outcome=row.outcome,  # type: ignore[arg-type]
            failure=row.failure,  # type: ignore[arg-type]
            reason=AT_WORK if is_active else row.reason,
            note=row.note,
            output=exact(row.output),
            next_due=row.next_due,
            doing=row.doing,
            doing_at=row.doing_at,
            cancel_requested_at=row.cancel_requested_at,
            cancel_requested_by=self._handle(row.cancel_requested_by_id),
            cancel_reason=row.cancel_reason,
            cancel_told_at=row.cancel_told_at,
        )

    def _handle(self, actor_id: UUID | None) -> str | None:
        return self._handles.get(actor_id) if actor_id else None


def _handles(workspace_id: UUID) -> dict[UUID, str]:
    actors = Actor.objects.in_workspace(workspace_id).values_list("pk", "handle")
    former = Former.objects.filter(workspace_id=workspace_id)
    return dict(actors) | dict(former.values_list("pk", "handle"))


def _by_card(rows: Any) -> defaultdict[UUID, list[Any]]:
    found: defaultdict[UUID, list[Any]] = defaultdict(list)
    for row in rows:
        found[row.card_id].append(row)
    return found
