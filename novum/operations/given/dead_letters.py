"""What the operations on dead letters take."""

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

import msgspec
from msgspec import Meta

from accounts.told import MAX_HANDLE_CHARACTERS
from leases.folding import MAX_FOLD_CHARACTERS
from novum.cleaning import MAX_INTEGER
from novum.operations.given.cards import LabelList
from novum.operations.operation import IfMatch, Input, PageInput

MAX_CARD_IDS = 1_000
MAX_REASON_CHARACTERS = 1_000

At = Annotated[datetime, Meta(tz=True)]
Group = Annotated[
    Annotated[str, Meta(max_length=MAX_FOLD_CHARACTERS)] | None,
    Meta(description="A folded reason, as list_dead_letter_groups gives it."),
]
Column = Annotated[
    UUID | None, Meta(description="The queue it failed in, or where it lies.")
]
Agent = Annotated[
    str,
    Meta(max_length=MAX_HANDLE_CHARACTERS, description="@handle of the last holder."),
]
Text = Annotated[str, Meta(max_length=200, description="In title or reason, or a key.")]
Labels = Annotated[LabelList, Meta(description="All of these, commas between.")]


class ListDeadLetters(PageInput, frozen=True):
    board_id: UUID | None = None
    column_id: Column = None
    group: Group = None
    agent: Agent = ""
    since: At | None = None
    until: At | None = None
    q: Text = ""
    labels: Labels = ""


class ListDeadLetterGroups(Input, frozen=True):
    board_id: UUID | None = None
    column_id: Column = None
    agent: Agent = ""
    since: At | None = None
    until: At | None = None
    q: Text = ""
    labels: Labels = ""


class Filter(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """All that match; `{}` is every dead letter that you can see."""

    board_id: UUID | None = None
    column_id: Column = None
    group: Group = None
    agent: Agent = ""
    since: At | None = None
    until: At | None = None
    q: Text = ""
    labels: Labels = ""


class ManyDeadLetters(Input, frozen=True):
    """One of `card_ids` and `filter`."""

    card_ids: (
        Annotated[list[UUID], Meta(min_length=1, max_length=MAX_CARD_IDS)] | None
    ) = None
    filter: Filter | None = None
    dry_run: Annotated[bool, Meta(description="False does it.")] = True
    expect: (
        Annotated[
            int,
            Meta(
                ge=0,
                le=MAX_INTEGER,
                description="`will` + `unchecked` of a dry run; 409 if it's another.",
            ),
        ]
        | None
    ) = None


class MoveDeadLetters(ManyDeadLetters, frozen=True, kw_only=True):
    to_column_id: UUID


class DiscardDeadLetters(ManyDeadLetters, frozen=True, kw_only=True):
    reason: Annotated[str, Meta(min_length=1, max_length=MAX_REASON_CHARACTERS)]


class RetryDeadLetter(Input, frozen=True):
    card_id: UUID
    payload: Annotated[Any, Meta(description="The card's new input.")] = msgspec.UNSET
    if_match: IfMatch = None


class BulkActionInput(Input, frozen=True):
    bulk_action_id: UUID


class ListBulkResults(PageInput, frozen=True):
    bulk_action_id: UUID
    state: Literal["done", "refused", "waiting"] | None = None
