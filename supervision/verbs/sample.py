"""Sample: once a minute, how much lies in each queue and how much is being worked on."""

from datetime import datetime

from leases.models import Contract
from leases.reads import server_time
from supervision.depths import depths
from supervision.models import RollUp
from supervision.verbs.figures import Tally


def sample_when_due(mark: RollUp, tally: Tally) -> bool:
    """Count the workspace's queues, if nobody has in this minute; whether it did. The
    caller holds the mark and saves it."""
    now = server_time()
    if mark.sampled_at is not None and _minute(mark.sampled_at) >= _minute(now):
        return False
    queues = Contract.objects.filter(workspace_id=mark.pk, enabled=True)
    found = depths(queues.values_list("pk", flat=True))
    for column_id, depth in found.items():
        # Nothing there needs no row: that's most minutes of most queues.
        if depth.ready or depth.working:
            tally.sample(column_id, now, depth=depth.ready, working=depth.working)
    mark.sampled_at = now
    return True


def _minute(moment: datetime) -> datetime:
    return moment.replace(second=0, microsecond=0)
