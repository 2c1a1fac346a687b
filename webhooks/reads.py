"""What there is to know about endpoints and deliveries, for admins of the workspace."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

import msgspec
from django.db import connection
from django.db.models import Q, QuerySet
from django.utils.timezone import now

from accounts.callers import Caller
from accounts.errors import NotFound
from accounts.pages import Page, cut_page, paged
from accounts.shapes import actor_ref
from webhooks.models import Attempt, Delivery, Endpoint, Message, Tally
from webhooks.shapes import (
    AttemptShape,
    DeliveryDetail,
    DeliveryShape,
    EndpointShape,
    Hour,
    SecretShape,
)
from webhooks.signing import message_id

HOURS = 24
# Counting goes so far: a page never counts a whole history.
MOST_COUNTED = 10_000
MOST_OFF = 50


@dataclass(frozen=True)
class DeliveryFilter:
    """Every given condition must hold; a type may be a pattern (`card.lease.*`)."""

    endpoint_id: UUID | None = None
    state: str | None = None
    type: str = ""
    card_id: UUID | None = None


@paged
def endpoints(
    caller: Caller, *, page_size: int, page_token: str
) -> Page[EndpointShape]:
    """Oldest first. Raises Forbidden, BadCursor."""
    caller.require_admin()
    page = cut_page(
        _endpoints(caller), ("id",), tuple[UUID], page_size, page_token, lambda row: row
    )
    return Page(_shown(page.items), page.next_page_token)


def endpoint(caller: Caller, *, endpoint_id: UUID) -> EndpointShape:
    """Raises NotFound, Forbidden."""
    row = _endpoints(caller).filter(pk=endpoint_id).first()
    if row is None:
        raise NotFound("There is no such endpoint here.")
    caller.require_admin()
    return _shown([row])[0]


def switched_off(caller: Caller) -> int:
    """How many were switched off by themselves, for a notice to admins."""
    return _off_by_themselves(caller).count() if caller.is_admin() else 0


def off_by_themselves(caller: Caller) -> list[EndpointShape]:
    """Those; for admins, to others none. The last ones first, MOST_OFF at most."""
    if not caller.is_admin():
        return []
    return _shown(list(_off_by_themselves(caller).order_by("-off_at")[:MOST_OFF]))


def _off_by_themselves(caller: Caller) -> QuerySet[Endpoint]:
    own = Q(off="") | Q(off=Endpoint.Off.BY_HAND)
    return _endpoints(caller).exclude(own)


@paged
def deliveries(
    caller: Caller, wanted: DeliveryFilter, *, page_size: int, page_token: str
) -> Page[DeliveryShape]:
    """The latest event first. Raises NotFound (endpoint), Forbidden, BadCursor."""
    if wanted.endpoint_id:
        endpoint(caller, endpoint_id=wanted.endpoint_id)
        rows = Delivery.objects.filter(endpoint_id=wanted.endpoint_id)
    else:
        caller.require_admin()
        ours = list(_endpoints(caller).values_list("pk", flat=True))
        rows = Delivery.objects.filter(endpoint_id__in=ours)
    if wanted.state:
        rows = rows.filter(state=wanted.state)
    if wanted.card_id:
        rows = rows.filter(card_id=wanted.card_id)
    if wanted.type.endswith("*"):
        rows = rows.filter(type__startswith=wanted.type[:-1])
    elif wanted.type:
        rows = rows.filter(type=wanted.type)
    order, types = ("-event_id", "-id"), tuple[UUID, UUID]
    return cut_page(rows, order, types, page_size, page_token, _delivery)


def delivery(caller: Caller, *, delivery_id: UUID) -> DeliveryDetail:
    """With the body and all tries. Raises NotFound, Forbidden."""
    row = Delivery.objects.filter(
        pk=delivery_id, endpoint__workspace_id=caller.workspace_id
    ).first()
    if row is None:
        raise NotFound("There is no such delivery here.")
    caller.require_admin()
    message = Message.objects.filter(pk=row.event_id).first()
    tried = Attempt.objects.filter(delivery_id=row.pk).order_by("id")
    return DeliveryDetail(
        **msgspec.structs.asdict(_delivery(row)),
        body=msgspec.Raw(message.body.encode()) if message else None,
        tried=[_attempt(one) for one in tried],
    )


def _endpoints(caller: Caller) -> QuerySet[Endpoint]:
    rows = Endpoint.objects.filter(workspace_id=caller.workspace_id)
    return rows.select_related("owner").prefetch_related("secrets")


def _shown(rows: Sequence[Endpoint]) -> list[EndpointShape]:
    ids = [row.pk for row in rows]
    hours, counts = _hours(ids), _counts(ids)
    return [
        _endpoint(row, hours.get(row.pk, {}), counts.get(row.pk, (0, 0)))
        for row in rows
    ]


_COUNTS = f"""
SELECT e.id, w.n, g.n FROM unnest(%s::uuid[]) AS e (id)
CROSS JOIN LATERAL (SELECT count(*) AS n FROM (SELECT FROM webhooks_delivery d
  WHERE d.endpoint_id = e.id AND d.state = 'pending' LIMIT {MOST_COUNTED}) d) w
CROSS JOIN LATERAL (SELECT count(*) AS n FROM (SELECT FROM webhooks_delivery d
  WHERE d.endpoint_id = e.id AND d.state = 'failed' LIMIT {MOST_COUNTED}) d) g
"""


def _counts(endpoint_ids: Sequence[UUID]) -> dict[UUID, tuple[int, int]]:
    """How many wait and how many were given up, of each."""
    with connection.cursor() as cursor:
        cursor.execute(_COUNTS, [list(endpoint_ids)])
        return {pk: (waiting, given_up) for pk, waiting, given_up in cursor.fetchall()}


def _hours(endpoint_ids: Sequence[UUID]) -> dict[UUID, dict[datetime, Tally]]:
    since = _this_hour() - timedelta(hours=HOURS - 1)
    found: dict[UUID, dict[datetime, Tally]] = {}
    for row in Tally.objects.filter(endpoint_id__in=endpoint_ids, hour__gte=since):
        found.setdefault(row.endpoint_id, {})[row.hour] = row
    return found


def _this_hour() -> datetime:
    return now().replace(minute=0, second=0, microsecond=0)


def _endpoint(
    row: Endpoint, tallies: dict[datetime, Tally], counts: tuple[int, int]
) -> EndpointShape:
    begin = _this_hour() - timedelta(hours=HOURS - 1)
    moments = [begin + timedelta(hours=number) for number in range(HOURS)]
    hours = [
        Hour(at, one.delivered, one.failed)
        if (one := tallies.get(at))
        else Hour(at, 0, 0)
        for at in moments
    ]
    return EndpointShape(
        id=row.pk,
        url=row.url,
        description=row.description,
        types=row.types,
        boards=row.boards,
        format=row.format,
        header_names=row.header_names,
        enabled=row.enabled,
        off=row.off or None,
        off_at=row.off_at,
        failing_since=row.failing_since,
        owner=actor_ref(row.owner),
        secrets=_secrets(row),
        waiting=counts[0],
        given_up=counts[1],
        hours=hours,
        created_at=row.created_at,
    )


def _secrets(row: Endpoint) -> list[SecretShape]:
    rows = sorted(row.secrets.all(), key=lambda one: -one.pk)
    moment = now()
    return [
        SecretShape(one.created_at, one.expires_at)
        for one in rows
        if one.expires_at is None or one.expires_at > moment
    ]


def _delivery(row: Delivery) -> DeliveryShape:
    return DeliveryShape(
        id=row.pk,
        endpoint_id=row.endpoint_id,
        webhook_id=message_id(row.event_id),
        event_id=row.event_id,
        type=row.type,
        card_id=row.card_id,
        sequence=row.sequence,
        state=row.state,
        attempts=row.attempts,
        due_at=row.due_at if row.state == Delivery.State.PENDING else None,
        status=row.status,
        problem=row.problem,
        created_at=row.created_at,
        ended_at=row.ended_at,
    )


def _attempt(row: Attempt) -> AttemptShape:
    return AttemptShape(
        number=row.number,
        at=row.at,
        milliseconds=row.milliseconds,
        status=row.status,
        problem=row.problem,
        answer=row.answer,
    )
