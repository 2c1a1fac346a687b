"""Queues and what they did, as the doors give them out."""

from datetime import datetime
from uuid import UUID

import msgspec

from accounts.shapes import ActorRef


class Rates(msgspec.Struct, frozen=True):
    """Of the last hour, minute by minute, the present one last."""

    completed: list[int]
    failed: list[int]
    dead_lettered: list[int]
    expired: list[int]


class Percentiles(msgspec.Struct, frozen=True):
    """In seconds; null where there was nothing to measure."""

    wait_p50: float | None = None
    wait_p95: float | None = None
    run_p50: float | None = None
    run_p95: float | None = None


class QueueStats(msgspec.Struct, frozen=True, kw_only=True):
    """A queue as it stands. `state`: running, paused (nobody at work), or draining
    (paused, and `working` are still held). `depth` can be claimed now, `waiting` later,
    `misfits` not at all; `failed` lie here, counted to 1000. `oldest_seconds` is the
    longest wait of those at the head of each priority. `per_minute` is of the last five
    minutes, `success_rate` (completed of completed, failed and expired) of the last
    hour, the percentiles of this hour and the one before."""

    queue: str
    column_id: UUID
    column: str
    board_id: UUID
    board: str
    state: str
    pause_reason: str
    depth: int
    working: int
    limit: int | None
    waiting: int
    misfits: int
    failed: int
    lapsed: int
    agents: int
    oldest_seconds: float | None
    asked_at: datetime | None
    completed_per_minute: float
    failed_per_minute: float
    success_rate: float | None
    times: Percentiles
    last_hour: Rates | None = None


class Series(msgspec.Struct, frozen=True):
    """One list a kind, one entry a step, the present step last. `at` are seconds since
    1970. `depth` and `working` are the highest of the samples taken once a minute."""

    at: list[int]
    claims: list[int]
    completed: list[int]
    failed: list[int]
    dead_lettered: list[int]
    expired: list[int]
    depth: list[int]
    working: list[int]
    wait_p50: list[float | None]
    wait_p95: list[float | None]
    run_p50: list[float | None]
    run_p95: list[float | None]


class Totals(msgspec.Struct, frozen=True):
    """Attempts by how they ended; `failed` and `expired` count attempts,
    `dead_lettered` cards that have none left."""

    claims: int = 0
    completed: int = 0
    failed: int = 0
    dead_lettered: int = 0
    expired: int = 0
    released: int = 0
    revoked: int = 0


class HolderStats(msgspec.Struct, frozen=True, kw_only=True):
    """What one holder did in the span. `working` is what it holds now."""

    holder: ActorRef
    working: int
    totals: Totals
    run_p50: float | None
    run_p95: float | None


class WhatIf(msgspec.Struct, frozen=True):
    """How many of a hundred leases would have lapsed with this length, at least and at
    most: see `get_queue_stats`."""

    lease_seconds: int
    at_least: float
    at_most: float


class LeaseLengths(msgspec.Struct, frozen=True):
    """Of the `leases` that ended in the last seven days, `lapsed` did lapse."""

    leases: int
    lapsed: int
    lengths: list[WhatIf]


class QueueDetail(msgspec.Struct, frozen=True):
    """`queue` as in the list; the rest over `span`, in steps of `step_seconds`."""

    queue: QueueStats
    span: str
    step_seconds: int
    totals: Totals
    times: Percentiles
    series: Series
    holders: list[HolderStats]
    lease_lengths: LeaseLengths
