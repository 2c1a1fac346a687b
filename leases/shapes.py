"""The one JSON form of a contract, a lease, and of what the verbs answer."""

from datetime import datetime
from typing import Any
from uuid import UUID

import msgspec

from accounts.shapes import ActorRef
from boards.shapes import CardBrief, CardShape


class ContractShape(msgspec.Struct, frozen=True):
    """A column's job contract (design section 5). Times are seconds."""

    column_id: UUID
    enabled: bool
    paused: bool
    pause_reason: str
    queue: str
    lease_ttl_seconds: int | None
    max_attempts: int
    backoff_seconds: list[int]
    on_success_column_id: UUID | None
    on_failure_column_id: UUID | None
    concurrency_limit: int | None
    input_schema: Any
    output_schema: Any
    version: int


class LeaseShape(msgspec.Struct, frozen=True):
    """One attempt. `state` is active, completed, failed, expired, released or revoked;
    `outcome` what became of the card: requeued (due at `next_due`), dead_lettered or
    cancelled; `failure` which kind it was: retry, wait_until or fatal. `doing` is the
    holder's line of progress. The receipt is never here."""

    id: UUID
    card_id: UUID
    board_id: UUID
    column_id: UUID
    state: str
    attempt: int
    holder: ActorRef | None
    seconds: int | None
    acquired_at: datetime
    expires_at: datetime | None
    renewals: int
    renewed_at: datetime | None
    ended_at: datetime | None
    outcome: str | None
    reason: str
    note: str
    next_due: datetime | None
    failure: str | None = None
    doing: str = ""
    doing_at: datetime | None = None
    cancel_requested_at: datetime | None = None


class Attempt(msgspec.Struct, frozen=True):
    """An earlier try at the card, so that the next worker needn't repeat a mistake."""

    attempt: int
    state: str
    holder: str
    acquired_at: datetime
    ended_at: datetime | None
    reason: str
    note: str


class ClaimedCard(CardShape, frozen=True):
    """A card as its new holder gets it: latest attempts first, five at most."""

    max_attempts: int
    previous_attempts: list[Attempt]


class Claim(msgspec.Struct, frozen=True):
    """A lease, its receipt (`lease_token`, given here only) and the card."""

    lease: LeaseShape
    lease_token: str
    card: ClaimedCard


class Claimed(msgspec.Struct, frozen=True, omit_defaults=True):
    """The answer to a claim. Nothing to claim is no error: `lease`, `lease_token` and
    `card` are null, `reason` says why (drained, waiting, at_capacity, paused) and
    `retry_after_seconds`, where known, when to ask again. With `count` in the call,
    `claims` holds them all."""

    server_time: datetime
    lease: LeaseShape | msgspec.UnsetType | None = msgspec.UNSET
    lease_token: str | msgspec.UnsetType | None = msgspec.UNSET
    card: ClaimedCard | msgspec.UnsetType | None = msgspec.UNSET
    claims: list[Claim] | msgspec.UnsetType = msgspec.UNSET
    reason: str | msgspec.UnsetType = msgspec.UNSET
    retry_after_seconds: float | msgspec.UnsetType | None = msgspec.UNSET
    replayed: bool | msgspec.UnsetType = msgspec.UNSET


class CancelRequest(msgspec.Struct, frozen=True):
    """Who wants the holder to stop, and why."""

    by: str | None
    reason: str
    at: datetime


class NewComment(msgspec.Struct, frozen=True):
    """A remark on the card since the last heartbeat; `text` is cut at 2,000 characters."""

    id: UUID
    author: str
    text: str
    at: datetime


class Renewed(msgspec.Struct, frozen=True):
    """A heartbeat's answer: work on until `expires_at`, or stop if `cancel_requested`:
    the next call with this receipt ends the lease, and the card is cancelled.
    `comments` are others' since the last heartbeat, ten at most, told once."""

    lease_id: UUID
    expires_at: datetime | None
    server_time: datetime
    cancel_requested: bool = False
    cancel: CancelRequest | None = None
    comments: list[NewComment] = []


class Activity(msgspec.Struct, frozen=True):
    """One line of what somebody is doing with a card, silent in its history. Without a
    lease it counts for ten minutes, or until the card changes."""

    card_id: UUID
    doing: str
    at: datetime
    by: ActorRef


class Cancelled(msgspec.Struct, frozen=True):
    """A card that was called off: `cancelled` now, or as soon as its holder has heard
    (`cancel_requested`, by `until` at the latest)."""

    card: CardBrief
    cancelled: bool
    cancel_requested: bool
    until: datetime | None
    server_time: datetime


class Ended(msgspec.Struct, frozen=True):
    """A lease that has ended, and where its card is now. `replayed` when it had ended
    so before and this call changed nothing."""

    lease: LeaseShape
    card: CardBrief
    server_time: datetime
    replayed: bool = False
    next: Claimed | None = None


class Refused(msgspec.Struct, frozen=True):
    """Why one of many didn't work."""

    code: str
    detail: str


class EndedItem(msgspec.Struct, frozen=True):
    lease_id: UUID
    ended: Ended | None = None
    error: Refused | None = None


class EndedMany(msgspec.Struct, frozen=True):
    """An answer per lease, in the order asked: `ended` or `error`."""

    results: list[EndedItem]


class RenewedItem(msgspec.Struct, frozen=True):
    lease_id: UUID
    renewed: Renewed | None = None
    error: Refused | None = None


class RenewedMany(msgspec.Struct, frozen=True):
    """An answer per lease, in the order asked: `renewed` or `error`."""

    results: list[RenewedItem]
