"""Housekeeping, as a Celery shell: what is only kept for a while goes."""

from celery import shared_task
from django.conf import settings

from accounts.verbs.housekeeping import forget_calls, forget_sessions
from boards.verbs.housekeeping import forget_events, rescue_strays
from leases.verbs.forget import forget_leases


@shared_task(name="novum.background.housekeeping")
def housekeeping() -> None:
    rescue_strays()
    forget_calls()
    forget_sessions()
    forget_events(settings.EVENT_RETENTION_DAYS)


@shared_task(name="novum.background.forget_leases")
def forget_old_leases() -> int:
    """Apart, and seldom: it passes by those that are kept."""
    return forget_leases(settings.LEASE_RETENTION_DAYS)
