"""What is only kept for a while: remembered calls, and sessions of the pages."""

from datetime import timedelta

from django.contrib.sessions.backends.db import SessionStore
from django.db.models.functions import Now

from accounts.models import RememberedCall

BATCH = 5_000
MAX_BATCHES = 100


def forget_calls() -> int:
    """Delete the calls whose key may be used again; returns how many.

    In batches, each its own transaction, and a bounded number of them: the rest is the
    next pass's. Safe to run many at once.
    """
    age = timedelta(seconds=RememberedCall.KEPT_SECONDS)
    old = RememberedCall.objects.filter(created_at__lt=Now() - age)
    forgotten = 0
    for _ in range(MAX_BATCHES):
        ids = list(old.order_by("created_at").values_list("pk", flat=True)[:BATCH])
        forgotten += RememberedCall.objects.filter(pk__in=ids).delete()[0]
        if len(ids) < BATCH:
            break
    return forgotten


def forget_sessions() -> None:
    """Delete the sessions that have expired."""
    SessionStore.clear_expired()
