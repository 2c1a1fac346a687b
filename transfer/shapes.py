"""The forms: a board as a document, an import and what it would make.

A document is the same whatever workspace it comes from: refs instead of ids, handles
instead of people, an order instead of positions. docs/transfer.md says what each means.
"""

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

import msgspec
from msgspec import Meta

from transfer.contract import VERSION

Moment = Annotated[datetime, Meta(tz=True)]
Count = Annotated[int, Meta(ge=0, le=2**31 - 1)]
Handle = Annotated[str, Meta(pattern="^[a-z0-9][a-z0-9-]{0,38}$")]
Role = Literal["viewer", "commenter", "editor", "manager"]
CardState = Literal["", "open", "done", "failed"]
LeaseState = Literal["completed", "failed", "expired", "released", "revoked"]
Outcome = Literal["", "requeued", "dead_lettered", "cancelled"]
Failure = Literal["", "retry", "wait_until", "fatal"]


class _Part(
    msgspec.Struct,
    frozen=True,
    omit_defaults=True,
    forbid_unknown_fields=True,
    kw_only=True,
):
    """What has its default is left out."""


class BoardPart(_Part, frozen=True, kw_only=True):
    name: str
    description: str = ""
    default_role: Role | None = None
    archived_at: Moment | None = None
    created_at: Moment | None = None


class ContractPart(_Part, frozen=True, kw_only=True):
    """Columns are named by their place among `columns`, from 0 on."""

    enabled: bool = False
    queue: str = ""
    paused: bool = False
    pause_reason: str = ""
    lease_ttl_seconds: int | None = 300
    max_attempts: int = 5
    backoff_seconds: list[int] = []
    on_success: Count | None = None
    on_failure: Count | None = None
    concurrency_limit: int | None = None
    input_schema: Any = None
    output_schema: Any = None


class ColumnPart(_Part, frozen=True, kw_only=True):
    name: str
    color: Annotated[str, Meta(max_length=20)] = ""
    wip_limit: Count | None = None
    archived_at: Moment | None = None
    created_at: Moment | None = None
    contract: ContractPart | None = None


class CommentPart(_Part, frozen=True, kw_only=True):
    """Without an author: whoever imports it."""

    author: Handle | None = None
    text: str
    created_at: Moment | None = None
    edited_at: Moment | None = None


class AttemptPart(_Part, frozen=True, kw_only=True):
    """A lease that has ended."""

    attempt: Count
    column: Count
    holder: Handle
    state: LeaseState
    acquired_at: Moment
    ended_at: Moment
    expires_at: Moment | None = None
    seconds: Count | None = None
    renewals: Count = 0
    renewed_at: Moment | None = None
    outcome: Outcome = ""
    failure: Failure = ""
    reason: str = ""
    note: str = ""
    output: Any = None
    next_due: Moment | None = None
    doing: Annotated[str, Meta(max_length=200)] = ""
    doing_at: Moment | None = None
    cancel_requested_at: Moment | None = None
    cancel_requested_by: Handle | None = None
    cancel_reason: str = ""
    cancel_told_at: Moment | None = None


class CardPart(_Part, frozen=True, kw_only=True):
    """`parent` is the place of another card among `cards`, from 0 on."""

    column: Count
    title: str
    description: str = ""
    priority: int = 3
    labels: list[str] = []
    skills: list[str] = []
    assignee: Handle | None = None
    due: Moment | None = None
    parent: Count | None = None
    properties: dict[str, Any] = {}
    payload: Any = None
    output: Any = None
    state: CardState = ""
    not_before: Moment | None = None
    attempts: Count = 0
    cancelled_at: Moment | None = None
    waits: Annotated[int, Meta(ge=0, le=32_767)] = 0
    waits_since: Moment | None = None
    created_by: Handle | None = None
    created_at: Moment | None = None
    updated_at: Moment | None = None
    archived_at: Moment | None = None
    comments: list[CommentPart] = []
    leases: list[AttemptPart] = []


class BoardDocument(_Part, frozen=True, omit_defaults=False, kw_only=True):
    format: Literal["novum-board"] = "novum-board"
    version: Annotated[int, Meta(ge=VERSION, le=VERSION)] = VERSION
    board: BoardPart
    columns: list[ColumnPart] = []
    cards: list[CardPart] = []


class Target(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Where a file goes: a new board (with a name of its own), a board, a column of
    it."""

    name: str = ""
    board_id: UUID | None = None
    column_id: UUID | None = None


class ExportedBoard(msgspec.Struct, frozen=True):
    """The whole board; docs/transfer.md has the schema of its parts."""

    format: str
    version: int
    board: dict[str, Any]
    columns: list[dict[str, Any]]
    cards: list[dict[str, Any]]


class Skipped(msgspec.Struct, frozen=True):
    """A row of the table, or a card of the file, that isn't taken, and why."""

    row: int
    title: str
    reason: str


class ImportShape(msgspec.Struct, frozen=True):
    """`state` is draft, waiting, running, done or failed; while running, `staged` of
    `total` cards are ready to go on the board together. `skipped_rows` lists the first
    100. `notes` say what isn't carried as it was."""

    id: UUID
    state: str
    kind: str
    file_name: str
    board_id: UUID | None
    total: int
    staged: int
    read: int
    imported: int
    skipped: int
    notes: list[str]
    skipped_rows: list[Skipped]
    error: str
    created_at: datetime
    ended_at: datetime | None


class BoardImport(msgspec.Struct, frozen=True):
    """`board_id` is there once `state` is done; get_import tells how far it is."""

    import_id: UUID
    board_id: UUID | None
    state: str
    imported: int
    notes: list[str]


class TableColumn(msgspec.Struct, frozen=True):
    name: str
    role: str
    samples: list[str]


class PreviewedCard(msgspec.Struct, frozen=True):
    """Long texts are cut."""

    row: int
    column: str
    title: str
    description: str
    labels: list[str]
    priority: int
    assignee: str | None
    due: datetime | None
    done: bool
    archived: bool
    more: dict[str, str]


class Earlier(msgspec.Struct, frozen=True):
    """An import of the same file before."""

    id: UUID
    by: str
    at: datetime
    imported: int
    board_id: UUID | None


class Preview(msgspec.Struct, frozen=True):
    """What the file would make, read in the way that `encoding`, `delimiter`, `header`,
    `dates` and the columns' roles say. Nothing is on a board yet."""

    import_id: UUID
    kind: str
    board: str
    columns: list[str]
    read: int
    imports: int
    skips: int
    cards: list[PreviewedCard]
    problems: list[Skipped]
    notes: list[str]
    earlier: list[Earlier]
    encoding: str | None = None
    delimiter: str | None = None
    header: bool | None = None
    dates: str | None = None
    table: list[TableColumn] = []
