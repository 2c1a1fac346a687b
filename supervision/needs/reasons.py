"""One part of a statement for each reason: which cards, leases or queues, since when.

Each is computed from what is the case now, along a partial index that holds nothing
else: nothing is remembered that could be wrong later, and no history is counted.
"""

from dataclasses import dataclass

from leases.statements.running import compact
from supervision.needs import shapes

# What is ready without anybody having asked may not have been looked at yet: a backoff
# that is over, a card not yet judged.
_READY = """c.archived_at IS NULL AND c.number > 0 AND c.state = 'open'
  AND (c.available_at IS NULL OR c.available_at <= statement_timestamp())
  AND c.fits IS NOT FALSE"""
_COUNTED = """(x.state IN ('expired', 'active')
  OR x.state = 'failed' AND x.failure <> 'wait_until')"""
# So many of a queue's first cards say how long it has been waiting.
FIRST_CARDS = 100
_MINE = "(c.assignee_id = %(me)s OR c.created_by_id = %(me)s)"


@dataclass(frozen=True)
class _Cards:
    """Cards of these columns. There may be very many of them: they're counted along one
    index (`counted` says where, if not by column), and only each column's first ones in
    the order of another one are looked at further."""

    columns: str
    test: str
    order: str
    counted: str = ""

    def count(self, mine: str) -> str:
        place = self.counted or f"c.column_id = ANY(%({self.columns})s::uuid[])"
        return f"SELECT FROM boards_card c WHERE {place} AND {self.test} AND {mine}"

    def show(self, mine: str) -> str:
        return f"""
SELECT c.id AS card_id, NULL::uuid AS lease_id, c.column_id, c.priority,
  c.updated_at AS since, 0::float8 AS figure
FROM unnest(%({self.columns})s::uuid[]) k (id) CROSS JOIN LATERAL (
  SELECT * FROM boards_card c WHERE c.column_id = k.id AND {self.test} AND {mine}
  ORDER BY {self.order} LIMIT {shapes.MOST_PER_REASON}) c"""


@dataclass(frozen=True)
class _Few:
    """What there are never very many of."""

    select: str

    def count(self, mine: str) -> str:
        return self.select.format(mine=mine)

    show = count


_LEASE = "l.card_id, l.id AS lease_id, l.column_id, c.priority"
_PARTS: dict[str, _Cards | _Few] = {
    shapes.DEAD_LETTER: _Cards(
        "columns",
        "c.archived_at IS NULL AND c.number > 0 AND c.state = 'failed'"
        " AND c.cancelled_at IS NULL",
        "c.updated_at DESC, c.id DESC",
        counted="c.board_id = ANY(%(boards)s::uuid[])",
    ),
    shapes.MISFIT: _Cards(
        "queues", "c.state = 'open' AND c.archived_at IS NULL AND NOT c.fits", "c.id"
    ),
    shapes.REVIEW: _Cards(
        "reviewed",
        "c.archived_at IS NULL AND c.number > 0 AND c.state = 'done'",
        "c.updated_at, c.id",
    ),
    shapes.LAPSED: _Few(f"""
SELECT {_LEASE}, l.expires_at AS since, 0::float8 AS figure
FROM leases_lease l JOIN boards_card c ON c.id = l.card_id
WHERE l.column_id = ANY(%(columns)s::uuid[]) AND l.ended_at IS NULL
  AND l.expires_at <= statement_timestamp() AND {{mine}}"""),
    # `figure`: what is usual there, in seconds.
    shapes.SLOW: _Few(f"""
SELECT {_LEASE}, l.acquired_at AS since, s.usual AS figure
FROM unnest(%(slow_columns)s::uuid[], %(slow_usual)s::float8[], %(slow_limit)s::float8[])
  s (id, usual, most)
JOIN leases_lease l ON l.column_id = s.id AND l.ended_at IS NULL
  AND l.expires_at > statement_timestamp()
JOIN boards_card c ON c.id = l.card_id
WHERE l.acquired_at < statement_timestamp() - make_interval(secs => s.most)
  AND {{mine}}"""),
    # `figure`: how many attempts of this round lapsed. Each attempt that counted has
    # raised `attempts` by one, so the round's are the latest so many. Cards with fewer
    # than two lapsed ones in all are told from a small index.
    shapes.LAPSING: _Few(f"""
SELECT c.id AS card_id, NULL::uuid AS lease_id, c.column_id, c.priority, t.at AS since,
  t.lapsed AS figure
FROM (SELECT c.* FROM boards_card c
  WHERE c.column_id = ANY(%(columns)s::uuid[]) AND c.archived_at IS NULL
    AND c.number > 0 AND c.state IN ('open', 'claimed') AND c.attempts >= 2
    AND (SELECT count(*) FROM (SELECT FROM leases_lease e
      WHERE e.card_id = c.id AND e.state = 'expired' LIMIT 2) e) = 2 AND {{mine}}
  LIMIT %(look)s) c
CROSS JOIN LATERAL (SELECT count(*)::float8 AS lapsed, max(r.ended_at) AS at FROM (
    SELECT x.state, x.ended_at FROM leases_lease x
    WHERE x.card_id = c.id AND {_COUNTED} ORDER BY x.acquired_at DESC LIMIT c.attempts
  ) r WHERE r.state = 'expired') t
WHERE t.lapsed >= 2"""),
    shapes.ASSIGNED: _Few(f"""
SELECT c.id AS card_id, NULL::uuid AS lease_id, c.column_id, c.priority,
  c.updated_at AS since, 0::float8 AS figure
FROM boards_card c
WHERE c.assignee_id = %(me)s AND c.assignee_id IS NOT NULL
  AND c.column_id = ANY(%(columns)s::uuid[]) AND {_READY}"""),
    # `figure`: how many of its first cards are ready for anybody.
    shapes.UNATTENDED: _Few(f"""
SELECT NULL::uuid AS card_id, NULL::uuid AS lease_id, w.id AS column_id,
  f.priority, GREATEST(a.last_at, f.oldest) AS since, f.ready AS figure
FROM unnest(%(workers)s::uuid[]) w (id)
LEFT JOIN leases_ask a ON a.column_id = w.id
CROSS JOIN LATERAL (SELECT min(r.updated_at) AS oldest, count(*)::float8 AS ready,
    min(r.priority) AS priority
  FROM (SELECT c.updated_at, c.priority FROM boards_card c
    WHERE c.column_id = w.id AND c.assignee_id IS NULL AND {_READY}
    ORDER BY c.priority, c.position, c.id LIMIT {FIRST_CARDS}) r) f
WHERE NOT %(mine)s AND f.ready > 0
  AND f.oldest < statement_timestamp() - make_interval(secs => %(quiet)s)
  AND (a.last_at IS NULL
    OR a.last_at < statement_timestamp() - make_interval(secs => %(quiet)s))"""),
}
_SHOWN = """
SELECT n.reason, n.since, n.figure, n.column_id AS place_id, n.lease_id,
  c.id, c.number, c.board_id, c.column_id, c.title, c.state, c.attempts,
  c.available_at, c.version, c.misfit, n.priority,
  l.reason AS said, l.attempt, l.ended_at, l.state AS lease_state, l.acquired_at,
  h.id AS holder_id, h.handle, h.name, h.kind, statement_timestamp() AS now
FROM ({parts}) n
LEFT JOIN boards_card c ON c.id = n.card_id
LEFT JOIN leases_lease l ON l.id = COALESCE(n.lease_id,
  (SELECT x.id FROM leases_lease x WHERE x.card_id = n.card_id
    ORDER BY x.acquired_at DESC LIMIT 1))
LEFT JOIN accounts_actor h ON h.id = l.holder_id
"""


def counting(reasons: tuple[str, ...], *, mine: bool) -> str:
    """How many there are of each: `%(cap)s` at most (null: all of them)."""
    return compact(
        " UNION ALL ".join(
            f"SELECT '{one}' AS reason, count(*) AS total FROM"
            f" (SELECT FROM ({_PARTS[one].count(_whose(mine))}) p LIMIT %(cap)s) q"
            for one in reasons
        )
    )


def showing(reasons: tuple[str, ...], *, mine: bool) -> str:
    """The first of each, by priority and then by how long it has been so."""
    parts = " UNION ALL ".join(
        f"(SELECT '{one}' AS reason, p.* FROM ({_PARTS[one].show(_whose(mine))}) p"
        f" ORDER BY p.priority, p.since LIMIT {shapes.MOST_PER_REASON})"
        for one in reasons
    )
    return compact(_SHOWN.format(parts=parts))


def _whose(mine: bool) -> str:
    """Nothing to ask for where it doesn't matter, so that an index is enough."""
    return _MINE if mine else "true"
