"""Revoke: a person takes a card away from its holder."""

from collections.abc import Callable, Sequence
from uuid import UUID

from django.db import transaction

from accounts.callers import Caller
from accounts.errors import NotFound
from accounts.roles import BoardRole
from accounts.verbs.agents import edit_agent
from boards import access
from boards.models import Card
from leases.models import Lease
from leases.shapes import Ended
from leases.statements import giving_back
from leases.statements.renewing import look
from leases.verbs.cancel import end_cancelled
from leases.verbs.holding import ended, lost
from leases.verbs.reasons import check_text


def revoke(caller: Caller, *, lease_id: UUID, reason: str = "") -> Ended:
    """End an active lease; the card is open again (or cancelled, if it was called off),
    the attempt not counted. Managers.

    The worker learns it at its next call (LeaseLost). Revoked before: `replayed`.
    Raises NotFound, Forbidden, Invalid, LeaseLost (it had ended otherwise).
    """
    check_text("reason", reason)
    row = look(caller.workspace_id, [lease_id]).get(lease_id)
    if row is None or not access.can_see(caller, row.board_id):
        raise NotFound("There is no such lease here.")
    access.require(caller, row.board_id, BoardRole.MANAGER)
    done = giving_back.give_back(
        giving_back.REVOKE, [lease_id], caller=caller, reason=reason
    )
    if done:
        return ended(caller, done[0])
    end_cancelled([lease_id])
    row = look(caller.workspace_id, [lease_id])[lease_id]
    if row.state == Lease.State.REVOKED:
        return ended(caller, row, replayed=True)
    raise lost(caller, row)


@transaction.atomic
def stop_agent(
    caller: Caller, *, agent_id: UUID, reason: str = "", disable: bool = False
) -> int:
    """Revoke whatever the seat holds, on every board; returns how many. With `disable`
    nobody comes back for more until `edit_agent` lets the seat in again. Admins. Raises
    Forbidden, Invalid; with `disable` NotFound."""
    check_text("reason", reason)
    caller.require_admin()
    if disable:
        edit_agent(caller, agent_id=agent_id, disabled=True)
    held = Lease.objects.filter(
        holder_id=agent_id,
        workspace_id=caller.workspace_id,
        state=Lease.State.ACTIVE,
    )
    ids = list(held.values_list("pk", flat=True))
    why = f": {reason}" if reason else "."
    reason = f"@{caller.handle} stopped this agent{why}"
    stopped = giving_back.give_back(
        giving_back.REVOKE, ids, caller=caller, reason=reason
    )
    return len(stopped) + len(end_cancelled(ids))


def free_cards(caller: Caller, cards: Sequence[Card], *, reason: str) -> None:
    """Revoke the leases on these cards, in the caller's transaction."""
    leases = [card.lease_id for card in cards if card.lease_id]
    if leases:
        giving_back.give_back(giving_back.REVOKE, leases, caller=caller, reason=reason)
        end_cancelled(leases)


def free(caller: Caller) -> Callable[[Card], None]:
    """What the board's own verbs are handed where the caller said `force`."""

    def take_away(card: Card) -> None:
        free_cards(caller, [card], reason=f"Taken away by @{caller.handle}.")

    return take_away
