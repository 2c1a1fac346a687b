"""The end without a result: failed, expired, released or revoked."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from accounts.callers import Caller
from accounts.ids import new_id
from boards import events
from leases.contract import MAX_WAITING_SECONDS, MAX_WAITS
from leases.folding import fold
from leases.statements.ending import (
    ACTIVE,
    FREED,
    MANY_HELD,
    NEXT_POSITION,
    ONE_HELD,
    RESULT,
    STILL_HELD,
    THEIRS,
    THESE,
    TOLD_OF_CARD,
    TOLD_OF_LEASE,
    event,
    recorded,
    told,
)
from leases.statements.running import compact, run


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

_LAPSED_NOW = f"{ACTIVE} AND expires_at <= now"
# What somebody has called off doesn't come back to the queue, however it ends
# (leases.verbs.cancel).
_NOT_CALLED_OFF = "cancel_requested_at IS NULL"
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
    pick: str = THESE,
    columns: str = THEIRS,
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
  FROM ending e WHERE c.id = e.id RETURNING {TOLD_OF_CARD}
), lease AS (
  UPDATE leases_lease l SET state = '{how.state}', ended_at = e.now,
    reason = %(reason)s, note = %(note)s, next_due = e.next_due, failure = {failure},
    outcome = CASE WHEN e.again THEN 'requeued' ELSE 'dead_lettered' END
  FROM ending e, accounts_actor h WHERE l.id = e.lease_id AND h.id = l.holder_id
  RETURNING {TOLD_OF_LEASE}, e.again
), {lettered}{FREED}, {
        recorded(
            event(
                how.event,
                "2 * l.n - 1",
                "c.sequence - (CASE WHEN l.again THEN 0 ELSE 1 END)",
            ),
            event(events.LEASE_DEADLETTERED, "2 * l.n", "c.sequence", "NOT l.again"),
        )
    }
{RESULT}
""")


_STILL = {FAIL: STILL_HELD, RELEASE: STILL_HELD, REVOKE: ACTIVE}
_GIVE_BACK_ONE = {how: _give_back(how, ONE_HELD, _STILL[how]) for how in _STILL}
_GIVE_BACK_MANY = {how: _give_back(how, MANY_HELD, _STILL[how]) for how in _STILL}
_EXPIRE = _give_back(
    EXPIRE, MANY_HELD, _LAPSED_NOW, _LAPSED, "%(column)s", "SKIP LOCKED"
)


def give_back(
    how: Ending,
    leases: Sequence[UUID],
    *,
    caller: Caller | None,
    reason: str = "",
    note: str = "",
    retry: bool = True,
    retry_after_seconds: float | None = None,
    waits: bool = False,
    until: datetime | None = None,
) -> list[Any]:
    """End these without a result; a row for each that was still held. No caller: nobody
    did it, time or the server."""
    rows = run(
        (_GIVE_BACK_ONE if len(leases) == 1 else _GIVE_BACK_MANY)[how],
        {
            "leases": list(leases),
            "events": [new_id() for _ in range(2 * len(leases))],
            "actor": caller.actor_id if caller else None,
            "token": caller.token_id if caller else None,
            "reason": reason,
            "fold": fold(reason) if how.counted else "",
            "note": note,
            "retry": retry,
            "after": retry_after_seconds,
            "waits": waits,
            "until": until,
        },
    )
    return told(rows)


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
    return told(rows)
