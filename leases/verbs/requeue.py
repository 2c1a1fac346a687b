"""Requeue: a failed (or done) card gets another round."""

from uuid import UUID

from django.db import transaction

from accounts.callers import Caller
from accounts.errors import Conflict
from accounts.roles import BoardRole
from boards import access, events
from boards.errors import CardHeld
from boards.models import Card, Column, NextPosition
from boards.verbs.moving import card_seen, changed, locked_card
from leases.errors import NotRequeueable
from leases.models import Lease


@transaction.atomic
def requeue(caller: Caller, *, card_id: UUID) -> UUID:
    """Open in the queue it last failed (or was done) in: attempts 0, due now, at the
    end of the column; its history stays (decision D8). Editors, there and where it is.

    On an open card it does nothing. Raises NotFound, Forbidden, CardHeld,
    NotRequeueable (it was in no queue), Conflict (that queue is gone).
    """
    queue = _locked_queue(caller, card_id)
    card = locked_card(caller, card_id)
    if card.is_claimed():
        holder = f"@{card.holder.handle}" if card.holder else "Somebody"
        raise CardHeld(f"{holder} is working on this card.", card_id=card.pk)
    if card.state == Card.State.OPEN:
        return card.pk
    if card.state == Card.State.NONE:
        raise NotRequeueable
    if queue is None or queue.pk != _queue_id(card):
        raise Conflict("The queue that this card came from is gone. Move it to one.")
    access.require(caller, queue.board_id, BoardRole.EDITOR)
    came_from = card.column_id
    card.board_id = queue.board_id
    card.available_at = None
    card.enter(queue)
    card.position = NextPosition()
    changed(card)
    events.record(
        caller,
        events.CARD_REQUEUED,
        board=card.board_id,
        card=card,
        data={"from_column_id": str(came_from), "to_column_id": str(queue.pk)},
    )
    return card.pk


def _locked_queue(caller: Caller, card_id: UUID) -> Column | None:
    """Locked before the card, as everywhere, so that it stays a queue meanwhile."""
    seen = card_seen(caller, card_id)
    return (
        Column.objects.filter(pk=_queue_id(seen), is_queue=True, archived_at=None)
        .select_for_update(no_key=True)
        .first()
    )


def _queue_id(card: Card) -> UUID:
    """Where its latest lease was; that may be elsewhere than where it lies now."""
    latest = Lease.objects.filter(card=card).order_by("-acquired_at").first()
    return latest.column_id if latest else card.column_id
