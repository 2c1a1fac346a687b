"""How a lease ends: with a result (`complete`) or without (`give_back`), one statement
each, for one lease or many.

Both are built alike: `target` keeps the column that cards may go to from being deleted
or changed into a queue meanwhile; `held` locks each card and then its lease (cards in
the order of their ids, so that two of these never wait for each other in a circle; one
row by its key each, which no statistics can talk PostgreSQL out of); `clocked` reads the
clock *after* all the locks are there, since a clock read before a wait is too old
(decision D1); `ending` keeps what may still end; then card, lease, slot and event change
together.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

import msgspec

from accounts.callers import Caller
from accounts.ids import new_id
from boards import events
from boards.nudges import Nudge, nudge
from boards.ordering import GAP
from leases.contract import MAX_WAITING_SECONDS, MAX_WAITS
from leases.folding import fold
from leases.handed import Handed, Terms
from leases.statements.columns import LEASE
from leases.statements.running import compact, run

NEXT_POSITION = f"nextval('boards_card_position') * {GAP}"

_ONLY = "(%(leases)s::uuid[])[1]"
_CARD_LOCKED = "c.id, c.attempts, c.column_id, c.waits, c.waits_since"
_LEASE_LOCKED = """l.id AS lease_id, l.column_id AS queue_id, l.slot, l.state,
      l.expires_at, l.cancel_requested_at"""
_CLOCKED = """held.*, k.enabled, k.max_attempts, k.backoff_seconds, d.id AS target,
    d.is_queue, d.checks_input, clock_timestamp() AS now"""
_MANY_HELD = f"""
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
  CROSS JOIN LATERAL (SELECT {_CARD_LOCKED} FROM boards_card c
    WHERE c.id = w.card_id FOR NO KEY UPDATE {{skip}}) c
  CROSS JOIN LATERAL (SELECT {_LEASE_LOCKED} FROM leases_lease l
    WHERE l.id = w.id AND l.card_id = c.id FOR NO KEY UPDATE {{skip}}) l
), clocked AS MATERIALIZED (
  SELECT {_CLOCKED}, row_number() OVER () AS n
  FROM (SELECT count(*) FROM held) AS all_of_them, held
  JOIN leases_contract k ON k.column_id = held.queue_id
  LEFT JOIN target d ON d.id = {{target}}
)"""
# The same for one lease, as nearly all calls are, without what only many need: most of
# what a statement costs is what is set up for it. Its one row is there once it's locked.
_ONE_HELD = f"""
target AS MATERIALIZED (
  SELECT d.id, d.is_queue, d.checks_input
  FROM leases_contract k JOIN boards_column d ON d.id = {{target}}
  WHERE d.archived_at IS NULL AND k.column_id = (SELECT l.column_id
    FROM leases_lease l WHERE l.id = {_ONLY}) FOR KEY SHARE OF d
), held AS MATERIALIZED (
  SELECT c.*, l.*
  FROM (SELECT {_CARD_LOCKED} FROM boards_card c
    WHERE (SELECT count(*) FROM target) >= 0 AND c.id = (SELECT l.card_id
      FROM leases_lease l WHERE l.id = {_ONLY}) FOR NO KEY UPDATE) c
  CROSS JOIN LATERAL (SELECT {_LEASE_LOCKED} FROM leases_lease l
    WHERE l.id = {_ONLY} AND l.card_id = c.id FOR NO KEY UPDATE) l
), clocked AS MATERIALIZED (
  SELECT {_CLOCKED}, 1 AS n
  FROM held JOIN leases_contract k ON k.column_id = held.queue_id
  LEFT JOIN target d ON d.id = {{target}}
)"""
# The same for one that this process gave out (leases.handed): where it lies is known, and
# nothing is there for it where the contract has changed or the holder was told to stop.
_KNOWN_HELD = f"""
target AS MATERIALIZED (
  SELECT d.id, d.is_queue, d.checks_input
  FROM leases_contract k JOIN boards_column d ON d.id = {{target}}
  WHERE d.archived_at IS NULL AND k.column_id = %(column)s FOR KEY SHARE OF d
), held AS MATERIALIZED (
  SELECT c.*, l.*
  FROM (SELECT {_CARD_LOCKED} FROM boards_card c
    WHERE (SELECT count(*) FROM target) >= 0 AND c.id = %(card)s
    FOR NO KEY UPDATE) c
  CROSS JOIN LATERAL (SELECT {_LEASE_LOCKED} FROM leases_lease l
    WHERE l.id = {_ONLY} AND l.card_id = c.id AND l.cancel_told_at IS NULL
    FOR NO KEY UPDATE) l
), clocked AS MATERIALIZED (
  SELECT {_CLOCKED}, 1 AS n
  FROM held JOIN leases_contract k ON k.column_id = %(column)s AND k.version = %(version)s
  LEFT JOIN target d ON d.id = {{target}}
)"""
# And for many of those.
_KNOWN_HELD_MANY = f"""
target AS MATERIALIZED (
  SELECT d.id, d.is_queue, d.checks_input FROM boards_column d
  WHERE d.archived_at IS NULL AND d.id IN (SELECT {{target}} FROM leases_contract k
    WHERE k.column_id = ANY(%(columns)s::uuid[])) FOR KEY SHARE
), held AS MATERIALIZED (
  SELECT c.*, l.*, w.terms, w.output, w.properties, w.n
  FROM (SELECT * FROM unnest(%(leases)s::uuid[], %(cards)s::uuid[],
      %(versions)s::bigint[], %(outputs)s::jsonb[], %(properties)s::jsonb[])
      WITH ORDINALITY AS g (lease, card, terms, output, properties, n)
    WHERE (SELECT count(*) FROM target) >= 0 ORDER BY card) w
  CROSS JOIN LATERAL (SELECT {_CARD_LOCKED} FROM boards_card c
    WHERE c.id = w.card FOR NO KEY UPDATE) c
  CROSS JOIN LATERAL (SELECT {_LEASE_LOCKED} FROM leases_lease l
    WHERE l.id = w.lease AND l.card_id = c.id AND l.cancel_told_at IS NULL
    FOR NO KEY UPDATE) l
), clocked AS MATERIALIZED (
  SELECT {_CLOCKED}
  FROM (SELECT count(*) FROM held) AS all_of_them, held
  JOIN leases_contract k ON k.column_id = held.queue_id AND k.version = held.terms
  LEFT JOIN target d ON d.id = {{target}}
)"""

# The state is asked for behind the locks, and lapsed leases by `ended_at`: with
# statistics out of date the planner would otherwise walk through all active ones by
# the wrong partial index.
_ACTIVE = "state = 'active'"
_STILL_HELD = f"{_ACTIVE} AND (expires_at IS NULL OR expires_at > now)"
_LAPSED_NOW = f"{_ACTIVE} AND expires_at <= now"
# What somebody has called off doesn't come back to the queue, however it ends
# (leases.verbs.cancel).
_NOT_CALLED_OFF = "cancel_requested_at IS NULL"
_THESE = "l.id = ANY(%(leases)s::uuid[])"
_THEIRS = f"SELECT l.column_id FROM leases_lease l WHERE {_THESE}"
_FREED = """
freed AS (
  UPDATE leases_slot s SET lease_id = NULL FROM ending e
  WHERE s.column_id = e.column_id AND s.number = e.slot AND s.lease_id = e.lease_id
)"""
_TOLD_OF_CARD = """c.id, c.number, c.title, c.column_id, c.state, c.attempts,
  c.available_at, c.version, c.sequence"""
_TOLD_OF_LEASE = f"""{LEASE}, l.workspace_id, h.handle AS by_handle,
  h.name AS by_name, h.kind AS by_kind, e.column_id AS from_column_id, e.max_attempts,
  e.n, e.now"""
_RESULT = f"""
SELECT {LEASE}, l.by_handle, l.by_name, l.by_kind, c.number, c.title,
  c.column_id AS card_column_id, c.state AS card_state, c.attempts, c.available_at,
  c.version, l.now, l.workspace_id
FROM card c JOIN lease l ON l.card_id = c.id"""
_LEASE_DATA = """jsonb_build_object('id', l.id, 'attempt', l.attempt,
  'max_attempts', l.max_attempts, 'holder', l.by_handle, 'acquired_at', l.acquired_at,
  'expires_at', l.expires_at, 'ended_at', l.ended_at, 'reason', l.reason,
  'note', l.note, 'outcome', l.outcome, 'next_due', l.next_due,
  'failure', l.failure)"""


def _event(type: str, number: str, which: str, where: str = "true") -> str:
    return f"""
SELECT (%(events)s::uuid[])[{number}], l.workspace_id, '{type}', %(actor)s::uuid,
  %(token)s::uuid, l.board_id, l.column_id, l.card_id, l.id, {which},
  jsonb_build_object('lease', {_LEASE_DATA}, 'from_column_id', l.from_column_id,
    'to_column_id', c.column_id, 'state', c.state)
FROM card c JOIN lease l ON l.card_id = c.id WHERE {where}"""


def _recorded(*selects: str) -> str:
    together = " UNION ALL ".join(selects)
    return f"recorded AS (INSERT INTO boards_event ({events.EVENT_COLUMNS}) {together})"


_OF_MANY = f"""SELECT clocked.*, g.output, g.properties FROM clocked
  JOIN unnest(%(leases)s::uuid[], %(outputs)s::jsonb[], %(properties)s::jsonb[])
    AS g (lease_id, output, properties) USING (lease_id)
  WHERE {_STILL_HELD}"""
_OF_ONE = f"""SELECT *, (%(outputs)s::jsonb[])[1] AS output,
    (%(properties)s::jsonb[])[1] AS properties
  FROM clocked WHERE {_STILL_HELD}"""
_OF_KNOWN = f"SELECT * FROM clocked WHERE {_STILL_HELD}"


def _complete(held: str, ending: str) -> str:
    parts = held.format(
        target="k.on_success_column_id", columns=_THEIRS, pick=_THESE, skip=""
    )
    return compact(f"""
WITH {parts},
ending AS MATERIALIZED (
  {ending}
), card AS (
  UPDATE boards_card c SET lease_id = NULL, holder_id = NULL, available_at = NULL,
    state = CASE WHEN e.is_queue THEN 'open' ELSE 'done' END,
    attempts = CASE WHEN e.is_queue THEN 0 ELSE c.attempts END,
    waits = CASE WHEN e.is_queue THEN 0 ELSE c.waits END,
    waits_since = CASE WHEN e.is_queue THEN NULL ELSE c.waits_since END,
    assignee_id = CASE WHEN e.is_queue THEN NULL ELSE c.assignee_id END,
    column_id = COALESCE(e.target, c.column_id),
    position = CASE WHEN e.target IS NULL THEN c.position ELSE {NEXT_POSITION} END,
    fits = CASE WHEN e.checks_input THEN NULL ELSE true END, misfit = NULL,
    output = COALESCE(e.output, c.output),
    properties = c.properties || COALESCE(e.properties, '{{}}'),
    version = c.version + 1, sequence = c.sequence + 1, updated_at = e.now
  FROM ending e WHERE c.id = e.id RETURNING {_TOLD_OF_CARD}
), lease AS (
  UPDATE leases_lease l SET state = 'completed', ended_at = e.now, output = e.output
  FROM ending e, accounts_actor h WHERE l.id = e.lease_id AND h.id = l.holder_id
  RETURNING {_TOLD_OF_LEASE}
), {_FREED}, {_recorded(_event(events.LEASE_COMPLETED, "l.n", "c.sequence"))}
{_RESULT}
""")


_COMPLETE_ONE = _complete(_ONE_HELD, _OF_ONE)
_COMPLETE_KNOWN = _complete(_KNOWN_HELD, _OF_ONE)
_COMPLETE_MANY = _complete(_MANY_HELD, _OF_MANY)
_COMPLETE_KNOWN_MANY = _complete(_KNOWN_HELD_MANY, _OF_KNOWN)


def complete(
    caller: Caller,
    leases: Sequence[UUID],
    outputs: Sequence[Any],
    properties: Sequence[Any],
) -> list[Any]:
    """End these with results; a row for each that was still held."""
    statement = _COMPLETE_ONE if len(leases) == 1 else _COMPLETE_MANY
    return _told(run(statement, _results(caller, leases, outputs, properties)))


def complete_known(
    caller: Caller,
    leases: Sequence[tuple[Handed, Terms]],
    outputs: Sequence[Any],
    properties: Sequence[Any],
) -> list[Any]:
    """The same for those that this process gave out, while the contract of their column
    is as it was known here and the holder hasn't been told to stop."""
    ids = [lease.lease_id for lease, _ in leases]
    parameters = _results(caller, ids, outputs, properties)
    columns = [lease.column_id for lease, _ in leases]
    cards = [lease.card_id for lease, _ in leases]
    versions = [terms.version for _, terms in leases]
    if len(leases) == 1:
        known = {"column": columns[0], "card": cards[0], "version": versions[0]}
        return _told(run(_COMPLETE_KNOWN, parameters | known))
    many = {"columns": columns, "cards": cards, "versions": versions}
    return _told(run(_COMPLETE_KNOWN_MANY, parameters | many))


def _results(
    caller: Caller,
    leases: Sequence[UUID],
    outputs: Sequence[Any],
    properties: Sequence[Any],
) -> dict[str, Any]:
    return {
        "leases": list(leases),
        "outputs": [_json(value) for value in outputs],
        "properties": [_json(value) for value in properties],
        "events": [new_id() for _ in leases],
        "actor": caller.actor_id,
        "token": caller.token_id,
    }


def _told(rows: list[Any]) -> list[Any]:
    """To whoever waits: the card may be there again, or a place free."""
    nudge(*(Nudge(row.workspace_id, row.board_id, row.card_id) for row in rows))
    return rows


def _json(value: Any) -> str | None:
    return None if value is None else msgspec.json.encode(value).decode()


@dataclass(frozen=True)
class Ending:
    """A way to end without a result. `counted`: the attempt stays counted, and a card
    without one left is dead-lettered; `delayed`: it waits out the backoff first, or
    until a quota is there again."""

    verb: str
    state: str
    event: str
    counted: bool
    delayed: bool = False


FAIL = Ending("fail", "failed", events.LEASE_FAILED, counted=True, delayed=True)
EXPIRE = Ending("expire", "expired", events.LEASE_EXPIRED, counted=True)
RELEASE = Ending("release", "released", events.LEASE_RELEASED, counted=False)
REVOKE = Ending("revoke", "revoked", events.LEASE_REVOKED, counted=False)

# Leases before cards, for once: nobody waits here for anybody.
_LAPSED = f"""l.column_id = %(column)s AND l.ended_at IS NULL
  AND l.expires_at <= statement_timestamp() AND l.{_NOT_CALLED_OFF}
  ORDER BY l.expires_at LIMIT %(limit)s FOR NO KEY UPDATE SKIP LOCKED"""
_BACKOFF = """COALESCE(%(after)s::float8,
  EXTRACT(EPOCH FROM %(until)s::timestamptz - now),
  backoff_seconds[LEAST(attempts, cardinality(backoff_seconds))], 0)"""
# Waiting for a quota costs no attempt, but not for ever: then it's a failure like others.
_WAITS = f"""(%(waits)s AND waits < {MAX_WAITS} AND (waits_since IS NULL
  OR now < waits_since + make_interval(secs => {MAX_WAITING_SECONDS})))"""
# Why it failed, for those who look after dead letters (leases.models.DeadLetter).
_LETTERED = """
lettered AS (
  INSERT INTO leases_deadletter (card_id, lease_id, column_id, holder_id, fold, at)
  SELECT l.card_id, l.id, l.column_id, l.holder_id, %(fold)s, l.ended_at
  FROM lease l WHERE NOT l.again
  ON CONFLICT (card_id) DO UPDATE SET lease_id = EXCLUDED.lease_id,
    column_id = EXCLUDED.column_id, holder_id = EXCLUDED.holder_id,
    fold = EXCLUDED.fold, at = EXCLUDED.at
)"""


def _give_back(
    how: Ending,
    held: str,
    still: str,
    pick: str = _THESE,
    columns: str = _THEIRS,
    skip: str = "",
) -> str:
    # What isn't counted is never dead-lettered: no column to look after.
    target = "k.on_failure_column_id" if how.counted else "NULL::uuid"
    again = "%(retry)s AND attempts < max_attempts" if how.counted else "true"
    delay, waits, failure, uncounted = "0", "false", "''", ""
    lettered = f"{_LETTERED}, " if how.counted else ""
    if how.delayed:
        delay, waits = _BACKOFF, _WAITS
        again = f"{_WAITS} OR {again}"
        failure = """CASE WHEN e.waiting THEN 'wait_until' WHEN %(retry)s THEN 'retry'
      ELSE 'fatal' END"""
        uncounted = " - CASE WHEN e.waiting THEN 1 ELSE 0 END"
    return compact(f"""
WITH {held.format(target=target, columns=columns, pick=pick, skip=skip)},
ending AS MATERIALIZED (
  SELECT *, CASE WHEN again AND delay > 0 THEN now + make_interval(secs => delay) END
    AS next_due
  FROM (SELECT *, {again} AS again, {delay} AS delay, {waits} AS waiting FROM clocked
    WHERE {still} AND {_NOT_CALLED_OFF}) d
), card AS (
  UPDATE boards_card c SET lease_id = NULL, holder_id = NULL,
    available_at = e.next_due,
    state = CASE WHEN NOT e.again THEN 'failed' WHEN e.enabled THEN 'open' ELSE '' END,
    attempts = c.attempts - {0 if how.counted else 1}{uncounted},
    waits = c.waits + CASE WHEN e.waiting THEN 1 ELSE 0 END,
    waits_since = CASE WHEN e.waiting THEN COALESCE(c.waits_since, e.now)
      ELSE c.waits_since END,
    column_id = CASE WHEN e.again THEN c.column_id
      ELSE COALESCE(e.target, c.column_id) END,
    position = CASE WHEN e.again OR e.target IS NULL THEN c.position
      ELSE {NEXT_POSITION} END,
    version = c.version + 1,
    sequence = c.sequence + CASE WHEN e.again THEN 1 ELSE 2 END, updated_at = e.now
  FROM ending e WHERE c.id = e.id RETURNING {_TOLD_OF_CARD}
), lease AS (
  UPDATE leases_lease l SET state = '{how.state}', ended_at = e.now,
    reason = %(reason)s, note = %(note)s, next_due = e.next_due, failure = {failure},
    outcome = CASE WHEN e.again THEN 'requeued' ELSE 'dead_lettered' END
  FROM ending e, accounts_actor h WHERE l.id = e.lease_id AND h.id = l.holder_id
  RETURNING {_TOLD_OF_LEASE}, e.again
), {lettered}{_FREED}, {
        _recorded(
            _event(
                how.event,
                "2 * l.n - 1",
                "c.sequence - (CASE WHEN l.again THEN 0 ELSE 1 END)",
            ),
            _event(events.LEASE_DEADLETTERED, "2 * l.n", "c.sequence", "NOT l.again"),
        )
    }
{_RESULT}
""")


_STILL = {FAIL: _STILL_HELD, RELEASE: _STILL_HELD, REVOKE: _ACTIVE}
_GIVE_BACK_ONE = {how: _give_back(how, _ONE_HELD, _STILL[how]) for how in _STILL}
_GIVE_BACK_MANY = {how: _give_back(how, _MANY_HELD, _STILL[how]) for how in _STILL}
_EXPIRE = _give_back(
    EXPIRE, _MANY_HELD, _LAPSED_NOW, _LAPSED, "%(column)s", "SKIP LOCKED"
)


def give_back(
    how: Ending,
    leases: Sequence[UUID],
    *,
    caller: Caller,
    reason: str = "",
    note: str = "",
    retry: bool = True,
    retry_after_seconds: float | None = None,
    waits: bool = False,
    until: datetime | None = None,
) -> list[Any]:
    """End these without a result; a row for each that was still held."""
    rows = run(
        (_GIVE_BACK_ONE if len(leases) == 1 else _GIVE_BACK_MANY)[how],
        {
            "leases": list(leases),
            "events": [new_id() for _ in range(2 * len(leases))],
            "actor": caller.actor_id,
            "token": caller.token_id,
            "reason": reason,
            "fold": fold(reason) if how.counted else "",
            "note": note,
            "retry": retry,
            "after": retry_after_seconds,
            "waits": waits,
            "until": until,
        },
    )
    return _told(rows)


def expire(column_id: UUID, limit: int) -> list[Any]:
    """End up to `limit` lapsed leases of a column; rows somebody has locked are passed
    over, so that many may do this at once."""
    rows = run(
        _EXPIRE,
        {
            "column": column_id,
            "limit": limit,
            "events": [new_id() for _ in range(2 * limit)],
            "actor": None,
            "token": None,
            "reason": "lease_expired",
            "fold": "lease_expired",
            "note": "",
            "retry": True,
        },
    )
    return _told(rows)
