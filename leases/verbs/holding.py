"""Is it theirs? What every verb of a holder asks first."""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from accounts.callers import Caller
from accounts.errors import DomainError, Invalid, NotFound
from accounts.roles import BoardRole
from accounts.shapes import ActorRef
from boards import access
from boards.shapes import CardBrief, card_key
from leases.errors import LeaseLost
from leases.models import Lease
from leases.shapes import Ended, LeaseShape
from leases.statements.renewing import look
from leases.tokens import is_receipt
from leases.verbs.cancel import end_cancelled

MAX_LEASES_PER_CALL = 50


def held(caller: Caller, receipts: Mapping[UUID, str]) -> dict[UUID, Any]:
    """For each lease its row, or the error that its holder's verb has to answer.

    Three things must be right: the lease lies on a board where the caller may work, the
    receipt is this lease's, and the lease hasn't ended (ended ones come back as rows:
    the verb decides whether this is a repeat). The answer to a wrong, an old and a
    foreign receipt is the same.
    """
    rows = look(caller.workspace_id, list(receipts))
    return {
        lease_id: _judged(caller, rows.get(lease_id), token)
        for lease_id, token in receipts.items()
    }


def _judged(caller: Caller, row: Any, token: str) -> Any:
    if row is None or not access.can_see(caller, row.board_id):
        return NotFound("There is no such lease here.")
    try:
        access.require(caller, row.board_id, BoardRole.EDITOR)
    except DomainError as error:
        return error
    if not is_receipt(token, row.id, row.nonce):
        return lost(caller, row)
    if row.cancel_told_at and row.state == Lease.State.ACTIVE:
        return called_off(caller, row)
    return row


def called_off(caller: Caller, row: Any) -> LeaseLost:
    """End a lease that its holder was asked to put down; the error to answer with."""
    end_cancelled([row.id])
    return lost(caller, look(caller.workspace_id, [row.id])[row.id])


def only(found: Mapping[UUID, Any]) -> Any:
    """The one row asked for; raises its error."""
    (row,) = found.values()
    if isinstance(row, DomainError):
        raise row
    return row


def at_most(count: int, leases: Sequence[object]) -> None:
    if not 1 <= len(leases) <= count:
        raise Invalid.at("/leases", "out_of_range", f"One call takes 1 to {count}.")


def lost(caller: Caller, row: Any) -> LeaseLost:
    """Says what became of the lease and who has the card now."""
    state = row.state
    if state == "active" and row.expires_at and row.expires_at <= row.now:
        state = "expired"
    return LeaseLost(
        lease_id=row.id,
        lease_state=state,
        expired_at=row.expires_at,
        card=card_brief(caller, row),
        held_by_another=row.card_lease_id not in (None, row.id),
        cancelled=row.outcome == Lease.Outcome.CANCELLED,
        next="Stop working on this card and claim again.",
    )


def card_brief(caller: Caller, row: Any) -> CardBrief:
    return CardBrief(
        id=row.card_id,
        key=card_key(caller.workspace_key, row.number),
        board_id=row.board_id,
        column_id=row.card_column_id,
        title=row.title,
        state=row.card_state or None,
        attempts=row.attempts,
        available_at=row.available_at,
        version=row.version,
    )


def lease_shape(row: Any) -> LeaseShape:
    return LeaseShape(
        id=row.id,
        card_id=row.card_id,
        board_id=row.board_id,
        column_id=row.column_id,
        state=row.state,
        attempt=row.attempt,
        holder=ActorRef(row.holder_id, row.by_handle, row.by_name, row.by_kind),
        seconds=row.seconds,
        acquired_at=row.acquired_at,
        expires_at=row.expires_at,
        renewals=row.renewals,
        renewed_at=row.renewed_at,
        ended_at=row.ended_at,
        outcome=row.outcome or None,
        reason=row.reason,
        note=row.note,
        next_due=row.next_due,
        failure=row.failure or None,
        doing=row.doing,
        doing_at=row.doing_at,
        cancel_requested_at=row.cancel_requested_at,
    )


def ended(caller: Caller, row: Any, *, replayed: bool = False) -> Ended:
    return Ended(
        lease=lease_shape(row),
        card=card_brief(caller, row),
        server_time=row.now,
        replayed=replayed,
    )
