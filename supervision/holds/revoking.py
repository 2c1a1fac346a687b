"""Revoke many leases: these ones, or all that match, some hundred at a time."""

from collections import Counter
from collections.abc import Sequence
from uuid import UUID

from accounts.callers import Caller
from accounts.errors import DomainError, Invalid, NotFound
from accounts.roles import BoardRole
from boards import access
from boards.shapes import card_key
from leases.errors import LeaseLost
from leases.models import Lease
from leases.reads import server_time
from leases.shapes import Refused
from leases.statements import giving_back
from leases.verbs.cancel import end_cancelled
from leases.verbs.reasons import check_text
from supervision.holds.filtering import LeaseFilter, active
from supervision.holds.looking import scope_of
from supervision.holds.shapes import HolderCount, RevokedItem, RevokedMany

MAX_PER_CALL = 500
# One statement, which locks so many cards for a moment.
CHUNK = 100


def revoke_many(
    caller: Caller,
    *,
    lease_ids: Sequence[UUID] = (),
    wanted: LeaseFilter | None = None,
    reason: str = "",
    dry_run: bool = False,
) -> RevokedMany:
    """End these active leases, or the first MAX_PER_CALL that match; each card is open
    again, the attempt not counted. Managers, of each lease's board: the others are
    refused one by one. In chunks, each a transaction of its own.

    Raises NotFound (the board of the filter), Invalid (neither ids nor a filter, a
    reason too long).
    """
    check_text("reason", reason)
    as_of = server_time()
    if wanted is not None and wanted.is_given:
        rows, matched = _matching(caller, wanted)
    elif lease_ids:
        rows, matched = _named(caller, lease_ids), len(set(lease_ids))
    else:
        raise Invalid.at("/lease_ids", "required", "Name leases, or a filter.")
    may, errors = _judged(caller, rows)
    done = set(may) if dry_run else _revoke(caller, may, reason)
    lost = Refused(LeaseLost.code, "It had ended meanwhile.")
    errors |= {one: lost for one in may if one not in done}
    missing = [one for one in dict.fromkeys(lease_ids) if one not in rows]
    gone = NotFound("There is no such lease here.")
    results = [_item(caller, row, errors.get(one)) for one, row in rows.items()]
    results += [
        RevokedItem(one, None, None, Refused(gone.code, gone.detail)) for one in missing
    ]
    return RevokedMany(
        dry_run=dry_run,
        matched=matched,
        revoked=len(done),
        refused=len(results) - len(done),
        left=max(0, matched - len(results)),
        holders=_holders([rows[one] for one in may if one in done]),
        results=results,
        as_of=as_of,
    )


def _matching(caller: Caller, wanted: LeaseFilter) -> tuple[dict[UUID, Lease], int]:
    """Those on boards that the caller manages first, so that repeated calls get to the
    end of them."""
    rows = active(caller, scope_of(caller, wanted), wanted)
    found = rows.select_related("holder", "card").only(*_ONLY).order_by("id")
    may: list[Lease] = []
    others: list[Lease] = []
    for row in found:
        (may if _role(caller, row) >= BoardRole.MANAGER else others).append(row)
    first = [*may, *others][:MAX_PER_CALL]
    return {row.pk: row for row in first}, len(may) + len(others)


_ONLY = (
    "board_id",
    "state",
    "holder__handle",
    "holder__name",
    "card__number",
)


def _named(caller: Caller, lease_ids: Sequence[UUID]) -> dict[UUID, Lease]:
    rows = Lease.objects.filter(pk__in=lease_ids, workspace_id=caller.workspace_id)
    found = rows.select_related("holder", "card").only(*_ONLY).order_by("id")
    return {row.pk: row for row in found if access.can_see(caller, row.board_id)}


def _role(caller: Caller, row: Lease) -> BoardRole:
    return access.require(caller, row.board_id, BoardRole.VIEWER)


def _judged(
    caller: Caller, rows: dict[UUID, Lease]
) -> tuple[list[UUID], dict[UUID, Refused]]:
    """Which of them may be ended by the caller, and why the others may not."""
    may, errors = [], {}
    for one, row in rows.items():
        try:
            access.require(caller, row.board_id, BoardRole.MANAGER)
            if row.state != Lease.State.ACTIVE:
                raise LeaseLost(f"It has ended: {row.state}.")
        except DomainError as error:
            errors[one] = Refused(error.code, error.detail)
        else:
            may.append(one)
    return may, errors


def _revoke(caller: Caller, ids: Sequence[UUID], reason: str) -> set[UUID]:
    done: set[UUID] = set()
    for start in range(0, len(ids), CHUNK):
        chunk = list(ids[start : start + CHUNK])
        rows = giving_back.give_back(
            giving_back.REVOKE, chunk, caller=caller, reason=reason
        )
        done |= {row.id for row in rows}
        # What was called off doesn't come back to its queue.
        done |= set(end_cancelled([one for one in chunk if one not in done]))
    return done


def _item(caller: Caller, row: Lease, error: Refused | None) -> RevokedItem:
    key = card_key(caller.workspace_key, row.card.number)
    return RevokedItem(row.pk, key, row.holder.handle, error)


def _holders(rows: Sequence[Lease]) -> list[HolderCount]:
    counts = Counter((row.holder.handle, row.holder.name) for row in rows)
    return [HolderCount(*who, count) for who, count in counts.most_common()]
