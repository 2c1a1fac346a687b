"""The places of a queue with a concurrency limit."""

from itertools import count

from boards.models import Column
from leases.models import Lease, Slot


def lay_out(column: Column, limit: int) -> None:
    """Slots 1 to `limit`, and one for each live lease, also from a time without a limit.

    The gate of the queue must be shut. Free slots are made anew, so that a claim which
    still sees the old ones can't take them.
    """
    Slot.objects.filter(column=column, lease_id=None).delete()
    held = set(Slot.objects.filter(column=column).values_list("number", flat=True))
    free = (number for number in count(1) if number not in held)
    homeless = list(
        Lease.objects.filter(column=column, state=Lease.State.ACTIVE, slot=None)
        .order_by("card_id")
        .select_for_update(no_key=True)
    )
    for lease in homeless:
        lease.slot = next(free)
        held.add(lease.slot)
    Lease.objects.bulk_update(homeless, ["slot"])
    taken = [
        Slot(column=column, number=one.slot, lease_id=one.pk)
        for one in homeless
        if one.slot
    ]
    empty = [
        Slot(column=column, number=number)
        for number in range(1, limit + 1)
        if number not in held
    ]
    Slot.objects.bulk_create(taken + empty)
