"""The one JSON form of a board, column, card, comment and event."""

from collections.abc import Callable
from datetime import datetime
from typing import Any, Protocol
from uuid import UUID

import msgspec

from accounts.roles import BoardRole
from accounts.shapes import ActorRef, actor_ref
from boards.models import Board, Card, Column, Comment, Event


class BoardShape(msgspec.Struct, frozen=True):
    """`your_role` is what the caller may do here; `default_role` what every member of
    the workspace may do without being named (null: private)."""

    id: UUID
    name: str
    description: str
    default_role: str | None
    your_role: str
    archived_at: datetime | None
    created_at: datetime


class BoardMemberShape(msgspec.Struct, frozen=True):
    actor: ActorRef
    role: str


class ColumnShape(msgspec.Struct, frozen=True):
    """`wip_limit` is a signal for people; agents are held by the contract's
    `concurrency_limit`."""

    id: UUID
    board_id: UUID
    name: str
    color: str
    wip_limit: int | None
    is_queue: bool
    created_at: datetime


class CardShape(msgspec.Struct, frozen=True):
    """A card, which is a job when its column is a queue.

    `state` is null outside of queues, else `open`, `claimed`, `done` or `failed`. An
    open card with `available_at` waits until then; `fits` false means that it doesn't
    fit the column's input_schema (`misfit` says why), null that it's not judged yet.
    Agents are offered it only if they have all of `skills`. `doing` is what somebody
    without a lease says to be at; `cancelled_at` tells a failed card that was called
    off from one that couldn't be done.
    """

    id: UUID
    key: str
    board_id: UUID
    column_id: UUID
    title: str
    description: str
    priority: int
    labels: list[str]
    assignee: ActorRef | None
    due: datetime | None
    parent_id: UUID | None
    skills: list[str]
    properties: Any
    payload: Any
    output: Any
    state: str | None
    available_at: datetime | None
    fits: bool | None
    misfit: Any
    attempts: int
    holder: ActorRef | None
    lease_id: UUID | None
    version: int
    created_by: ActorRef | None
    created_at: datetime
    updated_at: datetime
    archived_at: datetime | None
    cancelled_at: datetime | None
    doing: str


class CardBrief(msgspec.Struct, frozen=True):
    """Where a card stands, without its content."""

    id: UUID
    key: str
    board_id: UUID
    column_id: UUID
    title: str
    state: str | None
    attempts: int
    available_at: datetime | None
    version: int


class CommentShape(msgspec.Struct, frozen=True):
    id: UUID
    card_id: UUID
    author: ActorRef
    text: str
    created_at: datetime
    edited_at: datetime | None


class EventShape(msgspec.Struct, frozen=True):
    """What happened. `sequence` rises by one per card."""

    id: UUID
    type: str
    at: datetime
    actor: ActorRef | None
    board_id: UUID | None
    column_id: UUID | None
    card_id: UUID | None
    lease_id: UUID | None
    sequence: int | None
    data: Any


class CardRow(Protocol):
    """What `card_fields` reads: a `Card`, or a row of a statement with the same names."""

    id: Any
    number: Any
    board_id: Any
    column_id: Any
    title: Any
    description: Any
    priority: Any
    labels: Any
    due: Any
    parent_id: Any
    skills: Any
    properties: Any
    payload: Any
    output: Any
    state: Any
    available_at: Any
    fits: Any
    misfit: Any
    attempts: Any
    lease_id: Any
    version: Any
    created_at: Any
    updated_at: Any
    archived_at: Any
    cancelled_at: Any


def card_key(workspace_key: str, number: int) -> str:
    return f"{workspace_key}-{number}"


def card_fields(
    row: CardRow,
    key: str,
    *,
    assignee: ActorRef | None,
    holder: ActorRef | None,
    created_by: ActorRef | None,
) -> dict[str, Any]:
    """The fields of a `CardShape`, for it and for what extends it."""
    return {
        "id": row.id,
        "key": card_key(key, row.number),
        "board_id": row.board_id,
        "column_id": row.column_id,
        "title": row.title,
        "description": row.description,
        "priority": row.priority,
        "labels": row.labels,
        "assignee": assignee,
        "due": row.due,
        "parent_id": row.parent_id,
        "skills": row.skills,
        "properties": row.properties,
        "payload": row.payload,
        "output": row.output,
        "state": row.state or None,
        "available_at": row.available_at,
        "fits": row.fits,
        "misfit": row.misfit,
        "attempts": row.attempts,
        "holder": holder,
        "lease_id": row.lease_id,
        "version": row.version,
        "created_by": created_by,
        "created_at": row.created_at,
        "updated_at": row.updated_at,
        "archived_at": row.archived_at,
        "cancelled_at": row.cancelled_at,
        "doing": row.activity() if isinstance(row, Card) else "",
    }


def full_card(row: Card, key: str) -> CardShape:
    """Of a `Card` read with `reads.with_people` (else a query for each actor)."""
    return CardShape(
        **card_fields(
            row,
            key,
            assignee=actor_ref(row.assignee),
            holder=actor_ref(row.holder),
            created_by=actor_ref(row.created_by),
        )
    )


def card_brief(row: CardRow, key: str) -> CardBrief:
    return CardBrief(
        id=row.id,
        key=card_key(key, row.number),
        board_id=row.board_id,
        column_id=row.column_id,
        title=row.title,
        state=row.state or None,
        attempts=row.attempts,
        available_at=row.available_at,
        version=row.version,
    )


def board(row: Board, your_role: BoardRole) -> BoardShape:
    return BoardShape(
        id=row.pk,
        name=row.name,
        description=row.description,
        default_role=row.get_default_role_display() if row.default_role else None,
        your_role=your_role.name.lower(),
        archived_at=row.archived_at,
        created_at=row.created_at,
    )


def column(row: Column) -> ColumnShape:
    return ColumnShape(
        id=row.pk,
        board_id=row.board_id,
        name=row.name,
        color=row.color,
        wip_limit=row.wip_limit,
        is_queue=row.is_queue,
        created_at=row.created_at,
    )


def comment(row: Comment) -> CommentShape:
    author = actor_ref(row.author)
    assert author is not None
    return CommentShape(
        id=row.pk,
        card_id=row.card_id,
        author=author,
        text=row.text,
        created_at=row.created_at,
        edited_at=row.edited_at,
    )


def event(row: Event, actor_of: Callable[[Event], ActorRef | None]) -> EventShape:
    return EventShape(
        id=row.pk,
        type=row.type,
        at=row.created_at,
        actor=actor_of(row),
        board_id=row.board_id,
        column_id=row.column_id,
        card_id=row.card_id,
        lease_id=row.lease_id,
        sequence=row.sequence,
        data=row.data,
    )
