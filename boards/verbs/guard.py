"""A card that's being worked on isn't moved or put away behind its holder's back."""

from collections.abc import Callable, Iterable

from boards.errors import CardHeld
from boards.models import Card

# Takes the lease on a locked card away. Leases are a layer above, so they hand this in
# where the caller said `force` (leases.verbs.revoke.free).
Free = Callable[[Card], None]


def free_or_refuse(card: Card, free: Free | None) -> None:
    """After it the (locked) card is nobody's. Raises CardHeld, naming the holder."""
    if not card.is_claimed():
        return
    if free is None:
        holder = f"@{card.holder.handle}" if card.holder else "Somebody"
        raise CardHeld(
            f"{holder} is working on this card. With `force` it's taken away from them.",
            card_id=card.pk,
            holder=holder,
            lease_id=card.lease_id,
        )
    free(card)
    card.refresh_from_db()


def free_all(cards: Iterable[Card], free: Free | None) -> None:
    for card in cards:
        free_or_refuse(card, free)
