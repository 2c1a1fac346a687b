"""How far delivery is behind, over all workspaces: one statement along small indexes."""

from dataclasses import dataclass

from django.db import connection

MOST_COUNTED = 10_000

_STATE = f"""
SELECT count(*) FILTER (WHERE e.enabled), count(*) FILTER (WHERE NOT e.enabled),
  COALESCE(sum(w.n), 0)::bigint,
  COALESCE(EXTRACT(EPOCH FROM statement_timestamp() - min(d.due_at)), 0)::float8,
  COALESCE((SELECT EXTRACT(EPOCH FROM statement_timestamp() - min(n.created_at))
    FROM webhooks_cursor c CROSS JOIN LATERAL (SELECT v.created_at FROM boards_event v
      WHERE v.workspace_id = c.workspace_id AND v.transaction >= c.transaction
        AND (v.transaction, v.id) > (c.transaction, c.event_id)
      ORDER BY v.transaction, v.id LIMIT 1) n
    WHERE EXISTS (SELECT FROM webhooks_endpoint o
      WHERE o.workspace_id = c.workspace_id AND o.enabled)), 0)::float8
FROM webhooks_endpoint e
CROSS JOIN LATERAL (SELECT count(*) AS n FROM (SELECT FROM webhooks_delivery p
  WHERE p.endpoint_id = e.id AND p.state = 'pending' LIMIT {MOST_COUNTED}) p) w
LEFT JOIN LATERAL (SELECT p.due_at FROM webhooks_delivery p
  WHERE e.enabled AND p.endpoint_id = e.id AND p.state = 'pending'
    AND p.due_at <= statement_timestamp()
  ORDER BY p.due_at LIMIT 1) d ON true
"""


@dataclass(frozen=True)
class DeliveryState:
    """Endpoints switched `on` and `off`; `lag_seconds` since the longest-due delivery
    to one that is on was due, `take_up_lag_seconds` since the oldest event happened that
    wasn't taken up."""

    on: int
    off: int
    pending: int
    lag_seconds: float
    take_up_lag_seconds: float


def state_of_delivery() -> DeliveryState:
    with connection.cursor() as cursor:
        cursor.execute(_STATE)
        on, off, pending, lag, take_up = cursor.fetchone()
    return DeliveryState(on, off, pending, max(0.0, lag), max(0.0, take_up))
