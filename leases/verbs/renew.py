"""Renew (heartbeat): the card stays with its holder a while longer."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

import msgspec

from accounts.callers import Caller
from accounts.errors import DomainError
from leases.models import Lease
from leases.shapes import (
    CancelRequest,
    NewComment,
    Refused,
    Renewed,
    RenewedItem,
    RenewedMany,
)
from leases.statements import renewing
from leases.verbs.activity import one_line
from leases.verbs.claim import check_seconds
from leases.verbs.holding import (
    MAX_LEASES_PER_CALL,
    at_most,
    called_off,
    held,
    only,
)
from leases.verbs.refusing import refused


def renew(
    caller: Caller,
    *,
    lease_id: UUID,
    lease_token: str,
    lease_ttl_seconds: int | None = None,
    doing: str | None = None,
) -> Renewed:
    """Extend to now + the length claimed for, or `lease_ttl_seconds`. `doing` is a line
    of progress (None: as before). The answer has what others have said since.

    Silent by design (seed A): no event, no version, no push. Raises LeaseLost once the
    lease has lapsed or ended, whether or not the reaper has run, and once the holder has
    been told to stop; Invalid.
    """
    check_seconds("lease_ttl_seconds", lease_ttl_seconds)
    said = {} if doing is None else {lease_id: one_line(doing)}
    row = only(held(caller, {lease_id: lease_token}))
    renewed = renewing.renew([lease_id], lease_ttl_seconds, said)
    if lease_id not in renewed:
        raise _lost_now(caller, row)
    return _renewed(renewed[lease_id])


def renew_many(
    caller: Caller,
    *,
    receipts: Mapping[UUID, str],
    doings: Mapping[UUID, str] | None = None,
) -> RenewedMany:
    """Extend many in one call; each gets its own answer. `doings` are lines of progress.
    Raises Invalid (too many leases, or too long a line)."""
    at_most(MAX_LEASES_PER_CALL, list(receipts))
    said = {lease_id: one_line(doing) for lease_id, doing in (doings or {}).items()}
    found = held(caller, receipts)
    mine = [key for key, row in found.items() if not isinstance(row, DomainError)]
    renewed = renewing.renew(mine, None, said)
    return RenewedMany(
        [_item(caller, key, row, renewed.get(key)) for key, row in found.items()]
    )


def _item(caller: Caller, lease_id: UUID, row: Any, renewed: Any) -> RenewedItem:
    if renewed is not None:
        return RenewedItem(lease_id, renewed=_renewed(renewed))
    error = row if isinstance(row, DomainError) else _lost_now(caller, row)
    return RenewedItem(lease_id, error=Refused(error.code, error.detail))


def _renewed(row: Any) -> Renewed:
    comments = row.comments
    cancel = None
    if row.cancel_requested_at:
        cancel = CancelRequest(
            row.cancel_by, row.cancel_reason, row.cancel_requested_at
        )
    return Renewed(
        lease_id=row.id,
        expires_at=row.expires_at,
        server_time=row.now,
        cancel_requested=cancel is not None,
        cancel=cancel,
        comments=msgspec.json.decode(comments, type=list[NewComment])
        if comments
        else [],
    )


def _lost_now(caller: Caller, row: Any) -> DomainError:
    """As it is after the attempt: the first look may be older than the loss."""
    now = renewing.look(caller.workspace_id, [row.id]).get(row.id, row)
    if now.state == Lease.State.ACTIVE and now.cancel_told_at:
        return called_off(caller, now)
    return refused(caller, now, "renew")
