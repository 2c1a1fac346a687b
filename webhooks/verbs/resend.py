"""Send again what was sent before: the same message with the same id."""

from datetime import datetime
from uuid import UUID

from django.db import transaction
from django.db.models import QuerySet

from accounts.callers import Caller
from accounts.errors import NotFound
from accounts.moments import first_id_at, keepable
from boards.models import ClockTimestamp
from webhooks.errors import EndpointOff
from webhooks.models import Delivery, Endpoint

MOST_AT_ONCE = 10_000


@transaction.atomic
def resend_delivery(caller: Caller, *, delivery_id: UUID) -> UUID:
    """Now, and by the whole schedule again. Admins. Raises NotFound, Forbidden,
    EndpointOff."""
    row = (
        Delivery.objects.select_for_update(no_key=True, of=("self",))
        .select_related("endpoint")
        .filter(pk=delivery_id, endpoint__workspace_id=caller.workspace_id)
        .first()
    )
    if row is None:
        raise NotFound("There is no such delivery here.")
    caller.require_admin()
    if not row.endpoint.enabled:
        raise EndpointOff
    if row.taken is None:
        _again(Delivery.objects.filter(pk=row.pk))
    return row.pk


@transaction.atomic
def resend_failed(caller: Caller, *, endpoint_id: UUID, since: datetime) -> int:
    """Everything that was given up and happened since then, the oldest first, at most
    MOST_AT_ONCE; how many. Admins. Raises NotFound, Forbidden, EndpointOff, Invalid."""
    since = keepable(since, "/since") or since
    endpoint = Endpoint.objects.filter(
        pk=endpoint_id, workspace_id=caller.workspace_id
    ).first()
    if endpoint is None:
        raise NotFound("There is no such endpoint here.")
    caller.require_admin()
    if not endpoint.enabled:
        raise EndpointOff
    failed = Delivery.objects.filter(
        endpoint=endpoint,
        state=Delivery.State.FAILED,
        event_id__gte=_first_id(since),
    )
    ids = list(failed.order_by("event_id").values_list("pk", flat=True)[:MOST_AT_ONCE])
    return _again(Delivery.objects.filter(pk__in=ids, state=Delivery.State.FAILED))


def _first_id(since: datetime) -> UUID:
    """Ids have no times before 1970."""
    return first_id_at(since) if since.timestamp() > 0 else UUID(int=0)


def _again(rows: QuerySet[Delivery]) -> int:
    return rows.update(
        state=Delivery.State.PENDING,
        tries=0,
        due_at=ClockTimestamp(),
        ended_at=None,
        taken=None,
    )
