"""Claim one given card: for people it's Start, for agents what they were pointed at."""

from functools import partial
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models.functions import Now

from accounts.anew import Errand, begins_anew, errand
from accounts.callers import Caller
from accounts.errors import Conflict, NotFound
from accounts.roles import BoardRole
from boards import access
from boards.models import Card
from boards.shapes import card_brief
from boards.verbs.moving import card_seen, locked_card
from leases import asking
from leases.contract import DEFAULT_LEASE_SECONDS
from leases.errors import NotClaimable
from leases.explaining import facts_of
from leases.models import Contract
from leases.rules import Facts, Rule, against
from leases.shapes import Claimed
from leases.statements.claim import take_card
from leases.statements.gate import enter
from leases.verbs.claim import check_seconds, claimed_one
from leases.verbs.judge import PASS_SECONDS, judge_card
from leases.verbs.seats import room
from leases.verbs.tidy import BATCH, dead_letter_exhausted, tidy

# Rounds of tidying lapsed leases before this one's must have been among them.
_ROUNDS = 20


@begins_anew
def claim_card(
    caller: Caller,
    *,
    card_id: UUID,
    column_id: UUID | None = None,
    lease_ttl_seconds: int | None = None,
) -> Claimed:
    """Lease this card, whatever its place in line. For a person the lease never lapses,
    whatever the contract says, unless `lease_ttl_seconds` does. `column_id`: it must be
    there. Of two at once one gets it, and the other hears who has.

    Raises NotFound, Forbidden, NotClaimable (with the exact rule), SeatAtCapacity,
    Invalid, Conflict (it has just been moved).
    """
    check_seconds("lease_ttl_seconds", lease_ttl_seconds)
    seen = card_seen(caller, card_id)
    if column_id is not None and seen.column_id != column_id:
        raise NotFound("There is no such card in this column.")
    access.require(caller, seen.board_id, BoardRole.EDITOR)
    asking.note(seen.column_id)
    readying = errand(card_id, PASS_SECONDS)
    if not readying.is_back() and (_is_unjudged(seen) or _is_overdue(seen)):
        readying.leave_for(partial(_make_ready, seen))
    with room(caller, 1), transaction.atomic():
        row = _take(caller, seen, readying, lease_ttl_seconds)
    if row is None:
        dead_letter_exhausted(seen.column_id)
        raise _refused(caller, facts_of(caller, card_id=card_id, judges=False))
    return claimed_one(caller, row)


def _make_ready(seen: Card) -> None:
    """What a claim of the next card would do first, too: end a lapsed lease, hold the
    card against the schema. Outside of any transaction: a schema may take its time."""
    for _ in range(_ROUNDS):
        if not _is_overdue(seen) or tidy(seen.column_id) < BATCH:
            break
    if Contract.objects.filter(pk=seen.column_id).exists():
        judge_card(seen)


def _is_unjudged(card: Card) -> bool:
    is_open = card.state == Card.State.OPEN and card.archived_at is None
    return is_open and card.fits is None


def _is_overdue(seen: Card) -> bool:
    if not seen.is_claimed():
        return False
    lapsed = seen.leases.filter(ended_at=None, expires_at__lte=Now())
    overdue = Card.objects.filter(
        pk=seen.pk, state=Card.State.CLAIMED, lease_id__in=lapsed.values("pk")
    )
    return overdue.exists()


def _take(caller: Caller, seen: Card, readying: Errand, seconds: int | None) -> Any:
    """The row of the claim; None when it turned out to have no attempt left."""
    enter(seen.column_id)
    card = locked_card(caller, seen.pk)
    if card.column_id != seen.column_id:
        raise Conflict("The card has just been moved on. Look at it again.")
    if _is_unjudged(card):
        # Edited since: no schema is at work while the card is locked.
        readying.leave_for(partial(_make_ready, seen))
        raise _not_claimable(caller, card, [])
    facts = facts_of(caller, card_id=seen.pk, judges=False)
    found = against(caller, facts)
    if any(rule.code == "exhausted" for rule in found):
        return None
    if found or facts.contract is None:
        raise _refused(caller, facts)
    if card.available_at is not None:
        Card.objects.filter(pk=card.pk).update(available_at=None)
    if seconds is None and caller.kind == "agent":
        seconds = facts.contract.lease_ttl_seconds or DEFAULT_LEASE_SECONDS
    (row,) = take_card(caller, card.column_id, card.pk, seconds)
    if row.id is None:
        # The last place went while we looked.
        limit = facts.contract.concurrency_limit
        detail = f"All {limit} places of the queue are taken."
        raise _not_claimable(caller, card, [Rule("at_capacity", detail)])
    return row


def _refused(caller: Caller, facts: Facts) -> NotClaimable:
    found = against(caller, facts)
    return _not_claimable(caller, facts.card, found)


def _not_claimable(caller: Caller, card: Card, found: list[Rule]) -> NotClaimable:
    if not found:
        return NotClaimable("The card has just changed. Try again.", reason="changed")
    first = found[0]
    return NotClaimable(
        first.detail,
        reason=first.code,
        held_by=first.by if first.code == "held" else None,
        until=first.until,
        rules=found,
        card=card_brief(card, caller.workspace_key),
    )
