"""What there is to know about leases and contracts, for those who may see the board."""

from collections.abc import Iterable
from datetime import datetime
from uuid import UUID

from django.db import connection
from django.db.models import ExpressionWrapper, FloatField, Min, Q, QuerySet
from django.db.models.functions import Extract, Now

from accounts.callers import Caller
from accounts.errors import NotFound
from accounts.pages import Page, cut_page, paged
from accounts.roles import BoardRole
from accounts.shapes import actor_ref
from boards import access
from boards.models import Card, Column
from leases.models import Contract, Lease
from leases.shapes import Attempt, ContractShape, LeaseShape

LEASE_STATES = ("active", "expired", "all")


def seconds_to_next_due(column_id: UUID) -> float | None:
    """How long until the first waiting card of a queue is due; None without one."""
    waiting = Card.objects.filter(
        column_id=column_id,
        state=Card.State.OPEN,
        archived_at=None,
        available_at__isnull=False,
    )
    left = waiting.aggregate(
        left=ExpressionWrapper(
            Extract(Min("available_at") - Now(), "epoch"), output_field=FloatField()
        )
    )["left"]
    return None if left is None else round(max(0.0, float(left)), 3)


def contract(caller: Caller, *, board_id: UUID, column_id: UUID) -> ContractShape:
    """The column's contract; one that was never set is disabled, with the defaults.

    Raises NotFound.
    """
    access.require(caller, board_id, BoardRole.VIEWER)
    column = Column.objects.filter(
        pk=column_id, board_id=board_id, archived_at=None
    ).first()
    if column is None:
        raise NotFound("There is no such column on this board.")
    found = Contract.objects.filter(pk=column_id).first()
    return contract_shape(found or Contract(column_id=column_id))


def contract_shape(row: Contract) -> ContractShape:
    return ContractShape(
        column_id=row.column_id,
        enabled=row.enabled,
        paused=row.paused,
        pause_reason=row.pause_reason,
        queue=row.queue,
        lease_ttl_seconds=row.lease_ttl_seconds,
        max_attempts=row.max_attempts,
        backoff_seconds=list(row.backoff_seconds),
        on_success_column_id=row.on_success_column_id,
        on_failure_column_id=row.on_failure_column_id,
        concurrency_limit=row.concurrency_limit,
        input_schema=row.input_schema,
        output_schema=row.output_schema,
        version=row.version,
    )


def lease(caller: Caller, *, lease_id: UUID) -> LeaseShape:
    """One lease, whatever its state. Raises NotFound."""
    row = (
        _with_holder(Lease.objects.all())
        .filter(pk=lease_id, workspace_id=caller.workspace_id)
        .first()
    )
    if row is None or not access.can_see(caller, row.board_id):
        raise NotFound("There is no such lease here.")
    return lease_shape(row)


@paged
def leases(
    caller: Caller,
    *,
    board_id: UUID,
    state: str = "active",
    column_id: UUID | None = None,
    card_id: UUID | None = None,
    page_size: int,
    page_token: str,
) -> Page[LeaseShape]:
    """Leases of a board, latest first. `expired` is the stuck queue (seed A): lapsed
    and not yet taken over, or ended by expiry. Raises NotFound, Invalid (page_token)."""
    access.require(caller, board_id, BoardRole.VIEWER)
    rows = _with_holder(Lease.objects.filter(board_id=board_id))
    if state == "active":
        rows = rows.filter(state=Lease.State.ACTIVE)
    elif state == "expired":
        lapsed = Q(state=Lease.State.ACTIVE, expires_at__lte=Now())
        rows = rows.filter(lapsed | Q(state=Lease.State.EXPIRED))
    if column_id:
        rows = rows.filter(column_id=column_id)
    if card_id:
        rows = rows.filter(card_id=card_id)
    return cut_page(rows, ("-id",), tuple[UUID], page_size, page_token, lease_shape)


@paged
def held_by_caller(
    caller: Caller, *, page_size: int, page_token: str
) -> Page[LeaseShape]:
    """What the caller's seat holds now (all its tokens), latest first."""
    rows = _with_holder(
        Lease.objects.filter(holder_id=caller.actor_id, state=Lease.State.ACTIVE)
    )
    return cut_page(rows, ("-id",), tuple[UUID], page_size, page_token, lease_shape)


def by_ids(caller: Caller, ids: Iterable[UUID]) -> list[Lease]:
    """For a replay: the leases themselves, in the order of `ids`."""
    order = list(ids)
    rows = _with_holder(
        Lease.objects.filter(pk__in=order, workspace_id=caller.workspace_id)
    )
    found = {row.pk: row for row in rows}
    return [found[one] for one in order if one in found]


def _with_holder(rows: QuerySet[Lease]) -> QuerySet[Lease]:
    return rows.select_related("holder").defer("output")


def lease_shape(row: Lease) -> LeaseShape:
    return LeaseShape(
        id=row.pk,
        card_id=row.card_id,
        board_id=row.board_id,
        column_id=row.column_id,
        state=row.state,
        attempt=row.attempt,
        holder=actor_ref(row.holder),
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


def server_time() -> datetime:
    """PostgreSQL's clock, the only one that counts."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT clock_timestamp()")
        now: datetime = cursor.fetchone()[0]
        return now


def contract_of(column_id: UUID) -> Contract:
    return Contract.objects.get(pk=column_id)


def attempts_before(lease: Lease) -> list[Attempt]:
    """The five latest attempts at the card before this lease, latest first."""
    rows = Lease.objects.filter(
        card_id=lease.card_id, acquired_at__lt=lease.acquired_at
    )
    return [
        Attempt(
            attempt=row.attempt,
            state=row.state,
            holder=row.holder.handle,
            acquired_at=row.acquired_at,
            ended_at=row.ended_at,
            reason=row.reason,
            note=row.note,
        )
        for row in _with_holder(rows).order_by("-acquired_at")[:5]
    ]
