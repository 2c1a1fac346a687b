"""How much lies in queues now, counted along the small partial indexes: never what has
ended, however much that is (of what failed at most MOST)."""

from collections.abc import Iterable
from dataclasses import dataclass
from uuid import UUID

from leases.statements.running import compact, run
from supervision.ready_since import ready_since

MOST = 1_000

# Each kind of ready card stands on an index of its own (leases.openings).
_READY = """c.column_id = k.id AND c.state = 'open' AND c.archived_at IS NULL
  AND c.available_at IS NULL AND c.fits"""
_ANYONE = "c.assignee_id IS NULL AND c.skills = '{}'"
_SKILLED = "c.assignee_id IS NULL AND NOT c.skills = '{}'"
_KEPT = "c.assignee_id IS NOT NULL"
_OPEN = "c.column_id = k.id AND c.state = 'open' AND c.archived_at IS NULL"


def _count(condition: str) -> str:
    return f"(SELECT count(*) FROM boards_card c WHERE {condition})"


_COUNTS = compact(f"""
SELECT k.id AS column_id,
  {_count(f"{_READY} AND {_ANYONE}")} + {_count(f"{_READY} AND {_SKILLED}")}
    + {_count(f"{_READY} AND {_KEPT}")} AS ready,
  {_count(f"{_OPEN} AND c.available_at IS NOT NULL")} AS waiting,
  {_count(f"{_OPEN} AND c.fits IS NULL")} AS unjudged,
  {_count(f"{_OPEN} AND c.fits = false")} AS misfits,
  (SELECT count(*) FROM (SELECT FROM boards_card c WHERE c.column_id = k.id
    AND c.state = 'failed' AND c.state IN ('done', 'failed') AND c.archived_at IS NULL
    AND c.number > 0 LIMIT {MOST}) f) AS failed,
  l.working, l.lapsed, l.holders
FROM unnest(%(columns)s::uuid[]) AS k (id)
CROSS JOIN LATERAL (SELECT count(*) AS working,
    count(*) FILTER (WHERE l.expires_at <= statement_timestamp()) AS lapsed,
    count(DISTINCT l.holder_id) AS holders
  FROM leases_lease l WHERE l.column_id = k.id AND l.ended_at IS NULL) l
""")


# Of each priority the first few: within one, who came first stands first, but for those
# that came back and those that were moved.
_HEADS = 5


def _heads(kind: str) -> str:
    return f"""(SELECT c.id, c.sequence, c.created_at FROM boards_card c
    WHERE {_READY} AND {kind} AND c.priority = p.priority
    ORDER BY c.position, c.id LIMIT {_HEADS})"""


_OLDEST = compact(f"""
SELECT k.id AS column_id, EXTRACT(EPOCH FROM statement_timestamp()
  - min(COALESCE(s.since, c.created_at)))::float8 AS seconds
FROM unnest(%(columns)s::uuid[]) AS k (id)
CROSS JOIN generate_series(1, 5) AS p (priority)
CROSS JOIN LATERAL ({_heads(_ANYONE)} UNION ALL {_heads(_SKILLED)}) c
LEFT JOIN LATERAL ({ready_since("c.id", "c.sequence + 1")}) s ON true
GROUP BY k.id
""")


@dataclass(frozen=True)
class Depth:
    """`ready` could be claimed now, `waiting` not yet, `misfits` not at all; `lapsed`
    are those of the `working` whose lease has run out. `holders` are at work."""

    ready: int = 0
    waiting: int = 0
    unjudged: int = 0
    misfits: int = 0
    failed: int = 0
    working: int = 0
    lapsed: int = 0
    holders: int = 0


def depths(column_ids: Iterable[UUID]) -> dict[UUID, Depth]:
    """One statement, whatever the number of queues."""
    rows = run(_COUNTS, {"columns": list(column_ids)})
    return {row.column_id: Depth(*row[1:]) for row in rows}


def oldest(column_ids: Iterable[UUID]) -> dict[UUID, float]:
    """For how many seconds the oldest ready card has been waiting, of those at the head
    of each priority; without the empty queues."""
    rows = run(_OLDEST, {"columns": list(column_ids)})
    return {row.column_id: max(0.0, row.seconds) for row in rows}
