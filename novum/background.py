"""Housekeeping, as a Celery shell: what is only kept for a while goes."""

from celery import shared_task
from django.conf import settings

from accounts.verbs.housekeeping import forget_calls, forget_sessions
from boards.verbs.housekeeping import forget_events, rescue_strays


@shared_task(name="novum.background.housekeeping")
def housekeeping() -> None:
    rescue_strays()
    forget_calls()
    forget_sessions()
    forget_events(settings.EVENT_RETENTION_DAYS)
