"""The one JSON form of a task, and of what the verbs on tasks answer."""

from datetime import datetime
from typing import Any
from uuid import UUID

import msgspec

from accounts.callers import Caller
from boards.models import Card
from boards.shapes import card_key
from leases.models import Lease
from leases.shapes import CancelRequest, Claim, NewComment
from tasks_people.models import Message


class TaskLease(msgspec.Struct, frozen=True):
    """Who works on a task and until when (null: it never lapses). `holder` is a
    @handle; `cancel_requested` when they are to stop."""

    id: UUID
    holder: str
    claimed_at: datetime
    expires_at: datetime | None
    cancel_requested: bool = False


class TaskShape(msgspec.Struct, frozen=True):
    """A task: a card whose column is a queue. `state` is `open`, `claimed`, `done` or
    `failed`; people are @handles. `not_before` is when an open task that waits can be
    claimed, `parent` the task that it's a part of, `error` why the latest attempt
    failed; `cancelled_at` tells a failed task that was called off."""

    id: UUID
    key: str
    title: str
    description: str
    queue: str
    board_id: UUID
    column_id: UUID
    priority: int
    state: str | None
    payload: Any
    labels: list[str]
    skills: list[str]
    assignee: str | None
    created_by: str | None
    parent: UUID | None
    due: datetime | None
    not_before: datetime | None
    created_at: datetime
    updated_at: datetime
    attempts: int
    lease: TaskLease | None
    result: Any
    error: str | None
    cancelled_at: datetime | None
    version: int


class TaskAnswer(msgspec.Struct, frozen=True):
    """The task as it is now. `replayed` when the call had been made before and this one
    changed nothing."""

    task: TaskShape
    replayed: bool = False


class ClaimedTask(msgspec.Struct, frozen=True, omit_defaults=True):
    """A task of one's own, and `lease_token`, the receipt (given here only). Nothing to
    claim is no error: `task` is null, `reason` says why (drained, waiting, at_capacity,
    paused, …) and `retry_after_seconds`, where known, when to ask again."""

    task: TaskShape | None
    server_time: datetime
    lease_token: str | msgspec.UnsetType = msgspec.UNSET
    reason: str | msgspec.UnsetType = msgspec.UNSET
    retry_after_seconds: float | msgspec.UnsetType | None = msgspec.UNSET
    replayed: bool | msgspec.UnsetType = msgspec.UNSET


class StartedTask(msgspec.Struct, frozen=True):
    """A task of one's own, and `lease_token`, the receipt. `replayed` when it was the
    caller's already."""

    task: TaskShape
    lease_token: str
    replayed: bool = False


class Heartbeat(msgspec.Struct, frozen=True):
    """Work on until `expires_at` (null: without end), or stop if `cancel_requested`:
    the next call ends the lease, and the task is cancelled. `comments` are others'
    since the last heartbeat, told once."""

    id: UUID
    expires_at: datetime | None
    server_time: datetime
    cancel_requested: bool = False
    cancel: CancelRequest | None = None
    comments: list[NewComment] = []


class QueueShape(msgspec.Struct, frozen=True):
    """A queue that the caller can see. `open` counts what waits as well."""

    name: str
    board_id: UUID
    board: str
    column_id: UUID
    paused: bool
    open: int
    claimed: int


class MessageShape(msgspec.Struct, frozen=True):
    """`number` rises by one with each message of a recipient; `sender` and `recipient`
    are @handles."""

    id: UUID
    number: int
    topic: str
    type: str
    correlation_id: str
    payload: Any
    sender: str | None
    recipient: str
    created_at: datetime
    read_at: datetime | None


class TopicShape(msgspec.Struct, frozen=True):
    topic: str
    unread: int
    total: int


def at(handle: str) -> str:
    return f"@{handle}"


def handle_of(actor: Any) -> str | None:
    """Of an `Actor` or an `ActorRef`."""
    return at(actor.handle) if actor else None


def task_of_card(
    row: Card, key: str, *, queue: str, lease: Lease | None, error: str | None
) -> TaskShape:
    """Of a `Card` read with its people, and the lease in force."""
    held = None
    if lease is not None and row.holder is not None:
        held = TaskLease(
            id=lease.pk,
            holder=at(row.holder.handle),
            claimed_at=lease.acquired_at,
            expires_at=lease.expires_at,
            cancel_requested=lease.cancel_requested_at is not None,
        )
    return TaskShape(
        id=row.pk,
        key=card_key(key, row.number),
        title=row.title,
        description=row.description,
        queue=queue,
        board_id=row.board_id,
        column_id=row.column_id,
        priority=row.priority,
        state=row.state or None,
        payload=row.payload,
        labels=row.labels,
        skills=row.skills,
        assignee=handle_of(row.assignee),
        created_by=handle_of(row.created_by),
        parent=row.parent_id,
        due=row.due,
        not_before=row.available_at,
        created_at=row.created_at,
        updated_at=row.updated_at,
        attempts=row.attempts,
        lease=held,
        result=row.output,
        error=error,
        cancelled_at=row.cancelled_at,
        version=row.version,
    )


def task_of_claim(caller: Caller, claim: Claim, queue: str) -> TaskShape:
    """Of what a claim has answered, without another look."""
    card, lease = claim.card, claim.lease
    before = card.previous_attempts[0] if card.previous_attempts else None
    failed = before is not None and before.state in ("failed", "expired")
    return TaskShape(
        id=card.id,
        key=card.key,
        title=card.title,
        description=card.description,
        queue=queue,
        board_id=card.board_id,
        column_id=card.column_id,
        priority=card.priority,
        state=card.state,
        payload=card.payload,
        labels=card.labels,
        skills=card.skills,
        assignee=handle_of(card.assignee),
        created_by=handle_of(card.created_by),
        parent=card.parent_id,
        due=card.due,
        not_before=None,
        created_at=card.created_at,
        updated_at=card.updated_at,
        attempts=card.attempts,
        lease=TaskLease(
            id=lease.id,
            holder=at(caller.handle),
            claimed_at=lease.acquired_at,
            expires_at=lease.expires_at,
        ),
        result=card.output,
        error=before.reason if before and failed else None,
        cancelled_at=None,
        version=card.version,
    )


def message_shape(row: Message) -> MessageShape:
    """Of a `Message` read with its people."""
    return MessageShape(
        id=row.pk,
        number=row.number,
        topic=row.topic,
        type=row.type,
        correlation_id=row.correlation_id,
        payload=row.payload,
        sender=handle_of(row.sender),
        recipient=at(row.recipient.handle),
        created_at=row.created_at,
        read_at=row.read_at,
    )
