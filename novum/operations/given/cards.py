"""What operations on cards take."""

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

import msgspec
from msgspec import Meta

from boards.values import MAX_DOING_CHARACTERS
from boards.verbs.cards import MAX_BULK_CARDS, NewCard
from novum.operations.operation import (
    IfMatch,
    Input,
    PageInput,
)

State = Literal["none", "open", "waiting", "misfit", "claimed", "done", "failed"]
Title = Annotated[str, Meta(min_length=1, max_length=500)]
Priority = Annotated[int, Meta(ge=1, le=5, description="1 comes first.")]
Handle = Annotated[
    str,
    Meta(
        description="@handle of a person or an agent.",
        extra_json_schema={"format": "handle"},
    ),
]
Force = Annotated[bool, Meta(description="Take the card away from its holder.")]
At = Annotated[datetime, Meta(tz=True)]
Parent = Annotated[UUID | None, Meta(description="The card it's a part of.")]
Skills = Annotated[
    list[str], Meta(description="What an agent must have to be offered it.")
]


class CardInput(Input, frozen=True):
    card_id: UUID


class ListCards(PageInput, frozen=True):
    """With `column_id` in claim order, else by age. `labels`: commas between, all of
    them."""

    board_id: UUID | None = None
    column_id: UUID | None = None
    state: State | None = None
    labels: str = ""
    assignee: Handle | None = None
    holder: Handle | None = None
    q: Annotated[str, Meta(max_length=200, description="In title or description.")] = ""
    archived: bool = False


class CreateCard(Input, frozen=True):
    """`before`, `after` (a card of the column) or `position` say where; bottom."""

    board_id: UUID
    column_id: UUID
    title: Title
    description: str = ""
    priority: Priority = 3
    labels: list[str] = []
    assignee: Handle | None = None
    due: At | None = None
    not_before: At | None = None
    parent: Parent = None
    skills: Skills = []
    properties: dict[str, Any] = {}
    payload: Any = None
    before: UUID | None = None
    after: UUID | None = None
    position: Literal["top", "bottom"] | None = None


class BulkCreateCards(Input, frozen=True):
    board_id: UUID
    column_id: UUID
    cards: Annotated[list[NewCard], Meta(min_length=1, max_length=MAX_BULK_CARDS)]


class EditCard(CardInput, frozen=True):
    if_match: IfMatch = None
    title: Title | msgspec.UnsetType = msgspec.UNSET
    description: str | msgspec.UnsetType = msgspec.UNSET
    priority: Priority | msgspec.UnsetType = msgspec.UNSET
    labels: list[str] | msgspec.UnsetType = msgspec.UNSET
    assignee: Handle | msgspec.UnsetType | None = msgspec.UNSET
    due: At | msgspec.UnsetType | None = msgspec.UNSET
    not_before: At | msgspec.UnsetType | None = msgspec.UNSET
    parent: Parent | msgspec.UnsetType = msgspec.UNSET
    skills: Skills | msgspec.UnsetType = msgspec.UNSET
    properties: dict[str, Any] | msgspec.UnsetType = msgspec.UNSET
    payload: Any = msgspec.UNSET


class MoveCard(CardInput, frozen=True):
    """Into `column_id` (or where it is), `before` or `after` a card there, or at an
    end."""

    if_match: IfMatch = None
    column_id: UUID | None = None
    before: UUID | None = None
    after: UUID | None = None
    position: Literal["top", "bottom"] | None = None
    force: Force = False


class ArchiveCard(CardInput, frozen=True):
    if_match: IfMatch = None
    force: Force = False


class CancelCard(CardInput, frozen=True):
    reason: str = ""


class SetCardActivity(CardInput, frozen=True):
    doing: Annotated[
        str,
        Meta(
            max_length=MAX_DOING_CHARACTERS,
            description="One line, shown on the card; empty takes it back.",
        ),
    ]


class ListComments(PageInput, frozen=True):
    card_id: UUID


class AddComment(CardInput, frozen=True):
    text: Annotated[str, Meta(description="Markdown.")]


class CommentInput(CardInput, frozen=True):
    comment_id: UUID


class EditComment(CommentInput, frozen=True):
    text: str
