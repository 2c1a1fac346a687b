"""Which leases are meant."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db.models import (
    DateTimeField,
    DurationField,
    ExpressionWrapper,
    F,
    Q,
    QuerySet,
    Value,
)
from django.db.models.functions import Coalesce, Now
from django.db.models.lookups import LessThanOrEqual

from accounts.callers import Caller
from leases.models import Lease
from supervision.needs.scope import Scope
from supervision.needs.usual import Usual, too_long

# Not heard of for so long, though the lease nearly ran out: a healthy worker renews at
# a third of it.
SILENT = timedelta(minutes=10)
NEARLY = 0.3


@dataclass(frozen=True)
class LeaseFilter:
    """Every given condition must hold. `ended_as` is a state; `claimed_before` a
    moment."""

    board_id: UUID | None = None
    column_id: UUID | None = None
    agent_id: UUID | None = None
    token_id: UUID | None = None
    ended_as: str | None = None
    stuck: bool = False
    claimed_before: datetime | None = None

    @property
    def is_given(self) -> bool:
        ids = (self.board_id, self.column_id, self.agent_id, self.token_id)
        return any(ids) or self.stuck or self.claimed_before is not None


def active(caller: Caller, seen: Scope, wanted: LeaseFilter) -> QuerySet[Lease]:
    """Of these columns, with whoever holds them; by which index is the planner's
    choice, none of them holds a lease that has ended."""
    rows = Lease.objects.filter(
        workspace_id=caller.workspace_id, ended_at=None, column_id__in=seen.columns
    )
    exact = {
        "column_id": wanted.column_id,
        "holder_id": wanted.agent_id,
        "token_id": wanted.token_id,
        "board_id": wanted.board_id,
    }
    rows = rows.filter(**{name: value for name, value in exact.items() if value})
    if wanted.claimed_before:
        rows = rows.filter(acquired_at__lte=wanted.claimed_before)
    if wanted.stuck:
        rows = rows.filter(_lapsed() | _silent() | _slow(too_long(seen.queues)))
    return rows


def why_stuck(row: Lease, now: datetime, slow: Mapping[UUID, Usual]) -> str | None:
    """The same of a row that was read at `now`, as a word."""
    if row.ended_at is not None or row.expires_at is None:
        return None
    if row.expires_at <= now:
        return "lapsed"
    heard = row.renewed_at or row.acquired_at
    nearly = timedelta(seconds=NEARLY * (row.seconds or 0))
    if now - heard >= SILENT and row.expires_at - now <= nearly:
        return "silent"
    usual = slow.get(row.column_id)
    if usual and (now - row.acquired_at).total_seconds() > usual.limit:
        return "slow"
    return None


def _lapsed() -> Q:
    return Q(expires_at__lte=Now())


def _silent() -> Q:
    heard: Any = Coalesce("renewed_at", "acquired_at")
    nearly = ExpressionWrapper(
        F("seconds") * Value(timedelta(seconds=NEARLY)), output_field=DurationField()
    )
    until = ExpressionWrapper(Now() + nearly, output_field=DateTimeField())
    long_ago = ExpressionWrapper(Now() - Value(SILENT), output_field=DateTimeField())
    return Q(Q(expires_at__lte=until), LessThanOrEqual(heard, long_ago))


def _slow(usual: Mapping[UUID, Usual]) -> Q:
    found = Q(pk__in=[])
    for column_id, one in usual.items():
        since = ExpressionWrapper(
            Now() - Value(timedelta(seconds=one.limit)), output_field=DateTimeField()
        )
        found |= Q(column_id=column_id, expires_at__isnull=False, acquired_at__lt=since)
    return found
