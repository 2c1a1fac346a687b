"""Cancel: a card is called off. Whoever works on it is asked to stop, and hears it.

An open card ends at once. A held one gets a flag: the holder's next heartbeat tells it
(and still extends the lease, so that work can be put down in order), and the call after
that, whatever it is, ends the lease as revoked and answers LeaseLost. Who doesn't call
at all is waited for a minute, or until the lease runs out if that comes first; then the
reaper does it. A result that comes before the holder has heard still counts.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import Q

from accounts.callers import Caller
from accounts.roles import BoardRole
from boards import access, events
from boards.models import Card, ClockTimestamp, Event
from boards.shapes import card_brief
from boards.verbs.moving import changed, locked_card
from leases.errors import NotCancellable
from leases.models import Contract, Lease, Slot
from leases.reads import server_time
from leases.shapes import Cancelled
from leases.verbs.reasons import check_text

# How long a holder who doesn't call is waited for.
GRACE = timedelta(seconds=60)
BATCH = 100


@transaction.atomic
def request_cancel(caller: Caller, *, card_id: UUID, reason: str = "") -> Cancelled:
    """Call a card off: `failed`, not retried, out of nobody's fault. Its creator (while
    an editor), or managers. Repeated it changes nothing.

    Raises NotFound, Forbidden, NotCancellable (it has ended, or is no job), Invalid.
    """
    check_text("reason", reason)
    card = locked_card(caller, card_id)
    if card.created_by_id != caller.actor_id:
        access.require(caller, card.board_id, BoardRole.MANAGER)
    if card.is_claimed():
        return _ask(caller, card, reason)
    if card.state == Card.State.OPEN:
        card.state, card.cancelled_at = Card.State.FAILED, ClockTimestamp()
        card.available_at = None
        changed(card)
        data = {"reason": reason, "by": caller.handle}
        events.record(
            caller, events.CARD_CANCELLED, board=card.board_id, card=card, data=data
        )
    elif card.cancelled_at is None:
        raise NotCancellable(
            "This card has ended, or is in no queue.", state=card.state or None
        )
    return _answer(caller, card)


def end_cancelled(lease_ids: Sequence[UUID]) -> list[UUID]:
    """End those of these leases that are to be called off, now: revoked, the card
    failed as cancelled where it lies, the attempt not counted."""
    found = Lease.objects.filter(
        pk__in=lease_ids, ended_at=None, cancel_requested_at__isnull=False
    )
    pairs = list(found.order_by("card_id").values_list("card_id", "pk"))
    return [lease_id for card, lease_id in pairs if _end(card, lease_id)]


def end_overdue_cancelled(column_id: UUID | None = None) -> int:
    """The same for those whose holders were waited for long enough (of one column, or
    of all); how many. Safe when many run."""
    late = Q(expires_at__lte=ClockTimestamp())
    if column_id is None:
        late |= Q(cancel_requested_at__lte=ClockTimestamp() - GRACE)
    overdue = Lease.objects.filter(
        late, ended_at=None, cancel_requested_at__isnull=False
    )
    if column_id is not None:
        overdue = overdue.filter(column_id=column_id)
    return len(end_cancelled(list(overdue.values_list("pk", flat=True)[:BATCH])))


def waited_until(lease: Lease) -> datetime | None:
    """How long the holder of a card that's to be called off is waited for."""
    if lease.cancel_requested_at is None:
        return None
    until: datetime = lease.cancel_requested_at + GRACE
    return min(until, lease.expires_at or until)


def _ask(caller: Caller, card: Card, reason: str) -> Cancelled:
    """Of a held (locked) card. A person who calls off what they hold themselves has
    heard it, and whose lease has run out needn't."""
    assert card.lease_id is not None
    lease = Lease.objects.select_for_update(no_key=True).get(pk=card.lease_id)
    if lease.cancel_requested_at is None:
        lease.cancel_requested_at = ClockTimestamp()
        lease.cancel_requested_by_id = caller.actor_id
        lease.cancel_reason = reason
        lease.save(
            update_fields=[
                "cancel_requested_at",
                "cancel_requested_by",
                "cancel_reason",
            ]
        )
        lease.refresh_from_db()
        card.sequence += 1
        card.save(update_fields=["sequence"])
        events.record(
            caller,
            events.CARD_CANCEL_REQUESTED,
            board=card.board_id,
            card=card,
            data={"reason": reason, "by": caller.handle},
        )
    own = caller.kind == "person" and lease.holder_id == caller.actor_id
    lapsed = lease.expires_at is not None and lease.expires_at <= server_time()
    if own or lapsed:
        end_cancelled([lease.pk])
        card.refresh_from_db()
        return _answer(caller, card)
    return _answer(caller, card, waited_until(lease))


def _answer(caller: Caller, card: Card, until: Any = None) -> Cancelled:
    return Cancelled(
        card=card_brief(card, caller.workspace_key),
        cancelled=card.state == Card.State.FAILED,
        cancel_requested=card.is_claimed(),
        until=until,
        server_time=server_time(),
    )


@transaction.atomic
def _end(card_id: UUID, lease_id: UUID) -> bool:
    """The card's lock first, then the lease's, as everywhere."""
    card = Card.objects.locked().get(pk=card_id)
    lease = Lease.objects.select_for_update(no_key=True).get(pk=lease_id)
    if lease.state != Lease.State.ACTIVE or card.lease_id != lease.pk:
        return False
    lease.state, lease.outcome = Lease.State.REVOKED, Lease.Outcome.CANCELLED
    lease.ended_at = ClockTimestamp()
    why = lease.cancel_reason
    lease.reason = f"cancelled: {why}" if why else "cancelled"
    lease.save()
    Slot.objects.filter(column_id=lease.column_id, lease_id=lease.pk).update(
        lease_id=None
    )
    card.state, card.cancelled_at = Card.State.FAILED, ClockTimestamp()
    card.lease_id = card.holder_id = None
    card.attempts -= 1
    card.sequence += 1
    changed(card)
    _record(card, lease)
    return True


def _record(card: Card, lease: Lease) -> None:
    lease.refresh_from_db()
    common: dict[str, Any] = {
        "workspace_id": card.workspace_id,
        "actor_id": lease.cancel_requested_by_id,
        "board_id": card.board_id,
        "column_id": card.column_id,
        "card_id": card.pk,
    }
    by = lease.cancel_requested_by.handle if lease.cancel_requested_by else None
    facts = {"lease": _lease_data(lease)}
    Event.objects.create(
        **common,
        type=events.LEASE_REVOKED,
        lease_id=lease.pk,
        sequence=card.sequence - 1,
        data={
            **facts,
            "from_column_id": str(card.column_id),
            "to_column_id": str(card.column_id),
            "state": card.state,
        },
    )
    Event.objects.create(
        **common,
        type=events.CARD_CANCELLED,
        sequence=card.sequence,
        data={**facts, "reason": lease.cancel_reason, "by": by},
    )


def _lease_data(lease: Lease) -> dict[str, Any]:
    """As the statements write it (leases.statements.giving_back)."""
    contract = Contract.objects.get(pk=lease.column_id)
    times = {
        name: moment.isoformat() if (moment := getattr(lease, name)) else None
        for name in ("acquired_at", "expires_at", "ended_at", "next_due")
    }
    return {
        "id": str(lease.pk),
        "attempt": lease.attempt,
        "max_attempts": contract.max_attempts,
        "holder": lease.holder.handle,
        "reason": lease.reason,
        "note": lease.note,
        "outcome": lease.outcome,
        "failure": lease.failure,
        **times,
    }
