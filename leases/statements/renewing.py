"""The heartbeat, and the look at a lease that comes before its holder's verbs."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from leases.statements.running import compact, run

_LOOK = compact("""
SELECT l.*, h.handle AS by_handle, h.name AS by_name, h.kind AS by_kind, c.number,
  c.title, c.column_id AS card_column_id, c.state AS card_state, c.attempts,
  c.available_at, c.version, c.lease_id AS card_lease_id, k.output_schema,
  clock_timestamp() AS now
FROM leases_lease l JOIN boards_card c ON c.id = l.card_id
JOIN accounts_actor h ON h.id = l.holder_id
LEFT JOIN leases_contract k ON k.column_id = l.column_id
WHERE l.id = ANY(%(leases)s::uuid[]) AND l.workspace_id = %(workspace)s
""")

# Leases are locked in the order of their cards, as everywhere. Lock all of them first,
# then read the clock: a renewal that waited past the expiry must find the lease lapsed,
# whatever the clock said when it began to wait.
_RENEW = compact("""
WITH held AS MATERIALIZED (
  SELECT l.id, l.state, l.expires_at, COALESCE(%(seconds)s, l.seconds) AS seconds
  FROM leases_lease l WHERE l.id = ANY(%(leases)s::uuid[])
  ORDER BY l.card_id FOR NO KEY UPDATE
), clocked AS MATERIALIZED (
  SELECT held.*, clock_timestamp() AS now
  FROM (SELECT count(*) FROM held) AS all_of_them, held
)
UPDATE leases_lease l SET renewals = l.renewals + 1, renewed_at = c.now,
  expires_at = c.now + make_interval(secs => c.seconds)
FROM clocked c
WHERE l.id = c.id AND c.state = 'active' AND (c.expires_at IS NULL OR c.expires_at > c.now)
RETURNING l.id, l.expires_at, c.now
""")


def look(workspace_id: UUID, leases: Sequence[UUID]) -> dict[UUID, Any]:
    """Each lease with its card in short, unlocked."""
    rows = run(_LOOK, {"leases": list(leases), "workspace": workspace_id})
    return {row.id: row for row in rows}


def renew(leases: Sequence[UUID], seconds: int | None) -> dict[UUID, Any]:
    """Extend those still held, by `seconds` or by what each was claimed for."""
    rows = run(_RENEW, {"leases": list(leases), "seconds": seconds})
    return {row.id: row for row in rows}
