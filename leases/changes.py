"""What changed on boards since a moment, for those who show them.

A moment is a snapshot of PostgreSQL's: which transactions it could see. A change is new
exactly when its transaction is visible now and wasn't then, so nothing is missed that
commits late, nothing comes twice, and nobody has to wait for older transactions.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import connection
from django.db.models import F
from django.utils.timezone import now

from boards import events
from boards.models import DOING_IS_FRESH, Card
from leases.models import Lease

# Of so many it's better to read the board anew.
MOST_CHANGES = 20_000

_NOW = "SELECT pg_current_snapshot()::text, clock_timestamp()"
# One statement, so one snapshot: what it sees and what it gives agree. Everything below
# the oldest transaction that ran then was visible then.
_SINCE = f"""
WITH seen AS MATERIALIZED (
  SELECT pg_current_snapshot()::text AS snapshot, clock_timestamp() AS at
), change AS MATERIALIZED (
  SELECT e.board_id, e.card_id, e.type, e.column_id, f.board_id AS before
  FROM boards_event e
  LEFT JOIN boards_column f ON f.id = (e.data ->> 'from_column_id')::uuid
  WHERE e.workspace_id = ANY(%(workspaces)s::uuid[])
    AND e.transaction >= pg_snapshot_xmin(%(since)s::pg_snapshot)::text::bigint
    AND NOT pg_visible_in_snapshot(e.transaction::text::xid8, %(since)s::pg_snapshot)
    AND (e.board_id = ANY(%(boards)s::uuid[]) OR f.board_id = ANY(%(boards)s::uuid[]))
    AND e.type <> '{events.TASK_DONE}'
  LIMIT {MOST_CHANGES + 1}
)
SELECT seen.snapshot, seen.at, change.* FROM seen LEFT JOIN change ON true
"""
_LAYOUT = frozenset(
    {
        events.COLUMN_CREATED,
        events.COLUMN_MOVED,
        events.COLUMN_UPDATED,
        events.COLUMN_DELETED,
        events.BOARD_UPDATED,
        events.CONTRACT_UPDATED,
    }
)
_EVERYTHING = frozenset({events.BOARD_ARCHIVED, events.BOARD_RESTORED})


@dataclass(frozen=True)
class Moment:
    """`snapshot` is text of PostgreSQL's type pg_snapshot; `at` by its clock."""

    snapshot: str
    at: datetime


@dataclass(frozen=True)
class Change:
    """One event as a board sees it: a card of it (come, changed or gone), or none.
    `layout`: the columns themselves are others now; `column_id`: all cards of that
    column may look otherwise; `everything`: so may the whole board."""

    board_id: UUID
    card_id: UUID | None = None
    layout: bool = False
    column_id: UUID | None = None
    everything: bool = False


@dataclass(frozen=True)
class Heartbeat:
    lease_id: UUID
    board_id: UUID
    expires_at: datetime | None
    renewals: int


def moment() -> Moment:
    with connection.cursor() as cursor:
        cursor.execute(_NOW)
        return Moment(*cursor.fetchone())


def since(
    snapshot: str, *, workspaces: Iterable[UUID], boards: Iterable[UUID]
) -> tuple[list[Change], Moment]:
    """The changes on these boards (of these workspaces) that weren't visible then.

    There are as many as there are events, at most MOST_CHANGES + 1. Raises DataError
    for what is no snapshot.
    """
    watched = set(boards)
    values: dict[str, Any] = {
        "since": snapshot,
        "workspaces": list(workspaces),
        "boards": list(watched),
    }
    with connection.cursor() as cursor:
        cursor.execute(_SINCE, values)
        rows = cursor.fetchall()
    changes = [
        Change(
            board_id,
            card_id,
            layout=kind in _LAYOUT,
            column_id=column_id if kind == events.CONTRACT_UPDATED else None,
            everything=kind in _EVERYTHING,
        )
        for _, _, here, card_id, kind, column_id, before in rows
        for board_id in {here, before} & watched
    ]
    return changes, Moment(rows[0][0], rows[0][1])


def heartbeats(board_ids: Sequence[UUID]) -> list[Heartbeat]:
    """How every active lease of these boards stands."""
    rows = Lease.objects.filter(
        state=Lease.State.ACTIVE, column__board_id__in=board_ids
    ).values_list("id", "column__board_id", "expires_at", "renewals")
    return [Heartbeat(*row) for row in rows]


def doings(board_ids: Sequence[UUID]) -> dict[UUID, str]:
    """What is said to be going on with cards of these boards, by card: under a lease,
    or without one in the last minutes. (No event tells of it.)"""
    held = Lease.objects.filter(
        state=Lease.State.ACTIVE, column__board_id__in=board_ids
    ).exclude(doing="")
    said = dict(held.values_list("card_id", "doing"))
    at_it = Card.objects.present().filter(
        board_id__in=board_ids,
        doing_at__gt=now() - DOING_IS_FRESH,
        doing_version=F("version"),
    )
    return said | dict(at_it.exclude(doing="").values_list("pk", "doing"))


def misfits(board_ids: Sequence[UUID]) -> dict[UUID, UUID]:
    """The cards that don't fit their column's schema, with their boards. (To judge a
    card is silent: no event tells of it.)"""
    rows = Card.objects.present().filter(
        board_id__in=board_ids,
        column__checks_input=True,
        state=Card.State.OPEN,
        fits=False,
    )
    return dict(rows.values_list("pk", "board_id"))
