"""Keep the notes on dead letters, where no lease's end does it by itself."""

from datetime import datetime
from uuid import UUID

from django.db.models import OuterRef, Subquery

from boards.models import DEAD, Card, ClockTimestamp
from leases.folding import fold
from leases.models import DeadLetter, Lease

BATCH = 1_000


def note(card: Card, column_id: UUID, *, reason: str) -> None:
    """Of a card that has just failed outside of any lease."""
    DeadLetter.objects.update_or_create(
        card=card,
        defaults={
            "lease_id": None,
            "column_id": column_id,
            "holder_id": None,
            "fold": fold(reason),
            "at": ClockTimestamp(),
        },
    )


def adopt() -> int:
    """Note those that failed before there were notes, or came in by an import: by their
    latest lease, without one by what is on the card. A batch; safe to run many at once.
    """
    latest = Lease.objects.filter(card_id=OuterRef("pk")).order_by("-acquired_at")
    strays = list(
        Card.objects.filter(DEAD, dead_letter=None)
        .annotate(latest=Subquery(latest.values("pk")[:1]))
        .values_list("pk", "latest", "column_id", "updated_at")[:BATCH]
    )
    leases = Lease.objects.defer("output").in_bulk([row[1] for row in strays if row[1]])
    found = [
        _of(card_id, column_id, at, leases.get(lease_id))
        for card_id, lease_id, column_id, at in strays
    ]
    DeadLetter.objects.bulk_create(found, ignore_conflicts=True)
    return len(found)


def _of(
    card_id: UUID, column_id: UUID, at: datetime, lease: Lease | None
) -> DeadLetter:
    if lease is None:
        return DeadLetter(card_id=card_id, column_id=column_id, at=at)
    return DeadLetter(
        card_id=card_id,
        lease_id=lease.pk,
        column_id=lease.column_id,
        holder_id=lease.holder_id,
        fold=fold(lease.reason),
        at=lease.ended_at or at,
    )
