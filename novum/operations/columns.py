"""Columns, their place on the board and their job contracts."""

from typing import Annotated, Any, Literal
from uuid import UUID

import msgspec
from msgspec import Meta

from accounts.callers import Caller
from accounts.pages import Page
from accounts.told import told
from boards import reads
from boards.shapes import ColumnShape
from boards.verbs import columns
from boards.verbs.columns import MAX_WIP_LIMIT
from boards.verbs.places import BOTTOM, Place
from boards.verbs.text import Name
from leases import reads as lease_reads
from leases.contract import (
    HIGHEST_MAX_ATTEMPTS,
    MAX_BACKOFF_SECONDS,
    MAX_BACKOFF_STEPS,
    MAX_CONCURRENCY_LIMIT,
    MAX_LEASE_SECONDS,
    MAX_PAUSE_CHARACTERS,
    MAX_QUEUE_CHARACTERS,
    MIN_LEASE_SECONDS,
    QUEUE_NAME,
)
from leases.errors import InvalidContract
from leases.shapes import ContractShape
from leases.verbs import set_contract as contracts
from leases.verbs.revoke import free
from novum.operations.boards import BoardInput
from novum.operations.operation import Operation, Remembers

WipLimit = Annotated[
    Annotated[int, Meta(ge=1, le=MAX_WIP_LIMIT)] | msgspec.UnsetType | None,
    Meta(description="A signal for people, not a wall."),
]
Color = Annotated[str, Meta(max_length=20)]


class ColumnInput(BoardInput, frozen=True):
    column_id: UUID


class CreateColumn(BoardInput, frozen=True):
    name: Name
    color: Color = ""
    wip_limit: WipLimit = None


class EditColumn(ColumnInput, frozen=True):
    name: Name | msgspec.UnsetType = msgspec.UNSET
    color: Color | msgspec.UnsetType = msgspec.UNSET
    wip_limit: WipLimit = msgspec.UNSET


class MoveColumn(ColumnInput, frozen=True):
    """Where to: `before` or `after` another column, or at an end (default: right)."""

    before: UUID | None = None
    after: UUID | None = None
    position: Literal["top", "bottom"] | None = None


class DeleteColumn(ColumnInput, frozen=True):
    move_cards_to: UUID | None = None
    force: bool = False


class SetContract(ColumnInput, frozen=True):
    """The whole contract; what is left out or null takes its default."""

    enabled: bool | None = None
    paused: bool | None = None
    pause_reason: Annotated[str, told(maxLength=MAX_PAUSE_CHARACTERS)] | None = None
    queue: (
        Annotated[str, told(maxLength=MAX_QUEUE_CHARACTERS, pattern=f"^{QUEUE_NAME}$")]
        | None
    ) = None
    lease_ttl_seconds: (
        Annotated[int, told(minimum=MIN_LEASE_SECONDS, maximum=MAX_LEASE_SECONDS)]
        | msgspec.UnsetType
        | None
    ) = msgspec.UNSET
    max_attempts: (
        Annotated[int, told(minimum=1, maximum=HIGHEST_MAX_ATTEMPTS)] | None
    ) = None
    backoff_seconds: (
        Annotated[
            list[Annotated[int, told(minimum=0, maximum=MAX_BACKOFF_SECONDS)]],
            told(maxItems=MAX_BACKOFF_STEPS),
        ]
        | None
    ) = None
    on_success_column_id: UUID | None = None
    on_failure_column_id: UUID | None = None
    concurrency_limit: (
        Annotated[int, told(minimum=1, maximum=MAX_CONCURRENCY_LIMIT)] | None
    ) = None
    input_schema: Any = None
    output_schema: Any = None
    force: Annotated[
        bool, Meta(description="Disabling takes cards away from their holders.")
    ] = False


def list_columns(caller: Caller, given: BoardInput) -> Page[ColumnShape]:
    return Page(reads.columns(caller, board_id=given.board_id))


def get_column(caller: Caller, given: ColumnInput) -> ColumnShape:
    return reads.column(caller, board_id=given.board_id, column_id=given.column_id)


def create_column(caller: Caller, given: CreateColumn) -> ColumnShape:
    limit = given.wip_limit
    column_id = columns.create_column(
        caller,
        board_id=given.board_id,
        name=given.name,
        color=given.color,
        wip_limit=None if limit is msgspec.UNSET else limit,
    )
    return reads.column(caller, board_id=given.board_id, column_id=column_id)


def edit_column(caller: Caller, given: EditColumn) -> ColumnShape:
    columns.edit_column(
        caller,
        board_id=given.board_id,
        column_id=given.column_id,
        name=given.name,
        color=given.color,
        wip_limit=given.wip_limit,
    )
    return get_column(caller, given)


def move_column(caller: Caller, given: MoveColumn) -> ColumnShape:
    columns.move_column(
        caller,
        board_id=given.board_id,
        column_id=given.column_id,
        place=Place.of(given.before, given.after, given.position) or BOTTOM,
    )
    return get_column(caller, given)


def delete_column(caller: Caller, given: DeleteColumn) -> None:
    """A column with cards needs `move_cards_to`; cards that are being worked on stay
    where they are unless `force`."""
    columns.delete_column(
        caller,
        board_id=given.board_id,
        column_id=given.column_id,
        move_cards_to=given.move_cards_to,
        free=free(caller) if given.force else None,
    )


def get_column_contract(caller: Caller, given: ColumnInput) -> ContractShape:
    return lease_reads.contract(
        caller, board_id=given.board_id, column_id=given.column_id
    )


def set_column_contract(caller: Caller, given: SetContract) -> ContractShape:
    """What is left out takes its default: read the contract first to change one term."""
    terms = contracts.Terms(
        **{name: getattr(given, name) for name in contracts.Terms.__struct_fields__}
    )
    return contracts.set_contract(
        caller,
        board_id=given.board_id,
        column_id=given.column_id,
        terms=terms,
        force=given.force,
    )


_COLUMN = "/boards/{board_id}/columns/{column_id}"

OPERATIONS = (
    Operation(
        name="list_columns",
        method="GET",
        path="/boards/{board_id}/columns",
        summary="The board's columns from left to right.",
        input=BoardInput,
        output=Page[ColumnShape],
        call=list_columns,
        scope="read",
        who="viewer",
    ),
    Operation(
        name="create_column",
        method="POST",
        path="/boards/{board_id}/columns",
        summary="Make a column at the right end of the board.",
        input=CreateColumn,
        output=ColumnShape,
        call=create_column,
        scope="manage",
        who="manager",
        errors=("invalid",),
        status=201,
        remembers=Remembers(
            lambda made: [made.board_id, made.id],
            lambda caller, given, ids: reads.column(
                caller, board_id=ids[0], column_id=ids[1]
            ),
        ),
    ),
    Operation(
        name="get_column",
        method="GET",
        path=_COLUMN,
        summary="One column.",
        input=ColumnInput,
        output=ColumnShape,
        call=get_column,
        scope="read",
        who="viewer",
    ),
    Operation(
        name="edit_column",
        method="PATCH",
        path=_COLUMN,
        summary="Change what is given of a column.",
        input=EditColumn,
        output=ColumnShape,
        call=edit_column,
        scope="manage",
        who="manager",
        errors=("invalid",),
        repeatable=False,
    ),
    Operation(
        name="move_column",
        method="POST",
        path=f"{_COLUMN}:move",
        summary="Put a column before or after another one, or at an end.",
        input=MoveColumn,
        output=ColumnShape,
        call=move_column,
        scope="manage",
        who="manager",
        errors=("invalid",),
    ),
    Operation(
        name="delete_column",
        method="DELETE",
        path=_COLUMN,
        summary="Take a column off the board; its cards go to `move_cards_to`.",
        input=DeleteColumn,
        output=None,
        call=delete_column,
        scope="manage",
        who="manager",
        errors=("column_not_empty", "card_held", "conflict"),
        status=204,
    ),
    Operation(
        name="get_column_contract",
        method="GET",
        path=f"{_COLUMN}/contract",
        summary="The column's job contract; disabled with the defaults if never set.",
        input=ColumnInput,
        output=ContractShape,
        call=get_column_contract,
        scope="read",
        who="viewer",
    ),
    Operation(
        name="set_column_contract",
        method="PUT",
        path=f"{_COLUMN}/contract",
        summary="Replace the column's job contract; `enabled` makes it a queue.",
        input=SetContract,
        output=ContractShape,
        call=set_column_contract,
        scope="manage",
        who="manager",
        errors=("invalid_contract", "cards_held"),
        repeatable=False,
        misfit=InvalidContract,
    ),
)
