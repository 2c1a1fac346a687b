"""Switch an endpoint off that isn't worth trying any more, and tell its owner."""

import logging
import threading
from collections.abc import Sequence
from datetime import timedelta
from smtplib import SMTPException
from uuid import UUID

from django.conf import settings
from django.core.mail import EmailMessage, mailers
from django.db import transaction
from django.dispatch import Signal
from django.utils.timezone import now
from django.utils.translation import gettext

from accounts.roles import WorkspaceRole
from boards.models import ClockTimestamp
from webhooks import conf
from webhooks.models import Endpoint

log = logging.getLogger(__name__)
MAILER = "default"
# With `endpoint_id`, after the commit: for those who pass the news on.
switched_off = Signal()


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


def owner_of(endpoint_id: UUID) -> Endpoint:
    """The endpoint with its owner."""
    rows = Endpoint.objects.select_related("owner__user", "owner__workspace")
    return rows.get(pk=endpoint_id)


def _tell_owner(endpoint_id: UUID) -> None:
    """By whatever listens (messages), and by mail, where mail is set up and the owner
    has an address. Besides, every page tells all admins."""
    for _, error in switched_off.send_robust(Endpoint, endpoint_id=endpoint_id):
        if isinstance(error, Exception):
            log.error("A message about %s was lost", endpoint_id, exc_info=error)
    endpoint = owner_of(endpoint_id)
    user = endpoint.owner.user
    if MAILER not in mailers or not (user and user.email):
        return
    text = gettext(
        "Novum sends nothing to your webhook endpoint {name} any more: {why}. What is"
        " waiting for it is kept; put it right and switch it on again at {link}"
    ).format(
        name=endpoint.description or endpoint.pk,
        why=endpoint.get_off_display(),
        link=f"{settings.NOVUM_URL.rstrip('/')}/webhooks/{endpoint.pk}",
    )
    mail = EmailMessage(
        subject=gettext("A webhook endpoint was switched off"),
        body=text,
        from_email=settings.MAIL_FROM,
        to=[user.email],
    )
    # A mail server may take its time, and deliveries wait for whoever called this.
    threading.Thread(target=_send, args=(mail, endpoint_id)).start()


def _send(mail: EmailMessage, endpoint_id: UUID) -> None:
    try:
        mail.send(using=MAILER)
    except (OSError, SMTPException) as error:
        log.warning("The owner of endpoint %s got no mail: %s", endpoint_id, error)
