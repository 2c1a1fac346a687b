"""Take deliveries that are due, fairly: so many of each endpoint.

Taking moves `due_at` to when the try must be over and leaves a mark. If the worker dies
the delivery is due again then, and only its holder can say what came of it. The row is
locked for this one statement; nothing is open while a request is on its way.

Per card, the next event waits until the one before is received, or has failed twice (at
once and after the schedule's first pause): order, without one bad hour holding up all.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any
from uuid import UUID

import msgspec
from django.db import connection
from django.db.models import Exists, OuterRef, Q
from django.utils.timezone import now

from accounts.ids import new_id
from accounts.roles import WorkspaceRole
from boards.models import ClockTimestamp
from webhooks import conf
from webhooks.keys import Unopenable, opened
from webhooks.models import Delivery, Endpoint, Secret

TRIES_IN_ORDER = 2

_TAKE = f"""
WITH picked AS MATERIALIZED (
  SELECT d.id, d.taken FROM unnest(%(endpoints)s::uuid[], %(rooms)s::int[])
    AS r (endpoint, room)
  CROSS JOIN LATERAL (
    SELECT id, taken FROM webhooks_delivery d
    WHERE d.endpoint_id = r.endpoint AND d.state = 'pending'
      AND d.due_at <= clock_timestamp() AND NOT EXISTS (
        SELECT FROM webhooks_delivery e WHERE e.endpoint_id = d.endpoint_id
          AND e.card_id = d.card_id AND e.state = 'pending'
          AND e.sequence < d.sequence AND e.tries < {TRIES_IN_ORDER})
    ORDER BY d.due_at, d.event_id LIMIT r.room FOR NO KEY UPDATE SKIP LOCKED
  ) d
), mine AS (
  UPDATE webhooks_delivery d SET taken = %(mark)s,
    due_at = clock_timestamp() + make_interval(secs => %(seconds)s),
    attempts = d.attempts + CASE WHEN p.taken IS NULL THEN 0 ELSE 1 END
  FROM picked p WHERE d.id = p.id
  RETURNING d.id, d.endpoint_id, d.event_id, d.type, d.attempts, d.tries, p.taken
), lost AS (
  INSERT INTO webhooks_attempt (delivery_id, number, at, milliseconds, problem, answer)
  SELECT id, attempts, clock_timestamp(), 0, 'interrupted', '' FROM mine
  WHERE taken IS NOT NULL
)
SELECT mine.id, mine.endpoint_id, mine.event_id, mine.tries, m.body
FROM mine LEFT JOIN webhooks_message m ON m.event_id = mine.event_id
ORDER BY mine.event_id
"""


@dataclass(frozen=True)
class Destination:
    """What it takes to send to an endpoint: with secrets, so it's never shown."""

    id: UUID
    url: str
    format: str
    headers: list[tuple[str, str]]
    keys: list[str]
    is_failing: bool

    def __repr__(self) -> str:
        return f"<endpoint {self.id}>"


@dataclass(frozen=True)
class Taken:
    """A delivery in hand, with the mark that proves it."""

    id: UUID
    mark: UUID
    event_id: UUID
    tries: int
    body: str | None
    to: Destination


def destinations() -> list[Destination]:
    """The endpoints for which something is due now."""
    due = Delivery.objects.filter(
        endpoint_id=OuterRef("pk"),
        state=Delivery.State.PENDING,
        due_at__lte=ClockTimestamp(),
    )
    rows = list(
        Endpoint.objects.filter(
            Exists(due),
            enabled=True,
            owner__disabled_at=None,
            owner__role__gte=WorkspaceRole.ADMIN,
        )
    )
    keys = _keys([row.pk for row in rows])
    return [_destination(row, keys.get(row.pk, [])) for row in rows]


def take(rooms: Mapping[UUID, int], known: Sequence[Destination]) -> list[Taken]:
    """At most so many of each, the longest due first."""
    if not rooms:
        return []
    by_id = {one.id: one for one in known}
    mark = new_id()
    with connection.cursor() as cursor:
        cursor.execute(
            _TAKE,
            {
                "endpoints": list(rooms),
                "rooms": list(rooms.values()),
                "mark": mark,
                "seconds": conf.TOTAL_SECONDS + conf.SPARE_SECONDS,
            },
        )
        return [
            Taken(pk, mark, event_id, tries, body, by_id[endpoint_id])
            for pk, endpoint_id, event_id, tries, body in cursor.fetchall()
        ]


def _keys(endpoint_ids: Sequence[UUID]) -> dict[UUID, list[str]]:
    """The secrets in force, the newest first."""
    rows = Secret.objects.filter(
        Q(expires_at=None) | Q(expires_at__gt=now()), endpoint_id__in=endpoint_ids
    )
    found: dict[UUID, list[str]] = {}
    for row in rows.order_by("-id"):
        found.setdefault(row.endpoint_id, [])
        try:
            found[row.endpoint_id].append(_opened(row.sealed))
        except Unopenable:
            continue
    return found


def _destination(row: Endpoint, keys: list[str]) -> Destination:
    headers: dict[str, Any] = {}
    if row.headers:
        try:
            headers = msgspec.json.decode(_opened(row.headers))
        except Unopenable:
            # Without what it may need to be let in, nor signed: it counts as failed.
            keys = []
    return Destination(
        id=row.pk,
        url=row.url,
        format=row.format,
        headers=list(headers.items()),
        keys=keys,
        is_failing=row.failing_since is not None,
    )


@lru_cache(maxsize=2000)
def _opened(sealed: str) -> str:
    return opened(sealed)
