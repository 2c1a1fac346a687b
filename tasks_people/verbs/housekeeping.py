"""Old messages go."""

from datetime import timedelta

from django.db.models.functions import Now

from tasks_people.models import Message

BATCH = 5_000
MAX_BATCHES = 100


def forget_messages(days: int) -> int:
    """Delete messages older than `days` (0: none ever), read or not; how many.

    In batches, each its own transaction, and a bounded number of them: the rest is the
    next pass's. Safe to run many at once.
    """
    if not days:
        return 0
    old = Message.objects.filter(created_at__lt=Now() - timedelta(days=days))
    forgotten = 0
    for _ in range(MAX_BATCHES):
        ids = list(old.order_by("created_at").values_list("pk", flat=True)[:BATCH])
        forgotten += Message.objects.filter(pk__in=ids).delete()[0]
        if len(ids) < BATCH:
            break
    return forgotten
