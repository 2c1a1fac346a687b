"""What there may be to claim in some queues, for many who wait for it: two statements.

Only looked at: nothing is locked, changed or promised. Who wakes by it makes an
ordinary claim.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import connection

from boards import events

# Cards of a queue that are looked at, for each of three kinds: what is kept for nobody,
# what asks for skills, and what is kept for one who waits.
MOST_CARDS = 100
MOST_CHANGES = 1_000
# After these there is no more to claim than before.
_DULL = (
    events.LEASE_CLAIMED,
    events.CARD_COMMENTED,
    events.CARD_CANCEL_REQUESTED,
    events.TASK_DONE,
)

# As in leases.changes: new is what wasn't visible then, however late it committed.
_CHANGES = f"""
WITH seen AS MATERIALIZED (SELECT pg_current_snapshot()::text AS snapshot)
SELECT seen.snapshot, e.board_id, e.card_id FROM seen LEFT JOIN LATERAL (
  SELECT e.board_id, e.card_id FROM boards_event e
  WHERE e.workspace_id = ANY(%(workspaces)s::uuid[])
    AND e.transaction >= pg_snapshot_xmin(%(since)s::pg_snapshot)::text::bigint
    AND NOT pg_visible_in_snapshot(e.transaction::text::xid8, %(since)s::pg_snapshot)
    AND e.board_id = ANY(%(boards)s::uuid[]) AND e.type <> ALL(%(dull)s)
  LIMIT {MOST_CHANGES}
) e ON true
"""
_MOMENT = "SELECT pg_current_snapshot()::text"

_FIELDS = "c.id, c.assignee_id, c.skills, c.labels"
# Each kind stands on an index of its own, so that no heap of cards that wait, don't fit
# or are somebody else's is walked through.
_READY = """c.column_id = k.column_id AND c.state = 'open' AND c.archived_at IS NULL
  AND c.available_at IS NULL AND c.fits"""
_ORDER = f"ORDER BY c.priority, c.position, c.id LIMIT {MOST_CARDS}"
_OPENINGS = f"""
SELECT k.column_id, k.room, k.stirs, c.* FROM (
  SELECT k.column_id,
    CASE WHEN k.concurrency_limit IS NULL THEN NULL
      ELSE (SELECT count(*) FROM leases_slot s WHERE s.column_id = k.column_id
        AND s.lease_id IS NULL AND s.number <= k.concurrency_limit) END AS room,
    EXISTS (SELECT FROM leases_lease l WHERE l.column_id = k.column_id
      AND l.ended_at IS NULL AND l.expires_at <= statement_timestamp())
    OR EXISTS (SELECT FROM boards_card w WHERE w.column_id = k.column_id
      AND w.state = 'open' AND w.archived_at IS NULL
      AND w.available_at <= statement_timestamp())
    OR EXISTS (SELECT FROM boards_card u WHERE u.column_id = k.column_id
      AND u.state = 'open' AND u.archived_at IS NULL AND u.fits IS NULL) AS stirs
  FROM leases_contract k
  WHERE k.column_id = ANY(%(columns)s::uuid[]) AND k.enabled AND NOT k.paused
) k LEFT JOIN LATERAL (
  (SELECT {_FIELDS} FROM boards_card c
    WHERE {_READY} AND c.assignee_id IS NULL AND c.skills = '{{}}' {_ORDER})
  UNION (SELECT {_FIELDS} FROM boards_card c
    WHERE {_READY} AND c.assignee_id IS NULL AND NOT c.skills = '{{}}' {_ORDER})
  UNION (SELECT {_FIELDS} FROM boards_card c
    WHERE {_READY} AND c.assignee_id = ANY(%(actors)s::uuid[]) LIMIT {MOST_CARDS})
  UNION (SELECT {_FIELDS} FROM boards_card c
    WHERE {_READY} AND c.id = ANY(%(cards)s::uuid[]))
) c ON true
"""


@dataclass(frozen=True)
class Changes:
    """What happened on these boards since: on which, and to which cards. `snapshot` is
    where the next look goes on."""

    snapshot: str
    boards: frozenset[UUID]
    cards: frozenset[UUID]


@dataclass(frozen=True)
class Opening:
    """A card that could be claimed; without one, a queue in which a claim would first
    have something to put in order: a lapsed lease, a backoff that is over, a card not
    yet judged. `room`: for so many (None: any number)."""

    column_id: UUID
    room: int | None
    card_id: UUID | None = None
    assignee_id: UUID | None = None
    skills: frozenset[str] = frozenset()
    labels: frozenset[str] = frozenset()


def changes(
    since: str, *, workspaces: Iterable[UUID], boards: Iterable[UUID]
) -> Changes:
    """At most MOST_CHANGES of them count. Without `since` none, but from now on."""
    with connection.cursor() as cursor:
        if not since:
            cursor.execute(_MOMENT)
            return Changes(cursor.fetchone()[0], frozenset(), frozenset())
        values: dict[str, Any] = {
            "since": since,
            "workspaces": list(workspaces),
            "boards": list(boards),
            "dull": list(_DULL),
        }
        cursor.execute(_CHANGES, values)
        rows = cursor.fetchall()
    return Changes(
        rows[0][0],
        frozenset(board for _, board, _ in rows if board),
        frozenset(card for *_, card in rows if card),
    )


def openings(
    columns: Iterable[UUID], *, actors: Iterable[UUID], cards: Iterable[UUID] = ()
) -> list[Opening]:
    """In these queues, of those that are neither switched off nor paused: the first
    cards of each, the ones kept for these actors, and of `cards` all."""
    values: dict[str, Any] = {
        "columns": list(columns),
        "actors": list(actors),
        "cards": list(cards),
    }
    with connection.cursor() as cursor:
        cursor.execute(_OPENINGS, values)
        rows = cursor.fetchall()
    found = [
        Opening(column, room, card, assignee, frozenset(skills), frozenset(labels))
        for column, room, _, card, assignee, skills, labels in rows
        if card
    ]
    stirring = {column: room for column, room, stirs, *_ in rows if stirs}
    return [Opening(column, room) for column, room in stirring.items()] + found
