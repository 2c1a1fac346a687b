"""The rows that a document becomes, first kept aside, then put in place at once.

So a file of 100,000 cards is all there or not at all, its progress can be seen, and
other transactions wait only for the last step (the feed shows nothing beyond a
transaction that is still open).
"""

import secrets
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import batched
from typing import Any
from uuid import UUID

import msgspec
from django.db import connection, models
from django.db.models import F
from django.utils.timezone import now

from accounts.callers import Caller
from accounts.ids import new_id
from accounts.models import Workspace
from boards.events import CARD_CREATED
from boards.models import Card, Column, Comment
from boards.ordering import GAP
from leases.models import Lease
from transfer.checking import card_fields
from transfer.contract import BATCH
from transfer.numbers import exact
from transfer.shapes import AttemptPart, BoardDocument, CardPart, CommentPart

_STAGE = """
INSERT INTO transfer_stagedrow (run_id, kind, "row")
SELECT %s, %s, r FROM jsonb_array_elements(%s::jsonb) WITH ORDINALITY AS e (r, place)
ORDER BY place
"""
# `column` is a place in the list of columns, which are only made now.
_PUT = """
INSERT INTO {table} SELECT r.* FROM transfer_stagedrow s, LATERAL jsonb_populate_record(
  NULL::{table}, s."row" || jsonb_build_object('board_id', %(board)s::uuid, 'column_id',
    (%(columns)s::uuid[])[(s."row"->>'column')::int + 1])) r
WHERE s.run_id = %(run)s AND s.kind = %(kind)s ORDER BY s.id
"""
_TELL = """
INSERT INTO boards_event (id, workspace_id, transaction, type, actor_id, token_id,
  board_id, column_id, card_id, sequence, data, created_at)
SELECT (s."row"->>'event_id')::uuid, %(workspace)s, pg_current_xact_id()::text::bigint,
  %(type)s, %(actor)s, %(token)s, %(board)s,
  (%(columns)s::uuid[])[(s."row"->>'column')::int + 1], (s."row"->>'id')::uuid, 1,
  jsonb_build_object('title', s."row"->>'title', 'imported', true), clock_timestamp()
FROM transfer_stagedrow s WHERE s.run_id = %(run)s AND s.kind = 'card' ORDER BY s.id
"""
_TABLES: dict[str, type[models.Model]] = {
    "card": Card,
    "comment": Comment,
    "lease": Lease,
}


@dataclass(frozen=True)
class Ground:
    """What cards must know of the column that they come into."""

    is_queue: bool = False
    checks_input: bool = False
    archived_at: datetime | None = None


def stage(
    caller: Caller,
    run_id: UUID,
    document: BoardDocument,
    grounds: list[Ground],
    actors: dict[str, UUID],
    progress: Callable[[int], None],
) -> None:
    """Keep all rows of the document aside. `progress` hears of the cards done so far.

    Raises Invalid for a card that can't be.
    """
    rows = _Rows(caller, document, grounds, actors)
    done = 0
    for chunk in batched(range(len(document.cards)), BATCH):
        positions = _positions(len(chunk))
        cards = [
            rows.card(i, position) for i, position in zip(chunk, positions, strict=True)
        ]
        _keep(run_id, "card", cards)
        _keep(run_id, "comment", (one for i in chunk for one in rows.comments(i)))
        _keep(run_id, "lease", (one for i in chunk for one in rows.leases(i)))
        done += len(chunk)
        progress(done)


def put_in_place(
    caller: Caller, run_id: UUID, board_id: UUID, column_ids: list[UUID]
) -> None:
    """All staged rows of this import into their tables, with an event for each card."""
    values: dict[str, Any] = {
        "run": run_id,
        "board": board_id,
        "columns": column_ids,
        "workspace": caller.workspace_id,
        "actor": caller.actor_id,
        "token": caller.token_id,
        "type": CARD_CREATED,
    }
    with connection.cursor() as cursor:
        for kind, model in _TABLES.items():
            sql = _PUT.format(table=model._meta.db_table)
            cursor.execute(sql, {**values, "kind": kind})
        cursor.execute(_TELL, values)
    clear(run_id)


def clear(run_id: UUID) -> None:
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM transfer_stagedrow WHERE run_id = %s", [run_id])


def _keep(run_id: UUID, kind: str, rows: Iterable[dict[str, Any]]) -> None:
    """In batches: a card may have thousands of comments."""
    with connection.cursor() as cursor:
        for chunk in batched(rows, BATCH):
            text = msgspec.json.encode(chunk).decode()
            cursor.execute(_STAGE, [run_id, kind, text])


def _positions(count: int) -> list[int]:
    """At the end of every column, one behind the other."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT nextval('boards_card_position') FROM generate_series(1, %s)",
            [count],
        )
        return [row[0] * GAP for row in cursor.fetchall()]


def _numbers(caller: Caller, count: int) -> int:
    """The first of `count` fresh card numbers of the workspace."""
    workspace = Workspace.objects.filter(pk=caller.workspace_id)
    workspace.update(last_card_number=F("last_card_number") + count)
    return workspace.values_list("last_card_number", flat=True).get() - count + 1


class _Rows:
    """The rows of one document, made card by card."""

    def __init__(
        self,
        caller: Caller,
        document: BoardDocument,
        grounds: list[Ground],
        actors: dict[str, UUID],
    ) -> None:
        self._caller, self._cards = caller, document.cards
        self._grounds, self._actors = grounds, actors
        self._now = now()
        self._ids = [new_id() for _ in document.cards]
        self._number_of = self._numbered()

    def _numbered(self) -> list[int]:
        """Older cards have the smaller numbers, as if made here one by one."""
        ages = [card.created_at or self._now for card in self._cards]
        found = [0] * len(ages)
        first = _numbers(self._caller, len(ages)) if ages else 0
        for number, i in enumerate(sorted(range(len(ages)), key=ages.__getitem__)):
            found[i] = first + number
        return found

    def card(self, i: int, position: int) -> dict[str, Any]:
        part = self._cards[i]
        fields = card_fields(self._caller, part, f"/cards/{i}")
        created_at = part.created_at or self._now
        row = Card(
            id=self._ids[i],
            workspace_id=self._caller.workspace_id,
            number=self._number_of[i],
            position=position,
            sequence=1,
            parent_id=None if part.parent is None else self._ids[part.parent],
            assignee_id=self._actor(part.assignee),
            created_by_id=self._actor(part.created_by),
            properties=exact(part.properties),
            payload=exact(part.payload),
            output=exact(part.output),
            created_at=created_at,
            updated_at=part.updated_at or created_at,
            **fields,
        )
        self._settle(row, part)
        # Beside the table's own: where its column will be, and its event's id.
        return _as_row(row) | {"column": part.column, "event_id": new_id()}

    def _settle(self, row: Card, part: CardPart) -> None:
        """The state that it has in the column it comes into."""
        ground = self._grounds[part.column]
        is_ended = part.state in (Card.State.DONE, Card.State.FAILED)
        plain = Card.State.OPEN if ground.is_queue else Card.State.NONE
        row.state = part.state if is_ended else plain
        row.attempts = part.attempts
        if row.state == Card.State.OPEN:
            row.available_at = part.not_before
        row.cancelled_at = part.cancelled_at
        row.waits, row.waits_since = part.waits, part.waits_since
        row.fits = None if ground.checks_input else True
        # Nothing lies open in a column that is gone.
        row.archived_at = part.archived_at or ground.archived_at

    def comments(self, i: int) -> Iterator[dict[str, Any]]:
        for part in self._cards[i].comments:
            yield self._comment(self._ids[i], part)

    def _comment(self, card_id: UUID, part: CommentPart) -> dict[str, Any]:
        return _as_row(
            Comment(
                id=new_id(),
                card_id=card_id,
                author_id=self._actor(part.author) or self._caller.actor_id,
                text=part.text,
                edited_at=part.edited_at,
                created_at=part.created_at or self._now,
            )
        )

    def leases(self, i: int) -> Iterator[dict[str, Any]]:
        for place, part in enumerate(self._cards[i].leases):
            row = self._lease(self._ids[i], part)
            row.id = _id_at(part.acquired_at, place)
            yield _as_row(row) | {"column": part.column}

    def _lease(self, card_id: UUID, part: AttemptPart) -> Lease:
        same = msgspec.structs.asdict(part)
        by = self._actor(same.pop("cancel_requested_by"))
        del same["column"]
        holder_id = self._actors[same.pop("holder")]
        return Lease(
            workspace_id=self._caller.workspace_id,
            card_id=card_id,
            holder_id=holder_id,
            # Whoever held it once can't end it here: nobody knows this one.
            nonce=secrets.token_bytes(16),
            cancel_requested_by_id=by,
            **{**same, "output": exact(part.output)},
        )

    def _actor(self, handle: str | None) -> UUID | None:
        return None if handle is None else self._actors[handle]


def _as_row(row: models.Model) -> dict[str, Any]:
    """Every column of the table, so that none falls back on null."""
    values: dict[str, Any] = {}
    for field in row._meta.concrete_fields:
        value = getattr(row, field.attname)
        if isinstance(value, bytes):
            value = "\\x" + value.hex()
        values[str(field.column)] = value
    return values


def _id_at(moment: datetime, place: int) -> UUID:
    """A UUIDv7 of that time (RFC 9562); of one millisecond the later places come
    later."""
    milliseconds = max(0, int(moment.timestamp() * 1000))
    head = milliseconds << 80 | 0x7 << 76 | (place & 0xFFF) << 64
    return UUID(int=head | 0x2 << 62 | secrets.randbits(62))


def ground_of(column: Column) -> Ground:
    return Ground(column.is_queue, column.checks_input, column.archived_at)
