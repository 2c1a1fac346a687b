"""What a card's sheet says about being taken: why nobody does, and calling it off."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from accounts.callers import Caller
from boards.shapes import CardShape
from leases.explaining import NOBODY_ASKS, explained, facts_of
from leases.timeline import TimelineEntry
from leases.verbs.cancel import waited_until
from leases.wall import CardView


def is_wondered_at(card: CardShape, attempts: Sequence[TimelineEntry]) -> bool:
    """A card that people may wonder about: it could be, or could have been, taken."""
    if card.archived_at is not None:
        return False
    is_lapsed = bool(attempts) and attempts[0].state == "lapsed"
    return card.state in ("open", "failed") or is_lapsed


def why(caller: Caller, card_id: UUID) -> dict[str, Any]:
    """Every rule that keeps the card back, or its place in line. Raises NotFound."""
    facts = facts_of(caller, card_id=card_id)
    found = explained(caller, facts)
    asked = found.last_asked_at
    return {
        "found": found,
        "contract": facts.contract,
        "nobody_able": facts.able == 0,
        "ahead": found.place - 1 if found.place else 0,
        "is_quiet": asked is None or found.server_time - asked > NOBODY_ASKS,
    }


def calling_off(
    caller: Caller, card: CardShape, view: CardView | None, shown: dict[str, Any]
) -> dict[str, Any]:
    """Whether the caller may call the card off, and how that stands."""
    lease = view.lease if view else None
    made_it = card.created_by is not None and card.created_by.id == caller.actor_id
    may = shown["may_manage"] or (shown["may_edit"] and made_it)
    under_way = card.state in ("open", "claimed") and card.archived_at is None
    happened = (one for one in shown["history"].items if one.type == "card.cancelled")
    return {
        "may_call_off": may and under_way,
        "holds_it": lease is not None and lease.holder_id == caller.actor_id,
        "waited_until": waited_until(lease) if lease else None,
        "called_off": next(happened, None) if card.cancelled_at else None,
    }
