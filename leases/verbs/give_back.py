"""Fail and release: the holder gives the card back without a result."""

from typing import Any
from uuid import UUID

from accounts.callers import Caller
from accounts.errors import Invalid
from leases.contract import MAX_BACKOFF_SECONDS
from leases.models import Lease
from leases.shapes import Ended
from leases.statements import ending
from leases.statements.renewing import look
from leases.verbs.holding import called_off, ended, held, only
from leases.verbs.refusing import refused

MAX_REASON_CHARACTERS = 10_000


def fail(
    caller: Caller,
    *,
    lease_id: UUID,
    lease_token: str,
    reason: str = "",
    requeue: bool = True,
    retry_after_seconds: float | None = None,
) -> Ended:
    """The attempt failed. With attempts left (and `requeue`) the card opens again
    behind the contract's backoff, or `retry_after_seconds`; otherwise it's dead-lettered.

    Repeated with the same receipt it changes nothing. Raises LeaseLost, Invalid.
    """
    _check_text("reason", reason)
    after = retry_after_seconds
    if after is not None and not 0 <= after <= MAX_BACKOFF_SECONDS:
        raise Invalid.at(
            "/retry_after_seconds",
            "out_of_range",
            f"retry_after_seconds is 0 to {MAX_BACKOFF_SECONDS}.",
        )
    row = only(held(caller, {lease_id: lease_token}))
    return _end(
        caller,
        row,
        ending.FAIL,
        reason=reason,
        retry=requeue,
        retry_after_seconds=after,
    )


def release(
    caller: Caller, *, lease_id: UUID, lease_token: str, note: str = ""
) -> Ended:
    """Give the card back untouched: open at once, the attempt not counted. `note` is
    shown to the next holder.

    Repeated with the same receipt it changes nothing. Raises LeaseLost, Invalid.
    """
    _check_text("note", note)
    row = only(held(caller, {lease_id: lease_token}))
    return _end(caller, row, ending.RELEASE, note=note)


def _end(caller: Caller, row: Any, how: ending.Ending, **details: Any) -> Ended:
    if row.state == Lease.State.ACTIVE:
        done = ending.give_back(how, [row.id], caller=caller, **details)
        if done:
            return ended(caller, done[0])
        row = look(caller.workspace_id, [row.id])[row.id]
    if row.state == Lease.State.ACTIVE and row.cancel_requested_at:
        raise called_off(caller, row)
    if row.state == how.state:
        return ended(caller, row, replayed=True)
    raise refused(caller, row, how.verb)


def _check_text(field: str, text: str) -> None:
    if len(text) > MAX_REASON_CHARACTERS:
        raise Invalid.at(
            f"/{field}",
            "too_long",
            f"{field} has at most {MAX_REASON_CHARACTERS} characters.",
        )
