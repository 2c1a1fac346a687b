"""What all ways to end a lease have in common: with a result (leases.statements.completing)
or without one (leases.statements.giving_back), one statement each, for one lease or many.

`target` keeps the column that cards may go to from being deleted or changed into a queue
meanwhile; `held` locks each card and then its lease (cards in the order of their ids, so
that two of these never wait for each other in a circle; one row by its key each, which no
statistics can talk PostgreSQL out of); `clocked` reads the clock *after* all the locks
are there, since a clock read before a wait is too old (decision D1); `ending` keeps what
may still end; then card, lease, slot and event change together.
"""

from typing import Any

from boards import events
from boards.nudges import Nudge, nudge
from boards.ordering import GAP
from leases.statements.columns import LEASE

NEXT_POSITION = f"nextval('boards_card_position') * {GAP}"

ONLY = "(%(leases)s::uuid[])[1]"
CARD_LOCKED = "c.id, c.attempts, c.column_id, c.waits, c.waits_since"
LEASE_LOCKED = """l.id AS lease_id, l.column_id AS queue_id, l.slot, l.state,
      l.expires_at, l.cancel_requested_at"""
CLOCKED = """held.*, k.enabled, k.max_attempts, k.backoff_seconds, d.id AS target,
    d.is_queue, d.checks_input, clock_timestamp() AS now"""
MANY_HELD = f"""
target AS MATERIALIZED (
  SELECT d.id, d.is_queue, d.checks_input FROM boards_column d
  WHERE d.archived_at IS NULL AND d.id IN (SELECT {{target}} FROM leases_contract k
    WHERE k.column_id IN ({{columns}})) FOR KEY SHARE
), wanted AS MATERIALIZED (
  SELECT l.id, l.card_id FROM leases_lease l
  WHERE (SELECT count(*) FROM target) >= 0 AND {{pick}}
), held AS MATERIALIZED (
  SELECT c.*, l.*
  FROM (SELECT id, card_id FROM wanted ORDER BY card_id) w
  CROSS JOIN LATERAL (SELECT {CARD_LOCKED} FROM boards_card c
    WHERE c.id = w.card_id FOR NO KEY UPDATE {{skip}}) c
  CROSS JOIN LATERAL (SELECT {LEASE_LOCKED} FROM leases_lease l
    WHERE l.id = w.id AND l.card_id = c.id FOR NO KEY UPDATE {{skip}}) l
), clocked AS MATERIALIZED (
  SELECT {CLOCKED}, row_number() OVER () AS n
  FROM (SELECT count(*) FROM held) AS all_of_them, held
  JOIN leases_contract k ON k.column_id = held.queue_id
  LEFT JOIN target d ON d.id = {{target}}
)"""
# The same for one lease, as nearly all calls are, without what only many need: most of
# what a statement costs is what is set up for it. Its one row is there once it's locked.
ONE_HELD = f"""
target AS MATERIALIZED (
  SELECT d.id, d.is_queue, d.checks_input
  FROM leases_contract k JOIN boards_column d ON d.id = {{target}}
  WHERE d.archived_at IS NULL AND k.column_id = (SELECT l.column_id
    FROM leases_lease l WHERE l.id = {ONLY}) FOR KEY SHARE OF d
), held AS MATERIALIZED (
  SELECT c.*, l.*
  FROM (SELECT {CARD_LOCKED} FROM boards_card c
    WHERE (SELECT count(*) FROM target) >= 0 AND c.id = (SELECT l.card_id
      FROM leases_lease l WHERE l.id = {ONLY}) FOR NO KEY UPDATE) c
  CROSS JOIN LATERAL (SELECT {LEASE_LOCKED} FROM leases_lease l
    WHERE l.id = {ONLY} AND l.card_id = c.id FOR NO KEY UPDATE) l
), clocked AS MATERIALIZED (
  SELECT {CLOCKED}, 1 AS n
  FROM held JOIN leases_contract k ON k.column_id = held.queue_id
  LEFT JOIN target d ON d.id = {{target}}
)"""
# The state is asked for behind the locks, and lapsed leases by `ended_at`: with
# statistics out of date the planner would otherwise walk through all active ones by
# the wrong partial index.
ACTIVE = "state = 'active'"
STILL_HELD = f"{ACTIVE} AND (expires_at IS NULL OR expires_at > now)"
THESE = "l.id = ANY(%(leases)s::uuid[])"
THEIRS = f"SELECT l.column_id FROM leases_lease l WHERE {THESE}"
FREED = """
freed AS (
  UPDATE leases_slot s SET lease_id = NULL FROM ending e
  WHERE s.column_id = e.column_id AND s.number = e.slot AND s.lease_id = e.lease_id
)"""
TOLD_OF_CARD = """c.id, c.number, c.title, c.column_id, c.state, c.attempts,
  c.available_at, c.version, c.sequence"""
TOLD_OF_LEASE = f"""{LEASE}, l.workspace_id, h.handle AS by_handle,
  h.name AS by_name, h.kind AS by_kind, e.column_id AS from_column_id, e.max_attempts,
  e.n, e.now"""
RESULT = f"""
SELECT {LEASE}, l.by_handle, l.by_name, l.by_kind, c.number, c.title,
  c.column_id AS card_column_id, c.state AS card_state, c.attempts, c.available_at,
  c.version, l.now, l.workspace_id
FROM card c JOIN lease l ON l.card_id = c.id"""
_LEASE_DATA = """jsonb_build_object('id', l.id, 'attempt', l.attempt,
  'max_attempts', l.max_attempts, 'holder', l.by_handle, 'acquired_at', l.acquired_at,
  'expires_at', l.expires_at, 'ended_at', l.ended_at, 'reason', l.reason,
  'note', l.note, 'outcome', l.outcome, 'next_due', l.next_due,
  'failure', l.failure)"""


def event(type: str, number: str, which: str, where: str = "true") -> str:
    return f"""
SELECT (%(events)s::uuid[])[{number}], l.workspace_id, '{type}', %(actor)s::uuid,
  %(token)s::uuid, l.board_id, l.column_id, l.card_id, l.id, {which},
  jsonb_build_object('lease', {_LEASE_DATA}, 'from_column_id', l.from_column_id,
    'to_column_id', c.column_id, 'state', c.state)
FROM card c JOIN lease l ON l.card_id = c.id WHERE {where}"""


def recorded(*selects: str) -> str:
    together = " UNION ALL ".join(selects)
    return f"recorded AS (INSERT INTO boards_event ({events.EVENT_COLUMNS}) {together})"


def told(rows: list[Any]) -> list[Any]:
    """To whoever waits: the card may be there again, or a place free."""
    nudge(*(Nudge(row.workspace_id, row.board_id, row.card_id) for row in rows))
    return rows
