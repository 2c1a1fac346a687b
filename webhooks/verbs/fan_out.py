"""From events to deliveries: each event once for every endpoint that asked for it.

A workspace's cursor follows its events in the order of the feed (boards.reads): only
what is older than every transaction still running, so nothing is skipped that commits
late. Whoever holds the cursor's row does the work; deliveries, messages and the cursor
move in one transaction.
"""

import logging
from collections.abc import Sequence
from uuid import UUID

from django.db import DatabaseError, connection, transaction
from django.db.models import Q, QuerySet

from accounts.ids import new_id
from accounts.roles import WorkspaceRole
from boards.models import Event, Snapshot
from webhooks import catalogue, conf
from webhooks.models import Cursor, Endpoint, Message
from webhooks.payloads import bodies

BATCH = 200
log = logging.getLogger(__name__)


_DELIVERIES = """
INSERT INTO webhooks_delivery (id, endpoint_id, event_id, type, card_id, sequence, state,
  attempts, tries, due_at, problem, created_at)
SELECT id, endpoint, event, type, card, sequence, 'pending', 0, 0,
  clock_timestamp() + make_interval(secs => %s), '', clock_timestamp()
FROM unnest(%s::uuid[], %s::uuid[], %s::uuid[], %s::text[], %s::uuid[], %s::bigint[])
  AS n (id, endpoint, event, type, card, sequence)
ON CONFLICT DO NOTHING
"""

# One look for all workspaces, most of which have no news most of the time.
_WITH_NEWS = """
SELECT c.workspace_id FROM webhooks_cursor c
WHERE EXISTS (SELECT FROM webhooks_endpoint e
    WHERE e.workspace_id = c.workspace_id AND e.enabled)
  AND EXISTS (SELECT FROM boards_event e
    WHERE e.workspace_id = c.workspace_id AND e.transaction >= c.transaction
      AND (e.transaction, e.id) > (c.transaction, c.event_id)
      AND e.transaction < pg_snapshot_xmin(pg_current_snapshot())::text::bigint)
ORDER BY c.workspace_id
"""
ENOUGH = 500
_WORKING = "SELECT FROM webhooks_endpoint e WHERE e.workspace_id = %s AND e.enabled"
_BEHIND = f"""
SELECT EXISTS ({_WORKING} AND e.failing_since IS NULL) AND NOT EXISTS ({_WORKING}
  AND e.failing_since IS NULL AND NOT EXISTS (
    SELECT FROM webhooks_delivery d WHERE d.endpoint_id = e.id AND d.state = 'pending'
      AND d.due_at <= clock_timestamp() OFFSET {ENOUGH}))
"""


def fan_out() -> bool:
    """One batch of every workspace that has endpoints and news; whether there is more."""
    with connection.cursor() as cursor:
        cursor.execute(_WITH_NEWS)
        workspaces = [row[0] for row in cursor.fetchall()]
    return sum(map(_tried, workspaces)) > 0


def _tried(workspace_id: UUID) -> bool:
    """What goes wrong in one workspace is nobody else's trouble."""
    try:
        return _fan_out(workspace_id)
    except DatabaseError:
        raise
    except Exception:
        log.exception("The events of workspace %s wait", workspace_id)
        return False


@transaction.atomic
def _fan_out(workspace_id: UUID) -> bool:
    cursor = (
        Cursor.objects.select_for_update(skip_locked=True, no_key=True)
        .filter(pk=workspace_id)
        .first()
    )
    if cursor is None or _is_behind(workspace_id):
        return False
    events = list(_next(cursor)[:BATCH])
    if not events:
        return False
    _write(workspace_id, events)
    cursor.transaction, cursor.event_id = events[-1].transaction, events[-1].pk
    cursor.save(update_fields=["transaction", "event_id"])
    return len(events) == BATCH


def _is_behind(workspace_id: UUID) -> bool:
    """Whether every endpoint that works has enough to do for now: then events may just
    as well wait as events, which costs the database nothing. One that fails or hangs
    doesn't count, nor does it keep the others from their news."""
    with connection.cursor() as cursor:
        cursor.execute(_BEHIND, [workspace_id, workspace_id])
        return bool(cursor.fetchone()[0])


def _next(cursor: Cursor) -> QuerySet[Event]:
    behind = Q(transaction__gt=cursor.transaction) | Q(
        transaction=cursor.transaction, id__gt=cursor.event_id
    )
    return Event.objects.filter(
        behind,
        workspace_id=cursor.pk,
        transaction__gte=cursor.transaction,
        transaction__lt=Snapshot(),
    ).order_by("transaction", "id")


def _write(workspace_id: UUID, events: Sequence[Event]) -> None:
    endpoints = list(
        Endpoint.objects.filter(
            workspace_id=workspace_id,
            enabled=True,
            owner__disabled_at=None,
            owner__role__gte=WorkspaceRole.ADMIN,
        )
    )
    wanted = [
        (endpoint.pk, event)
        for event in events
        for endpoint in endpoints
        if _wants(endpoint, event)
    ]
    if not wanted:
        return
    told = list({event.pk: event for _, event in wanted}.values())
    texts = bodies(workspace_id, told)
    Message.objects.bulk_create(
        [Message(event_id=pk, body=text) for pk, text in texts.items()],
        ignore_conflicts=True,
    )
    columns = (
        [new_id() for _ in wanted],
        [endpoint_id for endpoint_id, _ in wanted],
        [event.pk for _, event in wanted],
        [event.type for _, event in wanted],
        [event.card_id for _, event in wanted],
        [event.sequence for _, event in wanted],
    )
    with connection.cursor() as statement:
        statement.execute(_DELIVERIES, [conf.SCHEDULE[0], *columns])


def _wants(endpoint: Endpoint, event: Event) -> bool:
    if event.transaction < endpoint.since:
        return False
    if endpoint.boards and event.board_id not in endpoint.boards:
        return False
    return any(catalogue.matches(one, event.type) for one in endpoint.types)
