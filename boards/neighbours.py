"""Where a card is among its neighbours: to bring it back there, to go on to the next."""

from dataclasses import dataclass
from uuid import UUID

from django.db.models import Q, QuerySet

from accounts.callers import Caller
from accounts.errors import NotFound
from boards import access
from boards.models import Card


@dataclass(frozen=True)
class Spot:
    """A card's place. Neighbours are of its own priority: only among these a position
    decides. At most one of `after` and `before` is given, neither when it's alone."""

    board_id: UUID
    column_id: UUID
    column_name: str
    title: str
    version: int
    after: UUID | None
    before: UUID | None


def spot(caller: Caller, *, card_id: UUID) -> Spot:
    """Where the card is now. Raises NotFound."""
    card = (
        Card.objects.filter(pk=card_id, workspace_id=caller.workspace_id)
        .select_related("column")
        .first()
    )
    if card is None or not access.can_see(caller, card.board_id):
        raise NotFound("There is no such card here.")
    peers = Card.objects.present().filter(
        column_id=card.column_id, priority=card.priority
    )
    above = Q(position__lt=card.position) | Q(position=card.position, id__lt=card.pk)
    after = _nearest(peers.filter(above), "-position", "-id")
    before = None
    if after is None:
        before = _nearest(peers.filter(~above).exclude(pk=card.pk), "position", "id")
    return Spot(
        board_id=card.board_id,
        column_id=card.column_id,
        column_name=card.column.name,
        title=card.title,
        version=card.version,
        after=after,
        before=before,
    )


@dataclass(frozen=True)
class Beside:
    """The cards above and below one in the order shown; none at the ends."""

    above: UUID | None = None
    below: UUID | None = None


def beside(caller: Caller, *, card_id: UUID) -> Beside:
    """Of cards that are put away, none. Raises NotFound."""
    rows = Card.objects.filter(pk=card_id, workspace_id=caller.workspace_id)
    card = rows.first()
    if card is None or not access.can_see(caller, card.board_id):
        raise NotFound("There is no such card here.")
    if card.archived_at:
        return Beside()
    others = Card.objects.present().filter(column_id=card.column_id)
    same = Q(priority=card.priority)
    above = Q(position__lt=card.position) | Q(position=card.position, id__lt=card.pk)
    before = others.filter(Q(priority__lt=card.priority) | same & above)
    behind = others.filter(Q(priority__gt=card.priority) | same & ~above)
    return Beside(
        _nearest(before, "-priority", "-position", "-id"),
        _nearest(behind.exclude(pk=card.pk), "priority", "position", "id"),
    )


def _nearest(peers: QuerySet[Card], *order: str) -> UUID | None:
    return peers.order_by(*order).values_list("pk", flat=True).first()
