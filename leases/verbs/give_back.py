"""Fail and release: the holder gives the card back without a result."""

from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.utils.timezone import now

from accounts.callers import Caller
from accounts.errors import Invalid
from accounts.moments import keepable
from leases.contract import MAX_BACKOFF_SECONDS
from leases.models import Lease
from leases.shapes import Ended
from leases.statements import giving_back
from leases.statements.renewing import look
from leases.verbs.holding import called_off, ended, held, only
from leases.verbs.reasons import check_text
from leases.verbs.refusing import refused

KINDS = tuple(kind.value for kind in Lease.Failure if kind)


def fail(
    caller: Caller,
    *,
    lease_id: UUID,
    lease_token: str,
    reason: str = "",
    requeue: bool = True,
    retry_after_seconds: float | None = None,
    kind: str | None = None,
    until: datetime | None = None,
) -> Ended:
    """The attempt failed, in one of three kinds.

    `retry`: with attempts left the card opens again behind the contract's backoff, or
    `retry_after_seconds`; without one it's dead-lettered. `fatal` (`requeue` false):
    dead-lettered now. `wait_until`: for a quota that is back at `until` (or after
    `retry_after_seconds`); the attempt isn't counted, at most 20 times and within six
    hours of the first time. After that it counts as a retry due at the same time.

    Repeated with the same receipt it changes nothing. Raises LeaseLost, Invalid.
    """
    check_text("reason", reason)
    after = retry_after_seconds
    if after is not None and not 0 <= after <= MAX_BACKOFF_SECONDS:
        raise Invalid.at(
            "/retry_after_seconds",
            "out_of_range",
            f"retry_after_seconds is 0 to {MAX_BACKOFF_SECONDS}.",
        )
    kind = _kind(kind, requeue, after, until)
    row = only(held(caller, {lease_id: lease_token}))
    return _end(
        caller,
        row,
        giving_back.FAIL,
        reason=reason,
        retry=kind != Lease.Failure.FATAL,
        retry_after_seconds=after,
        waits=kind == Lease.Failure.WAIT_UNTIL,
        until=_soon(until),
    )


def _kind(
    kind: str | None, requeue: bool, after: float | None, until: datetime | None
) -> str:
    """The kind that is meant. Raises Invalid for what contradicts itself."""
    if kind is None:
        kind = Lease.Failure.RETRY if requeue else Lease.Failure.FATAL
    if kind not in KINDS:
        raise Invalid.at("/kind", "unknown_kind", f"One of {', '.join(KINDS)}.")
    if not requeue and kind != Lease.Failure.FATAL:
        raise Invalid.at("/requeue", "contradiction", f"A {kind} is requeued.")
    waits = kind == Lease.Failure.WAIT_UNTIL
    if waits and (until is None) == (after is None):
        detail = "Say until when: one of until and retry_after_seconds."
        raise Invalid.at("/until", "required", detail)
    if until is not None and not waits:
        raise Invalid.at("/until", "contradiction", "Only a wait_until has an until.")
    return str(kind)


def _soon(until: datetime | None) -> datetime | None:
    """Raises Invalid for a moment further away than any backoff."""
    until = keepable(until, "/until")
    if until is not None and until > now() + timedelta(seconds=MAX_BACKOFF_SECONDS):
        raise Invalid.at(
            "/until", "out_of_range", f"At most {MAX_BACKOFF_SECONDS} seconds away."
        )
    return until


def release(
    caller: Caller, *, lease_id: UUID, lease_token: str, note: str = ""
) -> Ended:
    """Give the card back untouched: open at once, the attempt not counted. `note` is
    shown to the next holder.

    Repeated with the same receipt it changes nothing. Raises LeaseLost, Invalid.
    """
    check_text("note", note)
    row = only(held(caller, {lease_id: lease_token}))
    return _end(caller, row, giving_back.RELEASE, note=note)


def _end(caller: Caller, row: Any, how: giving_back.Ending, **details: Any) -> Ended:
    if row.state == Lease.State.ACTIVE:
        done = giving_back.give_back(how, [row.id], caller=caller, **details)
        if done:
            return ended(caller, done[0])
        row = look(caller.workspace_id, [row.id])[row.id]
    if row.state == Lease.State.ACTIVE and row.cancel_requested_at:
        raise called_off(caller, row)
    if row.state == how.state:
        return ended(caller, row, replayed=True)
    raise refused(caller, row, how.verb)
