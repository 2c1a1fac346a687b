"""The claim as one statement."""

from functools import cache
from typing import Any
from uuid import UUID

from django.db.models import QuerySet

from accounts.callers import Caller
from accounts.ids import new_id
from boards.events import EVENT_COLUMNS, LEASE_CLAIMED
from boards.models import Card
from leases.contract import DEFAULT_LEASE_SECONDS
from leases.statements.gate import PASS, gate
from leases.statements.running import compact, embedded, run
from leases.tokens import new_nonce

# Stand-ins for the two parameters of the embedded querysets.
_COLUMN, _ACTOR = UUID(int=1), UUID(int=2)
# Mine that come before the first one for anyone. Where nothing is kept for me (nearly
# always) it costs no look at that first one.
_BEFORE = "(priority, position, id) < (SELECT priority, position, id FROM front)"
_KEPT = "EXISTS (SELECT FROM mine)"


def _picked(queryset: QuerySet[Card], count: int, condition: str = "") -> str:
    text = embedded(queryset.values("id"), column=_COLUMN, actor=_ACTOR)
    select, order = text.split(" ORDER BY ")
    also = f" AND {condition}" if condition else ""
    return f"SELECT id FROM ({select}{also} ORDER BY {order} LIMIT {count}) AS c"


def _first(queryset: QuerySet[Card]) -> str:
    """The first one, only looked at."""
    fields = queryset.values("priority", "position", "id")
    text = embedded(fields, column=_COLUMN, actor=_ACTOR)
    return text.partition(" FOR NO KEY UPDATE")[0] + " LIMIT 1"


# The highest slot that may be taken. Slots above the limit are those of leases from
# before it was lowered: with n of them held, n of the lower ones must stay empty.
_TOP = """CASE WHEN NOT EXISTS (SELECT FROM leases_slot o
    WHERE o.column_id = k.column_id AND o.number > k.concurrency_limit
      AND o.lease_id IS NOT NULL) THEN k.concurrency_limit
  ELSE (SELECT max(number) FROM (SELECT o.number, o.number + count(o.lease_id) OVER (
      ORDER BY o.number DESC ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS used
    FROM leases_slot o WHERE o.column_id = k.column_id) u
    WHERE used <= k.concurrency_limit) END"""


@cache
def _statement(count: int) -> str:
    """The whole claim. Parts, in order: what the contract says and whether something
    overdue has to be tidied first; free slots; how many cards there is room for; the
    cards, locked one by one as they're taken; then the changes."""
    for_anyone = Card.objects.claimable(_COLUMN)
    for_me = Card.objects.claimable_by(_COLUMN, _ACTOR)
    return compact(f"""
WITH asked AS MATERIALIZED (
  SELECT k.enabled, k.paused, k.max_attempts, k.concurrency_limit,
    {_TOP} AS top, {PASS} AS open,
    COALESCE(%(seconds)s, k.lease_ttl_seconds, %(fallback)s) AS seconds,
    clock_timestamp() AS now,
    EXISTS (SELECT FROM leases_lease l WHERE l.column_id = k.column_id
      AND l.ended_at IS NULL AND l.expires_at <= statement_timestamp())
    OR EXISTS (SELECT FROM boards_card w WHERE w.column_id = k.column_id
      AND w.state = 'open' AND w.archived_at IS NULL
      AND w.available_at <= statement_timestamp()) AS untidy,
    EXISTS (SELECT FROM boards_card u WHERE u.column_id = k.column_id
      AND u.state = 'open' AND u.archived_at IS NULL AND u.fits IS NULL) AS unjudged
  FROM leases_contract k JOIN boards_column b ON b.id = k.column_id
  WHERE k.column_id = %(column)s AND b.board_id = %(board)s
), slot AS MATERIALIZED (
  SELECT s.number FROM leases_slot s, asked
  WHERE s.column_id = %(column)s AND s.lease_id IS NULL
    AND s.number <= asked.top
  ORDER BY s.number LIMIT {count} FOR UPDATE OF s SKIP LOCKED
), room AS MATERIALIZED (
  SELECT CASE WHEN NOT enabled OR paused OR NOT open OR (untidy OR unjudged) AND NOT %(tidied)s
    THEN 0
    WHEN concurrency_limit IS NULL THEN {count}
    ELSE (SELECT count(*) FROM slot) END AS cards FROM asked
), mine AS MATERIALIZED ({_first(for_me)}
), front AS MATERIALIZED ({_first(for_anyone)}
), picked AS MATERIALIZED (
  SELECT id FROM (
    {_picked(for_me, count, f"{_KEPT} AND {_BEFORE}")}
    UNION ALL {_picked(for_anyone, count)}
    UNION ALL {_picked(for_me, count, f"{_KEPT} AND ({_BEFORE}) IS NOT TRUE")}
  ) next LIMIT (SELECT cards FROM room)
), taken AS (
  UPDATE boards_card c SET state = 'claimed', attempts = c.attempts + 1,
    lease_id = new.lease, holder_id = %(actor)s, version = c.version + 1,
    sequence = c.sequence + 1, updated_at = asked.now
  FROM asked, (SELECT id, row_number() OVER () AS n FROM picked) p
  JOIN unnest(%(leases)s::uuid[], %(nonces)s::bytea[], %(events)s::uuid[])
    WITH ORDINALITY AS new (lease, nonce, event, n) USING (n)
  WHERE c.id = p.id AND c.attempts < asked.max_attempts
  RETURNING c.*, new.nonce, new.event, p.n
), lease AS (
  INSERT INTO leases_lease (id, workspace_id, board_id, column_id, card_id, holder_id,
    token_id, state, attempt, nonce, slot, seconds, acquired_at, expires_at, renewals,
    outcome, reason, note)
  SELECT t.lease_id, t.workspace_id, t.board_id, t.column_id, t.id, %(actor)s,
    %(token)s, 'active', t.attempts, t.nonce, s.number, asked.seconds, asked.now,
    asked.now + make_interval(secs => asked.seconds), 0, '', '', ''
  FROM asked, taken t
  LEFT JOIN (SELECT number, row_number() OVER () AS n FROM slot) s USING (n)
  RETURNING id, slot, expires_at
), filled AS (
  UPDATE leases_slot s SET lease_id = lease.id FROM lease
  WHERE s.column_id = %(column)s AND s.number = lease.slot
), event AS (
  INSERT INTO boards_event ({EVENT_COLUMNS})
  SELECT t.event, t.workspace_id, '{LEASE_CLAIMED}', %(actor)s, %(token)s, t.board_id,
    t.column_id, t.id, t.lease_id, t.sequence, jsonb_build_object('lease',
      jsonb_build_object('id', t.lease_id, 'attempt', t.attempts,
        'max_attempts', asked.max_attempts, 'holder', %(handle)s::text,
        'acquired_at', asked.now, 'expires_at', lease.expires_at))
  FROM asked, taken t JOIN lease ON lease.id = t.lease_id
)
SELECT asked.enabled, asked.paused, asked.untidy, asked.unjudged,
  asked.max_attempts, asked.seconds, asked.now, NOT asked.open
    OR asked.concurrency_limit IS NOT NULL AND NOT EXISTS (SELECT FROM slot) AS full,
  (SELECT count(*) FROM picked) AS picked, t.*, lease.expires_at,
  a.handle AS by_handle, a.name AS by_name, a.kind AS by_kind,
  CASE WHEN t.sequence > 2 THEN (SELECT jsonb_agg(h) FROM (
    SELECT l.attempt, l.state, x.handle AS holder, l.acquired_at, l.ended_at,
      l.reason, l.note
    FROM leases_lease l JOIN accounts_actor x ON x.id = l.holder_id
    WHERE l.card_id = t.id AND l.state <> 'active'
    ORDER BY l.acquired_at DESC LIMIT 5) h) END
    AS history
FROM asked LEFT JOIN taken t ON true LEFT JOIN lease ON lease.id = t.lease_id
LEFT JOIN accounts_actor a ON a.id = t.created_by_id ORDER BY t.n
""")


def take(
    caller: Caller,
    board_id: UUID,
    column_id: UUID,
    count: int,
    seconds: int | None,
    *,
    tidied: bool,
) -> list[Any]:
    """Run it: no row where the column has no contract, else at least one; a row's `id`
    is the card's, null when none was taken. `tidied` = don't stop for overdue cards."""
    return run(
        _statement(count),
        {
            "board": board_id,
            "column": column_id,
            "gate": gate(column_id),
            "actor": caller.actor_id,
            "token": caller.token_id,
            "handle": caller.handle,
            "seconds": seconds,
            # Only people may hold a card without end (design section 5).
            "fallback": DEFAULT_LEASE_SECONDS if caller.kind == "agent" else None,
            "tidied": tidied,
            "leases": [new_id() for _ in range(count)],
            "events": [new_id() for _ in range(count)],
            "nonces": [new_nonce() for _ in range(count)],
        },
    )
