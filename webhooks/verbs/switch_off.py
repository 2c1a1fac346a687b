"""Switch an endpoint off that isn't worth trying any more, and tell its owner."""

import logging
from collections.abc import Sequence
from datetime import timedelta
from uuid import UUID

from django.conf import settings
from django.core.mail import send_mail
from django.db import transaction
from django.utils.timezone import now
from django.utils.translation import gettext as _

from accounts.roles import WorkspaceRole
from boards.models import ClockTimestamp
from webhooks import conf
from webhooks.models import Endpoint

log = logging.getLogger(__name__)


@transaction.atomic
def switch_off(endpoint_id: UUID, why: Endpoint.Off) -> bool:
    """Whether it was on. What is still to be delivered stays, for when it's on again."""
    done = Endpoint.objects.filter(pk=endpoint_id, enabled=True).update(
        enabled=False, off=why, off_at=ClockTimestamp()
    )
    if done:
        transaction.on_commit(lambda: _tell_owner(endpoint_id))
    return bool(done)


def switch_off_failing(endpoint_ids: Sequence[UUID]) -> None:
    """Those of them that have failed for days, without one success in between."""
    since = now() - timedelta(days=conf.FAILING_DAYS)
    rows = Endpoint.objects.filter(
        pk__in=endpoint_ids, enabled=True, failing_since__lte=since
    )
    for pk in rows.order_by("pk").values_list("pk", flat=True):
        switch_off(pk, Endpoint.Off.FAILING)


def switch_off_orphaned() -> int:
    """Those whose owner may not see everything any more; how many."""
    rows = Endpoint.objects.filter(enabled=True).exclude(
        owner__disabled_at=None, owner__role__gte=WorkspaceRole.ADMIN
    )
    ids = list(rows.values_list("pk", flat=True))
    return sum(switch_off(pk, Endpoint.Off.OWNER) for pk in ids)


def _tell_owner(endpoint_id: UUID) -> None:
    """By mail, where mail is set up and the owner has an address. Every page tells all
    admins (templates/webhooks)."""
    endpoint = Endpoint.objects.select_related("owner__user").get(pk=endpoint_id)
    user = endpoint.owner.user
    if not getattr(settings, "EMAIL_CONFIGURED", False) or not (user and user.email):
        return
    text = _(
        "Novum sends nothing to your webhook endpoint {name} any more: {why}. What is"
        " waiting for it is kept; put it right and switch it on again at {link}"
    ).format(
        name=endpoint.description or endpoint.pk,
        why=endpoint.get_off_display(),
        link=f"{settings.NOVUM_URL.rstrip('/')}/webhooks/{endpoint.pk}",
    )
    try:
        send_mail(_("A webhook endpoint was switched off"), text, None, [user.email])
    except OSError as error:
        log.warning("The owner of endpoint %s got no mail: %s", endpoint_id, error)
