"""The limit of a seat: how many cards it may hold at once, over all its workers."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import transaction
from django.db.models import Q

from accounts.callers import Caller
from boards.models import ClockTimestamp
from boards.shapes import card_brief
from leases.errors import SeatAtCapacity
from leases.models import Lease
from leases.statements.gate import gate
from leases.statements.running import run


@contextmanager
def room(caller: Caller, wanted: int) -> Iterator[int]:
    """How many of `wanted` cards the caller's seat has room for, at least one. Until the
    block ends no other worker of a seat with a limit takes one; without a limit it costs
    nothing. Raises SeatAtCapacity, which names the cards.

    The seat's lock comes before all others.
    """
    if caller.max_leases is None:
        yield wanted
        return
    with transaction.atomic():
        run("SELECT pg_advisory_xact_lock(%(seat)s)", {"seat": gate(caller.actor_id)})
        held = _held(caller)
        if len(held) >= caller.max_leases:
            raise _full(caller, held)
        yield min(wanted, caller.max_leases - len(held))


def _held(caller: Caller) -> list[Lease]:
    """Those in force; what has run out is lost, whether or not anybody has noticed."""
    in_force = Q(expires_at=None) | Q(expires_at__gt=ClockTimestamp())
    rows = Lease.objects.filter(
        in_force, holder_id=caller.actor_id, state=Lease.State.ACTIVE
    )
    return list(rows.select_related("card").defer("output").order_by("id"))


def _full(caller: Caller, held: list[Lease]) -> SeatAtCapacity:
    return SeatAtCapacity(
        f"@{caller.handle} holds {len(held)} of {caller.max_leases} cards. Finish or"
        " give back one of them.",
        max_leases=caller.max_leases,
        held=[
            {
                "lease_id": lease.pk,
                "expires_at": lease.expires_at,
                "card": card_brief(lease.card, caller.workspace_key),
            }
            for lease in held
        ],
    )
