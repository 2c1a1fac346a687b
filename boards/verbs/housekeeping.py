"""Old events go; cards that fell off their board come back."""

from datetime import timedelta
from uuid import UUID

from django.db import transaction

from accounts.moments import first_id_ago
from boards import events
from boards.models import Card, CardQuerySet, Column, Event, NextPosition
from boards.verbs.moving import changed

BATCH = 5_000
MAX_BATCHES = 100


def forget_events(days: int) -> int:
    """Delete events older than `days` (0: none ever); returns how many.

    In ranges of the primary key, each its own transaction, and a bounded number of
    them: the rest is the next pass's. Safe to run many at once.
    """
    if not days:
        return 0
    old = Event.objects.filter(pk__lt=first_id_ago(timedelta(days=days)))
    forgotten = 0
    for _ in range(MAX_BATCHES):
        ids = list(old.order_by("pk").values_list("pk", flat=True)[:BATCH])
        if not ids:
            break
        forgotten += Event.objects.filter(pk__range=(ids[0], ids[-1])).delete()[0]
        # Not over the entries of the rows just deleted again.
        old = old.filter(pk__gt=ids[-1])
    return forgotten


def rescue_strays() -> int:
    """Put cards whose column is gone to the end of their board's first one; returns
    how many.

    A completion that has read its destination can come in just after that column was
    deleted. Its statement takes no lock on the column (all would share it), so the
    card's way back is here. Held cards are left until their lease has ended.
    """
    boards = list(_strays().order_by().values_list("board_id", flat=True).distinct())
    return sum(map(_rescue, boards))


@transaction.atomic
def _rescue(board_id: UUID) -> int:
    first = (
        Column.objects.select_for_update(no_key=True)
        .filter(board_id=board_id, archived_at=None)
        .order_by("position", "id")
        .first()
    )
    if first is None:
        return 0
    cards = list(_strays().filter(board_id=board_id).locked().order_by("id"))
    for card in sorted(cards, key=lambda card: (card.priority, card.position)):
        _put(card, first)
    return len(cards)


def _strays() -> CardQuerySet:
    gone = Column.objects.filter(archived_at__isnull=False)
    return (
        Card.objects.present().filter(column__in=gone).exclude(state=Card.State.CLAIMED)
    )


def _put(card: Card, column: Column) -> None:
    came_from = card.column_id
    card.enter(column)
    card.position = NextPosition()
    changed(card)
    Event.objects.create(
        workspace_id=card.workspace_id,
        type=events.CARD_MOVED,
        board_id=card.board_id,
        column_id=column.pk,
        card_id=card.pk,
        sequence=card.sequence,
        data={"from_column_id": str(came_from), "to_column_id": str(column.pk)},
    )
