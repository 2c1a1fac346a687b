"""What agents do: a seat, and each of its workers."""

from datetime import datetime
from uuid import UUID

import msgspec

from accounts.shapes import AgentShape
from supervision.stats.shapes import Totals


class AgentFigures(msgspec.Struct, frozen=True):
    """A seat now and over the last 24 hours, on boards that the caller can see.

    `holds` cards, `lapsed` of them run out; `doing` is the latest line of progress of
    one of its workers. `totals` count ended attempts; 50 % and 95 % of those that were
    completed or failed took `run_p50` and `run_p95` seconds at most.
    """

    agent: AgentShape
    holds: int
    lapsed: int
    doing: str
    doing_at: datetime | None
    totals: Totals
    run_p50: float | None
    run_p95: float | None


class WorkerFigures(msgspec.Struct, frozen=True):
    """What was done with one token, of the attempts that were looked at. `name` and
    `token_id` are null for what was claimed without a token that still exists."""

    token_id: UUID | None
    name: str | None
    last_used_at: datetime | None
    revoked: bool
    holds: int
    claims: int
    completed: int
    failed: int
    expired: int
    released: int
    revoked_leases: int
    run_p50: float | None
    run_p95: float | None


class AgentDetail(msgspec.Struct, frozen=True):
    """`workers` per token, those seen last first: of the attempts claimed in the last 24
    hours, or since `looked_back_to`, where 10,000 of the latest of all go back no
    further."""

    figures: AgentFigures
    workers: list[WorkerFigures]
    looked_back_to: datetime | None
