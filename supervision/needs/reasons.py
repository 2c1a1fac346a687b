"""One part of a statement for each reason: which cards, leases or queues, since when.

Each is computed from what is the case now, along a partial index that holds nothing
else: nothing is remembered that could be wrong later, and no history is counted.
"""

from leases.statements.running import compact
from supervision.needs import shapes

# What is ready without anybody having asked may not have been looked at yet: a backoff
# that is over, a card not yet judged.
_READY = """c.archived_at IS NULL AND c.number > 0 AND c.state = 'open'
  AND (c.available_at IS NULL OR c.available_at <= now()) AND c.fits IS NOT FALSE"""
_MINE = """(NOT %(mine)s
  OR c.assignee_id = %(me)s OR c.created_by_id = %(me)s)"""
_COUNTED = """(x.state IN ('expired', 'active')
  OR x.state = 'failed' AND x.failure <> 'wait_until')"""
# So many of a queue's first cards say how long it has been waiting.
FIRST_CARDS = 100

_CARD = "c.id AS card_id, NULL::uuid AS lease_id, c.column_id, c.priority"
_LEASE = "l.card_id, l.id AS lease_id, l.column_id, c.priority"
_PARTS = {
    shapes.DEAD_LETTER: f"""
SELECT {_CARD}, c.updated_at AS since, 0::float8 AS figure FROM boards_card c
WHERE c.board_id = ANY(%(boards)s::uuid[]) AND c.archived_at IS NULL AND c.number > 0
  AND c.state = 'failed' AND c.cancelled_at IS NULL
  AND c.column_id = ANY(%(columns)s::uuid[]) AND {_MINE}""",
    shapes.LAPSED: f"""
SELECT {_LEASE}, l.expires_at AS since, 0::float8 AS figure
FROM leases_lease l JOIN boards_card c ON c.id = l.card_id
WHERE l.column_id = ANY(%(columns)s::uuid[]) AND l.ended_at IS NULL
  AND l.expires_at <= now() AND {_MINE}""",
    # `figure`: what is usual there, in seconds.
    shapes.SLOW: f"""
SELECT {_LEASE}, l.acquired_at AS since, s.usual AS figure
FROM unnest(%(slow_columns)s::uuid[], %(slow_usual)s::float8[], %(slow_limit)s::float8[])
  s (id, usual, most)
JOIN leases_lease l ON l.column_id = s.id AND l.ended_at IS NULL AND l.expires_at > now()
JOIN boards_card c ON c.id = l.card_id
WHERE l.acquired_at < now() - make_interval(secs => s.most) AND {_MINE}""",
    # `figure`: how many attempts of this round lapsed. Each attempt that counted has
    # raised `attempts` by one, so the round's are the latest so many.
    shapes.LAPSING: f"""
SELECT {_CARD}, t.at AS since, t.lapsed AS figure
FROM (SELECT * FROM boards_card c
  WHERE c.column_id = ANY(%(columns)s::uuid[]) AND c.archived_at IS NULL
    AND c.number > 0 AND c.state IN ('open', 'claimed') AND c.attempts >= 2 AND {_MINE}
  LIMIT %(look)s) c
CROSS JOIN LATERAL (SELECT count(*)::float8 AS lapsed, max(r.ended_at) AS at FROM (
    SELECT x.state, x.ended_at FROM leases_lease x
    WHERE x.card_id = c.id AND {_COUNTED} ORDER BY x.acquired_at DESC LIMIT c.attempts
  ) r WHERE r.state = 'expired') t
WHERE t.lapsed >= 2""",
    shapes.MISFIT: f"""
SELECT {_CARD}, c.updated_at AS since, 0::float8 AS figure FROM boards_card c
WHERE c.column_id = ANY(%(queues)s::uuid[]) AND c.state = 'open'
  AND c.archived_at IS NULL AND NOT c.fits AND {_MINE}""",
    shapes.REVIEW: f"""
SELECT {_CARD}, c.updated_at AS since, 0::float8 AS figure FROM boards_card c
WHERE c.column_id = ANY(%(reviewed)s::uuid[]) AND c.archived_at IS NULL
  AND c.number > 0 AND c.state = 'done' AND {_MINE}""",
    shapes.ASSIGNED: f"""
SELECT {_CARD}, c.updated_at AS since, 0::float8 AS figure FROM boards_card c
WHERE c.assignee_id = %(me)s AND c.assignee_id IS NOT NULL
  AND c.column_id = ANY(%(columns)s::uuid[]) AND {_READY}""",
    # `figure`: how many of its first cards are ready for anybody.
    shapes.UNATTENDED: f"""
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
  AND f.oldest < now() - make_interval(secs => %(quiet)s)
  AND (a.last_at IS NULL OR a.last_at < now() - make_interval(secs => %(quiet)s))""",
}
_SHOWN = """
SELECT n.reason, n.since, n.figure, n.column_id AS place_id, n.lease_id,
  c.id, c.number, c.board_id, c.column_id, c.title, c.state, c.attempts,
  c.available_at, c.version, c.misfit, n.priority,
  l.reason AS said, l.attempt, l.ended_at, l.state AS lease_state, l.acquired_at,
  h.id AS holder_id, h.handle, h.name, h.kind, now() AS now
FROM ({parts}) n
LEFT JOIN boards_card c ON c.id = n.card_id
LEFT JOIN leases_lease l ON l.id = COALESCE(n.lease_id,
  (SELECT x.id FROM leases_lease x WHERE x.card_id = n.card_id
    ORDER BY x.acquired_at DESC LIMIT 1))
LEFT JOIN accounts_actor h ON h.id = l.holder_id
"""


def counting(reasons: tuple[str, ...]) -> str:
    """How many there are of each: `%(cap)s` at most (null: all of them)."""
    return compact(
        " UNION ALL ".join(
            f"SELECT '{one}' AS reason, count(*) AS total"
            f" FROM (SELECT 1 FROM ({_PARTS[one]}) p LIMIT %(cap)s) q"
            for one in reasons
        )
    )


def showing(reasons: tuple[str, ...]) -> str:
    """The first of each, by priority and then by how long it has been so."""
    parts = " UNION ALL ".join(
        f"(SELECT '{one}' AS reason, p.* FROM ({_PARTS[one]}) p"
        f" ORDER BY p.priority, p.since LIMIT {shapes.MOST_PER_REASON})"
        for one in reasons
    )
    return compact(_SHOWN.format(parts=parts))
