"""Activity: one line of what somebody is doing with a card. Silent: no event, no
version; open pages hear of it with the next batch."""

from uuid import UUID

from django.db import transaction

from accounts.callers import Caller
from accounts.errors import Invalid
from accounts.shapes import ActorRef, caller_ref
from boards.errors import CardHeld
from boards.models import Card, ClockTimestamp
from boards.values import MAX_DOING_CHARACTERS
from boards.verbs.moving import locked_card
from leases.shapes import Activity
from leases.statements import renewing
from leases.verbs.holding import held, only
from leases.verbs.refusing import refused


def set_lease_activity(
    caller: Caller, *, lease_id: UUID, lease_token: str, doing: str
) -> Activity:
    """The holder says how it stands, without a heartbeat. Empty takes it back.

    Raises NotFound, Forbidden, LeaseLost, Invalid.
    """
    doing = one_line(doing)
    row = only(held(caller, {lease_id: lease_token}))
    said = renewing.say(lease_id, doing)
    if said is None:
        now = renewing.look(caller.workspace_id, [lease_id]).get(lease_id, row)
        raise refused(caller, now, "say")
    by = ActorRef(row.holder_id, row.by_handle, row.by_name, row.by_kind)
    return Activity(row.card_id, said.doing, said.doing_at, by)


@transaction.atomic
def set_card_activity(caller: Caller, *, card_id: UUID, doing: str) -> Activity:
    """Say to be at work on a card without a lease on it: the last one wins, it's stale
    after ten minutes, and any change of the card ends it. Editors.

    On a card that the caller's seat holds it's the lease's line. Raises NotFound,
    Forbidden, CardHeld (somebody else is at work), Invalid.
    """
    doing = one_line(doing)
    card = locked_card(caller, card_id)
    if not card.is_claimed():
        Card.objects.filter(pk=card.pk).update(
            doing=doing,
            doing_at=ClockTimestamp(),
            doing_by=caller.actor_id,
            doing_version=card.version,
        )
        card.refresh_from_db(fields=["doing_at"])
        assert card.doing_at is not None
        return Activity(card.pk, doing, card.doing_at, caller_ref(caller))
    said = None
    if card.holder_id == caller.actor_id and card.lease_id:
        said = renewing.say(card.lease_id, doing)
    if said is None:
        holder = f"@{card.holder.handle}" if card.holder else "Somebody"
        raise CardHeld(f"{holder} is working on this card.", card_id=card.pk)
    return Activity(card.pk, said.doing, said.doing_at, caller_ref(caller))


def one_line(doing: str) -> str:
    """Raises Invalid for what is longer than a line."""
    line = " ".join(doing.split())
    if len(line) > MAX_DOING_CHARACTERS:
        raise Invalid.at(
            "/doing", "too_long", f"At most {MAX_DOING_CHARACTERS} characters."
        )
    return line
