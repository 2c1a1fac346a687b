"""Whether there is something new in the feed, for many who wait: one statement."""

from collections.abc import Mapping
from dataclasses import dataclass
from uuid import UUID

from django.db import connection

from accounts.pages import encode_cursor
from boards.reads import EventFilter

MOST_NEWS = 1_000
_FIRST = UUID(int=0)

# In the order of the feed (reads.events), and like it only what nothing can come before
# any more.
_NEWS = f"""
SELECT e.* FROM unnest(%(workspaces)s::uuid[], %(transactions)s::bigint[], %(ids)s::uuid[])
  AS c (workspace_id, transaction, id)
CROSS JOIN LATERAL (
  SELECT e.workspace_id, e.transaction, e.id, e.type, e.board_id, e.card_id
  FROM boards_event e
  WHERE e.workspace_id = c.workspace_id AND e.transaction >= c.transaction
    AND (e.transaction, e.id) > (c.transaction, c.id)
    AND e.transaction < pg_snapshot_xmin(pg_current_snapshot())::text::bigint
  ORDER BY e.transaction, e.id LIMIT {MOST_NEWS}
) e
"""
_END = "SELECT pg_snapshot_xmin(pg_current_snapshot())::text::bigint"


@dataclass(frozen=True)
class Position:
    """A place in a workspace's feed."""

    transaction: int
    event_id: UUID = _FIRST

    @property
    def cursor(self) -> str:
        return encode_cursor(self.transaction, self.event_id)


@dataclass(frozen=True)
class News:
    """That something happened, not what."""

    workspace_id: UUID
    at: Position
    type: str
    board_id: UUID | None
    card_id: UUID | None

    def concerns(self, wanted: EventFilter) -> bool:
        if wanted.board_id not in (None, self.board_id):
            return False
        if wanted.card_id not in (None, self.card_id):
            return False
        return not wanted.types or any(map(self._is_of, wanted.types))

    def _is_of(self, pattern: str) -> bool:
        if pattern.endswith("*"):
            return self.type.startswith(pattern[:-1])
        return self.type == pattern


def end() -> Position:
    """Behind everything that the feed gives now; what it gives later comes after."""
    with connection.cursor() as cursor:
        cursor.execute(_END)
        return Position(cursor.fetchone()[0])


def news(since: Mapping[UUID, Position]) -> list[News]:
    """What came in these workspaces behind these places, in order, bounded."""
    with connection.cursor() as cursor:
        cursor.execute(
            _NEWS,
            {
                "workspaces": list(since),
                "transactions": [one.transaction for one in since.values()],
                "ids": [one.event_id for one in since.values()],
            },
        )
        return [
            News(workspace, Position(transaction, pk), type, board, card)
            for workspace, transaction, pk, type, board, card in cursor.fetchall()
        ]
