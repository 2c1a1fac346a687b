"""What operations on cards take."""

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

import msgspec
from msgspec import Meta

from accounts import skills, told
from boards.values import MAX_DOING_CHARACTERS
from boards.verbs import fields
from boards.verbs.cards import MAX_BULK_CARDS, NewCard
from boards.verbs.text import MAX_TITLE_CHARACTERS
from leases.verbs.reasons import MAX_REASON_CHARACTERS
from novum.operations.operation import (
    IfMatch,
    Input,
    PageInput,
)

State = Literal["none", "open", "waiting", "misfit", "claimed", "done", "failed"]
Title = Annotated[str, Meta(min_length=1, max_length=MAX_TITLE_CHARACTERS)]
Priority = Annotated[
    int,
    Meta(
        ge=fields.FIRST_PRIORITY,
        le=fields.LAST_PRIORITY,
        description="1 comes first.",
    ),
]
Reason = Annotated[str, told.told(maxLength=MAX_REASON_CHARACTERS)]
Handle = Annotated[told.Handle, Meta(description="@handle of a person or an agent.")]
Force = Annotated[bool, Meta(description="Take the card away from its holder.")]
At = Annotated[datetime, Meta(tz=True)]
Parent = Annotated[UUID | None, Meta(description="The card it's a part of.")]
Skills = Annotated[
    skills.Skills, Meta(description="What an agent must have to be offered it.")
]
# Of a filter, commas between.
LabelList = Annotated[
    str, Meta(max_length=fields.MAX_LABELS * (fields.MAX_LABEL_CHARACTERS + 1))
]


class CardInput(Input, frozen=True):
    card_id: UUID


class ListCards(PageInput, frozen=True):
    """With `column_id` in claim order, else by age. `labels`: commas between, all of
    them."""

    board_id: UUID | None = None
    column_id: UUID | None = None
    state: State | None = None
    labels: LabelList = ""
    assignee: Handle | None = None
    holder: Handle | None = None
    q: Annotated[str, Meta(max_length=200, description="In title or description.")] = ""
    archived: bool = False


class CreateCard(Input, frozen=True):
    """`before`, `after` (a card of the column) or `position` say where; bottom."""

    board_id: UUID
    column_id: UUID
    title: Title
    description: fields.Description = ""
    priority: Priority = 3
    labels: fields.Labels = []
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
    description: fields.Description | msgspec.UnsetType = msgspec.UNSET
    priority: Priority | msgspec.UnsetType = msgspec.UNSET
    labels: fields.Labels | msgspec.UnsetType = msgspec.UNSET
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
    reason: Reason = ""


class SetCardActivity(CardInput, frozen=True):
    doing: Annotated[
        str,
        Meta(
            max_length=MAX_DOING_CHARACTERS,
            description="One line, shown on the card; empty takes it back.",
        ),
    ]
