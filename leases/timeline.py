"""Every attempt at a card, as people look at it: who, when, how it went."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db.models import Count, Sum, Window

from accounts.callers import Caller
from accounts.shapes import ActorRef, actor_ref
from boards import reads
from leases.models import Lease, Refusal
from leases.reads import server_time
from leases.wall import CardView, card_views

MAX_ATTEMPTS_SHOWN = 50


@dataclass(frozen=True)
class TimelineEntry:
    """One lease. `state` is the lease's, or `lapsed` while it's active beyond its time;
    `lasted` goes on until it has ended; `refusals` counts the calls that came with its
    receipt when it had lost the card."""

    id: UUID
    attempt: int
    state: str
    holder: ActorRef | None
    column_id: UUID
    column: str
    began: datetime
    ended: datetime | None
    expires: datetime | None
    lasted: timedelta
    heartbeats: int
    last_heartbeat: datetime | None
    outcome: str
    next_due: datetime | None
    reason: str
    note: str
    output: Any
    refusals: int


@dataclass(frozen=True)
class Timeline:
    """Latest first; `total` counts those not shown, too. `card` is the card as on the
    board, with the lease in force (None when archived)."""

    entries: list[TimelineEntry]
    total: int
    card: CardView | None


def timeline(caller: Caller, *, card_id: UUID) -> Timeline:
    """The attempts at a card, fifty at most. Raises NotFound."""
    reads.card(caller, card_id=card_id)
    rows = list(
        Lease.objects.filter(card_id=card_id)
        .select_related("holder", "column")
        .annotate(total=Window(Count("id")))
        .order_by("-id")[:MAX_ATTEMPTS_SHOWN]
    )
    refusals = dict(
        Refusal.objects.filter(lease__in=rows)
        .values_list("lease_id")
        .annotate(all_times=Sum("times"))
    )
    now = server_time()
    views = card_views(caller.workspace_key, [card_id])
    return Timeline(
        entries=[_entry(row, now, refusals.get(row.pk, 0)) for row in rows],
        total=rows[0].total if rows else 0,
        card=views[0] if views else None,
    )


def _entry(row: Lease, now: datetime, refusals: int) -> TimelineEntry:
    is_active = row.state == Lease.State.ACTIVE
    lapsed = is_active and row.expires_at is not None and row.expires_at <= now
    return TimelineEntry(
        id=row.pk,
        attempt=row.attempt,
        state="lapsed" if lapsed else row.state,
        holder=actor_ref(row.holder),
        column_id=row.column_id,
        column=row.column.name,
        began=row.acquired_at,
        ended=row.ended_at,
        expires=row.expires_at,
        lasted=(row.ended_at or now) - row.acquired_at,
        heartbeats=row.renewals,
        last_heartbeat=row.renewed_at,
        outcome=row.outcome,
        next_due=row.next_due,
        reason=row.reason,
        note=row.note,
        output=row.output,
        refusals=refusals,
    )
