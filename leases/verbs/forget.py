"""Old leases of finished cards go, where a deployment wants that."""

from datetime import timedelta

from django.db.models import Q

from accounts.moments import first_id_ago
from boards.models import Card
from leases.models import Lease

BATCH = 2_000
MAX_BATCHES = 100
# Nobody looks back on how these came about; cards that wait, work or failed keep theirs.
_FINISHED = Q(card__state=Card.State.DONE) | Q(card__archived_at__isnull=False)


def forget_leases(days: int) -> int:
    """Delete the leases that began more than `days` ago (0: none ever), of cards that are
    done or archived, which stay as they are; how many.

    In batches, each its own transaction, and a bounded number of them: the rest is the
    next pass's. Safe to run many at once.
    """
    if not days:
        return 0
    old = Lease.objects.filter(
        _FINISHED, pk__lt=first_id_ago(timedelta(days=days)), ended_at__isnull=False
    )
    forgotten = 0
    for _ in range(MAX_BATCHES):
        ids = list(old.order_by("pk").values_list("pk", flat=True)[:BATCH])
        forgotten += Lease.objects.filter(pk__in=ids).delete()[1].get("leases.Lease", 0)
        if len(ids) < BATCH:
            break
        old = old.filter(pk__gt=ids[-1])
    return forgotten
