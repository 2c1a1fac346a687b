"""Renew (heartbeat): the card stays with its holder a while longer."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from accounts.callers import Caller
from accounts.errors import DomainError
from leases.shapes import Refused, Renewed, RenewedItem, RenewedMany
from leases.statements import renewing
from leases.verbs.claim import check_seconds
from leases.verbs.holding import MAX_LEASES_PER_CALL, at_most, held, only
from leases.verbs.refusing import refused


def renew(
    caller: Caller,
    *,
    lease_id: UUID,
    lease_token: str,
    lease_ttl_seconds: int | None = None,
) -> Renewed:
    """Extend to now + the length claimed for, or `lease_ttl_seconds`.

    Silent by design (seed A): no event, no version, no push. Raises LeaseLost once the
    lease has lapsed or ended, whether or not the reaper has run.
    """
    check_seconds("lease_ttl_seconds", lease_ttl_seconds)
    row = only(held(caller, {lease_id: lease_token}))
    renewed = renewing.renew([lease_id], lease_ttl_seconds)
    if lease_id not in renewed:
        raise _lost_now(caller, row)
    return _renewed(renewed[lease_id])


def renew_many(caller: Caller, *, receipts: Mapping[UUID, str]) -> RenewedMany:
    """Extend many in one call; each gets its own answer. Raises Invalid (too many)."""
    at_most(MAX_LEASES_PER_CALL, list(receipts))
    found = held(caller, receipts)
    mine = [key for key, row in found.items() if not isinstance(row, DomainError)]
    renewed = renewing.renew(mine, None)
    return RenewedMany(
        [_item(caller, key, row, renewed.get(key)) for key, row in found.items()]
    )


def _item(caller: Caller, lease_id: UUID, row: Any, renewed: Any) -> RenewedItem:
    if renewed is not None:
        return RenewedItem(lease_id, renewed=_renewed(renewed))
    error = row if isinstance(row, DomainError) else _lost_now(caller, row)
    return RenewedItem(lease_id, error=Refused(error.code, error.detail))


def _renewed(row: Any) -> Renewed:
    return Renewed(lease_id=row.id, expires_at=row.expires_at, server_time=row.now)


def _lost_now(caller: Caller, row: Any) -> DomainError:
    """As it is after the attempt: the first look may be older than the loss."""
    now = renewing.look(caller.workspace_id, [row.id])
    return refused(caller, now.get(row.id, row), "renew")
