"""The one JSON form of endpoints, deliveries, and of what is told to receivers."""

from datetime import datetime
from typing import Any
from uuid import UUID

import msgspec

from accounts.shapes import ActorRef
from boards.shapes import CardShape


class Hour(msgspec.Struct, frozen=True):
    """Tries within the hour that begins at `at`."""

    at: datetime
    delivered: int
    failed: int


class SecretShape(msgspec.Struct, frozen=True):
    """A signing secret without itself. `expires_at`: until then it signs beside the
    newer one; null for the newest."""

    created_at: datetime
    expires_at: datetime | None


class EndpointShape(msgspec.Struct, frozen=True):
    """Where events go. `boards` empty: all of the workspace. `off` says why it's
    switched off: by_hand, gone (it answered 410), failing (for days), owner (no admin
    any more). `hours` are the last 24. Header values are never shown."""

    id: UUID
    url: str
    description: str
    types: list[str]
    boards: list[UUID]
    format: str
    header_names: list[str]
    enabled: bool
    off: str | None
    off_at: datetime | None
    failing_since: datetime | None
    owner: ActorRef | None
    secrets: list[SecretShape]
    waiting: int
    given_up: int
    hours: list[Hour]
    created_at: datetime


class DeliveryShape(msgspec.Struct, frozen=True):
    """One event for one endpoint. `state`: pending (next try at `due_at`), delivered,
    or failed (given up). `status` and `problem` are those of the last try."""

    id: UUID
    endpoint_id: UUID
    webhook_id: str
    event_id: UUID
    type: str
    card_id: UUID | None
    sequence: int | None
    state: str
    attempts: int
    due_at: datetime | None
    status: int | None
    problem: str
    created_at: datetime
    ended_at: datetime | None


class AttemptShape(msgspec.Struct, frozen=True):
    """One try; `answer` is the first KB of what came back. `problem` is a stable word
    where no answer came: timeout, connect_timeout, unknown_host, connection_refused,
    connection_lost, tls, bad_answer, no_answer, forbidden_address, interrupted, …"""

    number: int
    at: datetime
    milliseconds: int
    status: int | None
    problem: str
    answer: str


class DeliveryDetail(DeliveryShape, frozen=True):
    """With what was sent and every try, the first one first."""

    body: msgspec.Raw | None
    tried: list[AttemptShape]


class MessageBoard(msgspec.Struct, frozen=True):
    id: UUID
    name: str


class MessageColumn(msgspec.Struct, frozen=True):
    """`queue` where the column is one."""

    id: UUID
    name: str
    queue: str | None


class MessageWorkspace(msgspec.Struct, frozen=True):
    id: UUID
    key: str
    name: str


class MessageComment(msgspec.Struct, frozen=True):
    id: UUID
    text: str


class MessageLease(msgspec.Struct, frozen=True):
    """The lease as it stood after the event. `outcome` where it ended without a result:
    `requeued` (due at `next_due`; null: at once), `dead_lettered` or `cancelled`. The
    receipt is never here."""

    id: UUID
    attempt: int
    max_attempts: int | None
    holder: ActorRef | None
    acquired_at: datetime | None
    expires_at: datetime | None
    ended_at: datetime | None
    reason: str | None
    note: str | None
    outcome: str | None
    next_due: datetime | None


class MessageData(msgspec.Struct, frozen=True):
    """What an event was about. `sequence` rises by one per card: sort by it. The card
    is as it was when the message was made, moments after the event (`version` tells).
    `cut` names what was too large and is shortened or null here; `links` lead to it."""

    sequence: int | None
    workspace: MessageWorkspace
    board: MessageBoard | None
    column: MessageColumn | None
    from_column: MessageColumn | None
    to_column: MessageColumn | None
    card: CardShape | None
    lease: MessageLease | None
    comment: MessageComment | None
    actor: ActorRef | None
    details: dict[str, Any]
    cut: list[str]
    links: dict[str, str]


class Message(msgspec.Struct, frozen=True):
    """The body, by Standard Webhooks 1.0.0."""

    type: str
    timestamp: datetime
    data: MessageData
