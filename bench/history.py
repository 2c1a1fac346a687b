"""A month behind it: leases that ended, what was told of them, figures, dead letters.

Made inside PostgreSQL, row upon row of the same kind: what the pages must not walk
through is how many there are, not what is in them.
"""

from uuid import UUID

from django.db import connection

from bench.boards import Board
from bench.seeding import World

DAYS = 30
DEAD_SHARE = 20  # one card of so many lies dead
_VACUUMED = (
    *("leases_lease", "leases_deadletter", "boards_card", "boards_event"),
    *("supervision_queuefigures", "supervision_holderfigures"),
)

_CARDS = """
CREATE TEMP TABLE some_card ON COMMIT PRESERVE ROWS AS
SELECT row_number() OVER () - 1 AS n, id, column_id FROM boards_card
WHERE board_id = %(board)s AND column_id = ANY(%(queues)s)
"""
# One in ten failed, the others were completed, in the hands of the one or the other.
_LEASES = """
CREATE TEMP TABLE ended ON COMMIT PRESERVE ROWS AS
SELECT uuidv7(-(interval '1 day' * %(days)s * g / %(leases)s)) AS id, c.id AS card_id,
  c.column_id, g / n.cards + 1 AS attempt, g %% 10 = 0 AS failed,
  CASE WHEN g %% 2 = 0 THEN %(agent)s::uuid ELSE %(other)s::uuid END AS holder_id,
  now() - interval '1 day' * %(days)s * g / %(leases)s AS at
FROM generate_series(1, %(leases)s) g
CROSS JOIN (SELECT count(*) AS cards FROM some_card) n
JOIN some_card c ON c.n = g %% n.cards
"""
_INSERT_LEASES = """
INSERT INTO leases_lease (id, workspace_id, board_id, column_id, card_id, holder_id,
  state, attempt, nonce, seconds, acquired_at, expires_at, renewals, ended_at, outcome,
  reason, note)
SELECT e.id, %(workspace)s, %(board)s, e.column_id, e.card_id, e.holder_id,
  CASE WHEN e.failed THEN 'failed' ELSE 'completed' END, e.attempt, '\\x00', 300,
  e.at - interval '20 s', e.at + interval '280 s', 0, e.at,
  CASE WHEN e.failed THEN 'requeued' ELSE '' END,
  CASE WHEN e.failed THEN 'The source answered 500.' ELSE '' END, '' FROM ended e
"""
_INSERT_EVENTS = """
INSERT INTO boards_event (id, workspace_id, type, actor_id, board_id, column_id, card_id,
  lease_id, sequence, data, created_at)
SELECT uuidv7(e.at - now()), %(workspace)s,
  CASE WHEN e.failed THEN 'card.lease.failed' ELSE 'card.lease.completed' END,
  e.holder_id, %(board)s, e.column_id, e.card_id, e.id, 10 + e.attempt,
  jsonb_build_object('state', 'open'), e.at FROM ended e
"""
# What the month would have left, of the minutes as many as any page reads.
_FIGURES = """
INSERT INTO supervision_queuefigures (column_id, span, start, claims, completed, failed,
  dead_lettered, expired, released, revoked, run, wait, quiet, gap, depth, working)
SELECT q, s.span, date_trunc(s.unit, now()) - g * s.span * interval '1 s', 12, 10, 1, 0, 1,
  0, 0, s.counts, s.counts, s.counts, s.counts, 1000, 10
FROM unnest(%(queues)s) q
CROSS JOIN (VALUES (60, 'minute', 2 * 1440, %(counts)s::int[]),
  (3600, 'hour', 24 * %(days)s, %(counts)s::int[])) s (span, unit, number, counts)
CROSS JOIN LATERAL generate_series(0, s.number) g
ON CONFLICT DO NOTHING
"""
_HOLDERS = """
INSERT INTO supervision_holderfigures (column_id, span, start, holder_id, claims,
  completed, failed, dead_lettered, expired, released, revoked, run)
SELECT f.column_id, f.span, f.start, h, 6, 5, 1, 0, 0, 0, 0, f.run
FROM supervision_queuefigures f CROSS JOIN unnest(ARRAY[%(agent)s, %(other)s]::uuid[]) h
WHERE f.column_id = ANY(%(queues)s)
ON CONFLICT DO NOTHING
"""
_DEAD = """
WITH dead AS (
  UPDATE boards_card c SET state = 'failed', lease_id = NULL, holder_id = NULL
  FROM some_card s WHERE c.id = s.id AND c.state = 'open' AND s.n %% %(share)s = 1
  RETURNING c.id, c.column_id)
INSERT INTO leases_deadletter (card_id, lease_id, column_id, holder_id, fold, at)
SELECT DISTINCT ON (d.id) d.id, e.id, d.column_id, e.holder_id,
  'The source answered ' || (ascii(right(d.id::text, 1)) %% 8) || '00.', e.at
FROM dead d JOIN ended e ON e.card_id = d.id ORDER BY d.id, e.at DESC
"""


def a_history(world: World, board: Board, leases: int) -> list[UUID]:
    """So many finished leases on the cards of the board's queues, which it gives."""
    queues = [one.column_id for one in board.queues]
    values = {
        "board": board.id,
        "queues": queues,
        "workspace": world.owner.workspace_id,
        "agent": world.agent.actor_id,
        "other": world.other,
        "leases": leases,
        "days": DAYS,
        "share": DEAD_SHARE,
        "counts": [0] * 12 + [3, 4, 2, 1, 1],
    }
    made = (_CARDS, _LEASES, _INSERT_LEASES, _INSERT_EVENTS)
    with connection.cursor() as cursor:
        # What the pages are made for is set for them; this joins a million rows.
        cursor.execute("SET enable_hashjoin = on; SET enable_seqscan = on")
        cursor.execute("SET statement_timeout = 0")
        for statement in (*made, _FIGURES, _HOLDERS, _DEAD):
            cursor.execute(statement, values)
        for table in _VACUUMED:
            cursor.execute(f"VACUUM ANALYZE {table}")
        cursor.execute("DROP TABLE some_card, ended")
        for name in ("enable_hashjoin", "enable_seqscan", "statement_timeout"):
            cursor.execute(f"RESET {name}")
    return queues
