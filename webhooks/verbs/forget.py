"""What was delivered long ago goes, in batches by the ids' own time."""

from datetime import timedelta

from django.utils.timezone import now

from accounts.moments import first_id_ago
from webhooks import conf
from webhooks.models import Delivery, Endpoint, Message, Tally

BATCH = 2_000
MAX_BATCHES = 50


def forget() -> int:
    """Deliveries with their tries and messages, after `conf.KEPT_DAYS` (0: never);
    how many deliveries."""
    if not conf.KEPT_DAYS:
        return 0
    age = timedelta(days=conf.KEPT_DAYS)
    oldest, gone = first_id_ago(age), 0
    for endpoint_id in Endpoint.objects.values_list("pk", flat=True):
        old = Delivery.objects.filter(endpoint_id=endpoint_id, event_id__lt=oldest)
        for _ in range(MAX_BATCHES):
            ids = list(old.order_by("event_id").values_list("pk", flat=True)[:BATCH])
            if not ids:
                break
            gone += len(ids)
            Delivery.objects.filter(pk__in=ids).delete()
    messages = Message.objects.filter(pk__lt=oldest)
    for _ in range(MAX_BATCHES):
        keys = list(messages.order_by("pk").values_list("pk", flat=True)[:BATCH])
        if not keys:
            break
        Message.objects.filter(pk__range=(keys[0], keys[-1])).delete()
    Tally.objects.filter(hour__lt=now() - age).delete()
    return gone
