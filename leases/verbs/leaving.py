"""Whoever is shut out holds nothing for ever.

What an agent holds comes back when its leases lapse; what a person has started never
lapses, so it's taken back with the person.
"""

from collections.abc import Sequence
from itertools import groupby
from typing import Any
from uuid import UUID

from django.db.models import Q

from accounts.callers import Caller
from leases.models import Lease
from leases.statements import giving_back
from leases.verbs.cancel import end_cancelled

BATCH = 100


def take_back(
    sender: Any, *, caller: Caller | None, actor_id: UUID, **more: Any
) -> None:
    """Revoke what this actor holds without end, on every board, in the transaction that
    shuts them out: the cards are open again, the attempts not counted."""
    by = f" by @{caller.handle}" if caller else ""
    _revoke(list(_endless().filter(holder_id=actor_id)), caller, by)


def take_back_from_the_gone() -> int:
    """The same for what reached them too late: a claim that ran while they were shut
    out, or within the two seconds in which a process still knew their token. How many
    cards. Safe when many run."""
    gone = Q(holder__disabled_at__isnull=False) | Q(holder__user__is_active=False)
    rows = _endless().filter(gone, holder__kind="person").order_by("holder_id", "id")
    found = list(rows[:BATCH])
    return sum(
        _revoke(list(theirs), None, "")
        for _, theirs in groupby(found, lambda lease: lease.holder_id)
    )


def _endless() -> Any:
    rows = Lease.objects.filter(state=Lease.State.ACTIVE, expires_at=None)
    return rows.select_related("holder").only("holder", "holder__handle")


def _revoke(leases: Sequence[Lease], caller: Caller | None, by: str) -> int:
    if not leases:
        return 0
    ids = [lease.pk for lease in leases]
    reason = f"@{leases[0].holder.handle} was shut out{by}."
    freed = giving_back.give_back(giving_back.REVOKE, ids, caller=caller, reason=reason)
    return len(freed) + len(end_cancelled(ids))
