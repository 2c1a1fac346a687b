"""Parents: a card as a part of another one."""

from collections.abc import Iterable
from uuid import UUID

from accounts.callers import Caller
from accounts.errors import Invalid
from boards import access
from boards.models import Card

MAX_DEPTH = 50


def seen_parents(caller: Caller, ids: Iterable[UUID | None]) -> set[UUID]:
    """Those of these cards that the caller can see."""
    wanted = {one for one in ids if one is not None}
    if not wanted:
        return set()
    rows = Card.objects.filter(pk__in=wanted, workspace_id=caller.workspace_id)
    return {
        pk
        for pk, board_id in rows.values_list("pk", "board_id")
        if access.can_see(caller, board_id)
    }


def check_parent(parent_id: UUID | None, seen: set[UUID], pointer: str) -> None:
    """Raises Invalid for a card that isn't there or can't be seen."""
    if parent_id is not None and parent_id not in seen:
        raise Invalid.at(pointer, "unknown_card", "There is no such card here.")


def check_line(card: Card, parent_id: UUID | None, pointer: str) -> None:
    """Raises Invalid when the card would be above itself, or too many above it."""
    above, depth = parent_id, 0
    while above is not None:
        depth += 1
        if above == card.pk or depth > MAX_DEPTH:
            detail = f"A card isn't part of itself, nor more than {MAX_DEPTH} deep."
            raise Invalid.at(pointer, "bad_parent", detail)
        above = (
            Card.objects.filter(pk=above).values_list("parent_id", flat=True).first()
        )
