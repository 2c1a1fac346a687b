"""Tidy a column: what time has brought about. The reaper does it for every column, a
claim for its own, so that nothing waits for a loop that may be down.
"""

from uuid import UUID

from django.db import transaction
from django.db.models import Exists, OuterRef, Q
from django.db.models.functions import Now

from boards import events
from boards.models import READY, Card, ClockTimestamp, Event, NextPosition
from leases.models import Contract, Lease
from leases.statements import giving_back
from leases.verbs.cancel import end_overdue_cancelled
from leases.verbs.letters import note

BATCH = 100


def tidy(column_id: UUID) -> int:
    """End lapsed leases and open the waiting cards that are due, a batch of each.

    Returns how many cards changed; call again while it is a full batch. Safe to run
    many at once: rows that somebody else has locked are passed over.
    """
    expired = len(giving_back.expire(column_id, BATCH))
    return expired + end_overdue_cancelled(column_id) + open_due(column_id)


@transaction.atomic
def open_due(column_id: UUID) -> int:
    """Silent, like a renewal: the time at which it happens was announced before."""
    due = Card.objects.due(column_id).select_for_update(skip_locked=True, no_key=True)
    ids = list(due.values_list("pk", flat=True)[:BATCH])
    return Card.objects.filter(pk__in=ids).update(available_at=None)


@transaction.atomic
def dead_letter_exhausted(column_id: UUID) -> int:
    """Open cards without an attempt left (the limit was lowered) fail on the spot."""
    contract = Contract.objects.select_related("on_failure_column").get(pk=column_id)
    target = contract.on_failure_column
    cards = list(
        Card.objects.filter(READY, column_id=column_id)
        .filter(attempts__gte=contract.max_attempts)
        .select_for_update(skip_locked=True, no_key=True)
        .order_by("id")[:BATCH]
    )
    for card in cards:
        card.state = Card.State.FAILED
        if target is not None and target.archived_at is None:
            card.column = target
            card.position = NextPosition()
        card.version += 1
        card.sequence += 1
        card.updated_at = ClockTimestamp()
        card.save()
        Event.objects.create(
            workspace_id=card.workspace_id,
            type=events.LEASE_DEADLETTERED,
            board_id=card.board_id,
            column_id=column_id,
            card_id=card.pk,
            sequence=card.sequence,
            data={"reason": "attempts_exhausted", "attempts": card.attempts},
        )
        note(card, column_id, reason="attempts_exhausted")
    return len(cards)


def untidy_columns() -> list[UUID]:
    """Queues in which something is overdue, by one look at small indexes."""
    lapsed = Lease.objects.filter(
        column_id=OuterRef("pk"), ended_at=None, expires_at__lte=Now()
    )
    due = Card.objects.filter(
        column_id=OuterRef("pk"),
        state=Card.State.OPEN,
        archived_at=None,
        available_at__lte=Now(),
    )
    overdue = Q(Exists(lapsed)) | Q(Exists(due))
    return list(Contract.objects.filter(overdue).values_list("pk", flat=True))


def columns_to_judge() -> list[UUID]:
    """Queues with cards not yet held against the input schema."""
    unjudged = Card.objects.filter(
        column_id=OuterRef("pk"), state=Card.State.OPEN, archived_at=None, fits=None
    )
    return list(
        Contract.objects.filter(Exists(unjudged), enabled=True).values_list(
            "pk", flat=True
        )
    )
