"""The heartbeat, and the look at a lease that comes before its holder's verbs."""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from boards.events import CARD_COMMENTED, LEASE_CLAIMED
from leases.statements.columns import LEASE
from leases.statements.running import compact, run

MAX_COMMENTS_TOLD, MAX_COMMENT_CHARACTERS = 10, 2_000

_LOOK = compact(f"""
SELECT {LEASE}, h.handle AS by_handle, h.name AS by_name, h.kind AS by_kind, c.number,
  c.title, c.column_id AS card_column_id, c.state AS card_state, c.attempts,
  c.available_at, c.version, c.lease_id AS card_lease_id, k.output_schema,
  k.version AS contract_version, clock_timestamp() AS now
FROM leases_lease l JOIN boards_card c ON c.id = l.card_id
JOIN accounts_actor h ON h.id = l.holder_id
LEFT JOIN leases_contract k ON k.column_id = l.column_id
WHERE l.id = ANY(%(leases)s::uuid[]) AND l.workspace_id = %(workspace)s
""")

# Leases are locked in the order of their cards, as everywhere. Lock all of them first,
# then read the clock: a renewal that waited past the expiry must find the lease lapsed,
# whatever the clock said when it began to wait.
#
# What is news to the holder is told by the numbers in the card's history: they rise in
# the order of the commits, which no time of a comment does.
_RENEW = compact(f"""
WITH held AS MATERIALIZED (
  SELECT l.id, l.state, l.expires_at, COALESCE(%(seconds)s, l.seconds) AS seconds
  FROM leases_lease l WHERE l.id = ANY(%(leases)s::uuid[])
  ORDER BY l.card_id FOR NO KEY UPDATE
), clocked AS MATERIALIZED (
  SELECT held.*, clock_timestamp() AS now
  FROM (SELECT count(*) FROM held) AS all_of_them, held
), asked AS MATERIALIZED (
  SELECT c.*, s.doing, news.told, news.comments
  FROM clocked c JOIN leases_lease l ON l.id = c.id
  LEFT JOIN unnest(%(leases)s::uuid[], %(doings)s::text[]) AS s (id, doing)
    ON s.id = c.id
  CROSS JOIN LATERAL (SELECT max(n.sequence) AS told,
      jsonb_agg(n.comment ORDER BY n.sequence) AS comments
    FROM (SELECT e.sequence, jsonb_build_object('id', m.id, 'author', a.handle,
        'text', left(m.text, {MAX_COMMENT_CHARACTERS}), 'at', m.created_at) AS comment
      FROM boards_event e JOIN boards_comment m
        ON m.id = (e.data ->> 'comment_id')::uuid
      JOIN accounts_actor a ON a.id = m.author_id
      WHERE e.card_id = l.card_id AND e.type = '{CARD_COMMENTED}'
        AND m.author_id <> l.holder_id
        AND e.sequence > COALESCE(l.heard, (SELECT b.sequence FROM boards_event b
          WHERE b.card_id = l.card_id AND b.lease_id = l.id
            AND b.type = '{LEASE_CLAIMED}' ORDER BY b.sequence DESC LIMIT 1), 0)
      ORDER BY e.sequence LIMIT {MAX_COMMENTS_TOLD}) n) news
  WHERE c.state = 'active' AND (c.expires_at IS NULL OR c.expires_at > c.now)
), renewed AS (
  UPDATE leases_lease l SET renewals = l.renewals + 1, renewed_at = a.now,
    expires_at = a.now + make_interval(secs => a.seconds),
    doing = COALESCE(a.doing, l.doing),
    doing_at = CASE WHEN a.doing IS NULL THEN l.doing_at ELSE a.now END,
    heard = COALESCE(a.told, l.heard),
    cancel_told_at = CASE WHEN l.cancel_requested_at IS NULL THEN NULL
      ELSE COALESCE(l.cancel_told_at, a.now) END
  FROM asked a WHERE l.id = a.id AND l.cancel_told_at IS NULL
  RETURNING l.*, a.now, a.comments
)
SELECT r.id, r.expires_at, r.now, r.comments, r.cancel_requested_at, r.cancel_reason,
  b.handle AS cancel_by
FROM renewed r LEFT JOIN accounts_actor b ON b.id = r.cancel_requested_by_id
""")

_SAY = compact("""
WITH held AS MATERIALIZED (
  SELECT l.id FROM leases_lease l WHERE l.id = %(lease)s FOR NO KEY UPDATE
)
UPDATE leases_lease l SET doing = %(doing)s, doing_at = c.now
FROM (SELECT held.id, clock_timestamp() AS now FROM held) c
WHERE l.id = c.id AND l.state = 'active'
  AND (l.expires_at IS NULL OR l.expires_at > c.now)
RETURNING l.doing, l.doing_at
""")


def look(workspace_id: UUID, leases: Sequence[UUID]) -> dict[UUID, Any]:
    """Each lease with its card in short, unlocked."""
    rows = run(_LOOK, {"leases": list(leases), "workspace": workspace_id})
    return {row.id: row for row in rows}


def renew(
    leases: Sequence[UUID],
    seconds: int | None,
    doings: Mapping[UUID, str] | None = None,
) -> dict[UUID, Any]:
    """Extend those still held, by `seconds` or by what each was claimed for, and keep
    what their holders say to be doing. A holder who has been told to stop renews no
    more."""
    ids, said = list(leases), doings or {}
    rows = run(
        _RENEW,
        {"leases": ids, "seconds": seconds, "doings": [said.get(one) for one in ids]},
    )
    return {row.id: row for row in rows}


def say(lease_id: UUID, doing: str) -> Any:
    """Keep it for a lease still held; None when it isn't."""
    rows = run(_SAY, {"lease": lease_id, "doing": doing})
    return rows[0] if rows else None
