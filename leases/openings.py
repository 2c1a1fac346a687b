"""What there may be to claim in some queues, for many who wait for it: one statement.

Only looked at: nothing is locked, changed or promised. Who wakes by it makes an
ordinary claim.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import connection

from boards.nudges import DULL

# Cards of a queue that are looked at, for each of three kinds: what is kept for nobody,
# what asks for skills, and what is kept for one who waits.
MOST_CARDS = 100
MOST_NEWS = 1_000

# As in leases.changes: new is what wasn't visible then, however late it committed.
_NEWS = f"""
SELECT e.card_id FROM boards_event e
WHERE e.workspace_id = ANY(%(workspaces)s::uuid[])
  AND e.transaction >= pg_snapshot_xmin(%(since)s::pg_snapshot)::text::bigint
  AND NOT pg_visible_in_snapshot(e.transaction::text::xid8, %(since)s::pg_snapshot)
  AND e.board_id = ANY(%(boards)s::uuid[]) AND e.type <> ALL(%(dull)s)
LIMIT {MOST_NEWS}
"""

_FIELDS = "c.id, c.assignee_id, c.skills, c.labels"
# Each kind stands on an index of its own, so that no heap of cards that wait, don't fit
# or are somebody else's is walked through.
_READY = """c.column_id = k.column_id AND c.state = 'open' AND c.archived_at IS NULL
  AND c.available_at IS NULL AND c.fits"""
_ORDER = f"ORDER BY c.priority, c.position, c.id LIMIT {MOST_CARDS}"
# `due` is the first moment at which there may be something by time alone.
_OPENINGS = f"""
SELECT pg_current_snapshot()::text, k.column_id, k.room,
  k.due <= statement_timestamp() OR k.unjudged AS stirs,
  EXTRACT(EPOCH FROM k.due - statement_timestamp())::float8 AS due_in, c.*
FROM (
  SELECT k.column_id,
    CASE WHEN k.concurrency_limit IS NULL THEN NULL
      ELSE (SELECT count(*) FROM leases_slot s WHERE s.column_id = k.column_id
        AND s.lease_id IS NULL AND s.number <= k.concurrency_limit) END AS room,
    LEAST(
      (SELECT l.expires_at FROM leases_lease l WHERE l.column_id = k.column_id
        AND l.ended_at IS NULL AND l.expires_at IS NOT NULL
        ORDER BY l.expires_at LIMIT 1),
      (SELECT w.available_at FROM boards_card w WHERE w.column_id = k.column_id
        AND w.state = 'open' AND w.archived_at IS NULL AND w.available_at IS NOT NULL
        ORDER BY w.available_at LIMIT 1)) AS due,
    EXISTS (SELECT FROM boards_card u WHERE u.column_id = k.column_id
      AND u.state = 'open' AND u.archived_at IS NULL AND u.fits IS NULL) AS unjudged
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
    WHERE {_READY} AND c.id = ANY(%(cards)s::uuid[]
      || (SELECT array_agg(card_id) FROM ({_NEWS}) news)))
) c ON true
"""


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


@dataclass(frozen=True)
class Openings:
    """`due`: in how many seconds there may be something in a queue though nothing
    happens there. `snapshot`: what was visible, from which a later look goes on."""

    found: list[Opening]
    due: dict[UUID, float]
    snapshot: str


def openings(
    columns: Iterable[UUID],
    *,
    actors: Iterable[UUID],
    cards: Iterable[UUID] = (),
    since: str | None = None,
    workspaces: Iterable[UUID] = (),
    boards: Iterable[UUID] = (),
) -> Openings:
    """In these queues, of those that are neither switched off nor paused: the first
    cards of each, the ones kept for these actors, and all of `cards` and of what
    happened since that snapshot on `boards` (MOST_NEWS at most). One statement."""
    values: dict[str, Any] = {
        "columns": list(columns),
        "actors": list(actors),
        "cards": list(cards),
        "since": since,
        "workspaces": list(workspaces),
        "boards": list(boards),
        "dull": list(DULL),
    }
    with connection.cursor() as cursor:
        cursor.execute(_OPENINGS, values)
        rows = cursor.fetchall()
    found = [
        Opening(column, room, card, assignee, frozenset(skills), frozenset(labels))
        for _, column, room, _, _, card, assignee, skills, labels in rows
        if card
    ]
    stirring = {column: room for _, column, room, stirs, *_ in rows if stirs}
    return Openings(
        [Opening(column, room) for column, room in stirring.items()] + found,
        {row[1]: row[4] for row in rows if row[4] is not None and row[4] > 0},
        rows[0][0] if rows else "",
    )
