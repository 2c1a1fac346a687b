"""Requeue: a failed (or done) card gets another round."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db import transaction

from accounts.callers import Caller
from accounts.errors import Conflict
from accounts.roles import BoardRole
from boards import access, events
from boards.errors import CardHeld
from boards.models import Card, Column
from boards.verbs.moving import card_seen, locked_card
from boards.verbs.together import record_all, save_all
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
    if card.state != Card.State.OPEN:
        if queue and queue.pk != queues_of([card])[card.pk]:
            queue = None
        put_back(caller, [Return(card, check(caller, card, queue))])
    return card.pk


def check(caller: Caller, card: Card, queue: Column | None) -> Column:
    """The queue, the one that `queues_of` names, if an ended card may go back to it.

    Raises CardHeld, NotRequeueable, Conflict, Forbidden, NotFound, BoardArchived.
    """
    access.require(caller, card.board_id, BoardRole.EDITOR)
    if card.is_claimed():
        holder = f"@{card.holder.handle}" if card.holder else "Somebody"
        raise CardHeld(f"{holder} is working on this card.", card_id=card.pk)
    if card.state == Card.State.NONE:
        raise NotRequeueable
    if queue is None:
        raise Conflict("The queue that this card came from is gone. Move it to one.")
    access.require(caller, queue.board_id, BoardRole.EDITOR)
    return queue


@dataclass(frozen=True)
class Return:
    """A locked card and the locked queue that `check` let it back into. `fits`: it has
    just been held against the input schema, so no claim needs to."""

    card: Card
    queue: Column
    fits: bool = False


def put_back(caller: Caller, returns: Sequence[Return]) -> None:
    """Open the cards again, in this order at the end of their queues."""
    cards = [one.card for one in returns]
    came_from = [card.column_id for card in cards]
    for one in returns:
        one.card.board_id = one.queue.board_id
        one.card.available_at = None
        one.card.enter(one.queue)
        if one.fits:
            one.card.fits = True
    save_all(cards, at_end=True)
    data = [
        {"from_column_id": str(old), "to_column_id": str(card.column_id)}
        for card, old in zip(cards, came_from, strict=True)
    ]
    record_all(caller, events.CARD_REQUEUED, cards, data)


def queues_of(cards: Iterable[Card]) -> dict[UUID, UUID]:
    """By card, where its latest lease was, which may be elsewhere than where it lies
    now; without any lease, where it lies."""
    found = {card.pk: card.column_id for card in cards}
    latest = (
        Lease.objects.filter(card__in=found)
        .order_by("card", "-acquired_at")
        .distinct("card")
        .values_list("card_id", "column_id")
    )
    return {**found, **dict(latest)}


def _locked_queue(caller: Caller, card_id: UUID) -> Column | None:
    """Locked before the card, as everywhere, so that it stays a queue meanwhile."""
    seen = card_seen(caller, card_id)
    queue_id = queues_of([seen])[seen.pk]
    return (
        Column.objects.filter(pk=queue_id, is_queue=True, archived_at=None)
        .select_for_update(no_key=True)
        .first()
    )
