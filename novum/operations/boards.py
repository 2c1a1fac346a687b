"""Boards and who may do what on them."""

from typing import Annotated, Literal
from uuid import UUID

import msgspec
from msgspec import Meta

from accounts.callers import Caller
from accounts.pages import Page
from accounts.roles import BoardRole
from accounts.told import MAX_HANDLE_CHARACTERS
from boards import reads
from boards.shapes import BoardMemberShape, BoardShape
from boards.verbs import boards
from boards.verbs.fields import MAX_DESCRIPTION_CHARACTERS
from boards.verbs.text import Name
from leases.verbs.revoke import free
from leases.verbs.start_board import start_board as start
from novum.operations.operation import Input, Operation, PageInput, Remembers

Role = Literal["viewer", "commenter", "editor", "manager"]
DefaultRole = Annotated[
    Role | msgspec.UnsetType | None,
    Meta(description="Of every member of the workspace; null makes it private."),
]


BoardDescription = Annotated[str, Meta(max_length=MAX_DESCRIPTION_CHARACTERS)]


class BoardInput(Input, frozen=True):
    board_id: UUID


class ListBoards(PageInput, frozen=True):
    archived: bool = False


class CreateBoard(Input, frozen=True):
    name: Name
    description: BoardDescription = ""
    default_role: DefaultRole = "editor"
    columns: Annotated[
        list[Name], Meta(max_length=50, description="Names, from left to right.")
    ] = []


class StartBoard(Input, frozen=True):
    name: Name
    description: BoardDescription = ""
    default_role: DefaultRole = "editor"
    template: Annotated[
        Literal["pipeline", "kanban", "empty"],
        Meta(
            description="`pipeline`: two queues that hand on to each other;"
            " `kanban`: to do, doing, done."
        ),
    ] = "pipeline"


class EditBoard(BoardInput, frozen=True):
    name: Name | msgspec.UnsetType = msgspec.UNSET
    description: BoardDescription | msgspec.UnsetType = msgspec.UNSET
    default_role: DefaultRole = msgspec.UNSET


class ArchiveBoard(BoardInput, frozen=True):
    force: Annotated[
        bool, Meta(description="Take cards that are being worked on away.")
    ] = False


class SetBoardMember(BoardInput, frozen=True):
    handle: Annotated[str, Meta(max_length=MAX_HANDLE_CHARACTERS)]
    role: Role | None


def _role(text: str | msgspec.UnsetType | None) -> BoardRole | msgspec.UnsetType | None:
    return BoardRole[text.upper()] if isinstance(text, str) else text


def list_boards(caller: Caller, given: ListBoards) -> Page[BoardShape]:
    return reads.boards(
        caller,
        archived=given.archived,
        page_size=given.page_size,
        page_token=given.page_token,
    )


def get_board(caller: Caller, given: BoardInput) -> BoardShape:
    return reads.board(caller, board_id=given.board_id)


def create_board(caller: Caller, given: CreateBoard) -> BoardShape:
    role = _role(given.default_role)
    board_id = boards.create_board(
        caller,
        name=given.name,
        description=given.description,
        default_role=BoardRole.EDITOR if role is msgspec.UNSET else role,
        columns=tuple(given.columns),
    )
    return reads.board(caller, board_id=board_id)


def start_board(caller: Caller, given: StartBoard) -> BoardShape:
    role = _role(given.default_role)
    board_id = start(
        caller,
        name=given.name,
        description=given.description,
        default_role=BoardRole.EDITOR if role is msgspec.UNSET else role,
        plan=given.template,
    )
    return reads.board(caller, board_id=board_id)


def edit_board(caller: Caller, given: EditBoard) -> BoardShape:
    boards.edit_board(
        caller,
        board_id=given.board_id,
        name=given.name,
        description=given.description,
        default_role=_role(given.default_role),
    )
    return reads.board(caller, board_id=given.board_id)


def archive_board(caller: Caller, given: ArchiveBoard) -> BoardShape:
    boards.archive_board(
        caller, board_id=given.board_id, free=free(caller) if given.force else None
    )
    return reads.board(caller, board_id=given.board_id)


def restore_board(caller: Caller, given: BoardInput) -> BoardShape:
    boards.restore_board(caller, board_id=given.board_id)
    return reads.board(caller, board_id=given.board_id)


def list_board_members(caller: Caller, given: BoardInput) -> Page[BoardMemberShape]:
    return Page(reads.board_members(caller, board_id=given.board_id))


def set_board_member(caller: Caller, given: SetBoardMember) -> Page[BoardMemberShape]:
    boards.set_board_member(
        caller,
        board_id=given.board_id,
        handle=given.handle,
        role=BoardRole[given.role.upper()] if given.role else None,
    )
    return Page(reads.board_members(caller, board_id=given.board_id))


OPERATIONS = (
    Operation(
        name="list_boards",
        method="GET",
        path="/boards",
        summary="The boards that the caller can see.",
        input=ListBoards,
        output=Page[BoardShape],
        call=list_boards,
        scope="read",
        who="anybody",
        errors=("bad_cursor",),
    ),
    Operation(
        name="create_board",
        method="POST",
        path="/boards",
        summary="Make a board, with columns if named; its maker is manager.",
        input=CreateBoard,
        output=BoardShape,
        call=create_board,
        scope="manage",
        who="anybody",
        errors=("invalid",),
        status=201,
        remembers=Remembers(
            lambda made: [made.id],
            lambda caller, given, ids: reads.board(caller, board_id=ids[0]),
        ),
    ),
    Operation(
        name="start_board",
        method="POST",
        path="/boards:start",
        summary="Make a board from a template, with its queues; its maker is manager.",
        input=StartBoard,
        output=BoardShape,
        call=start_board,
        scope="manage",
        who="anybody",
        errors=("invalid",),
        status=201,
        remembers=Remembers(
            lambda made: [made.id],
            lambda caller, given, ids: reads.board(caller, board_id=ids[0]),
        ),
    ),
    Operation(
        name="get_board",
        method="GET",
        path="/boards/{board_id}",
        summary="One board.",
        input=BoardInput,
        output=BoardShape,
        call=get_board,
        scope="read",
        who="viewer",
    ),
    Operation(
        name="edit_board",
        method="PATCH",
        path="/boards/{board_id}",
        summary="Change what is given of a board.",
        input=EditBoard,
        output=BoardShape,
        call=edit_board,
        scope="manage",
        who="manager",
        errors=("invalid",),
        repeatable=False,
    ),
    Operation(
        name="archive_board",
        method="POST",
        path="/boards/{board_id}:archive",
        summary="Put a board away. While cards are being worked on: only with `force`.",
        input=ArchiveBoard,
        output=BoardShape,
        call=archive_board,
        scope="manage",
        who="manager",
        errors=("card_held",),
        repeatable=True,
        destroys=True,
    ),
    Operation(
        name="restore_board",
        method="POST",
        path="/boards/{board_id}:restore",
        summary="Bring an archived board back.",
        input=BoardInput,
        output=BoardShape,
        call=restore_board,
        scope="manage",
        who="manager",
        repeatable=True,
    ),
    Operation(
        name="list_board_members",
        method="GET",
        path="/boards/{board_id}/members",
        summary="Who has a role of their own on the board.",
        input=BoardInput,
        output=Page[BoardMemberShape],
        call=list_board_members,
        scope="read",
        who="viewer",
    ),
    Operation(
        name="set_board_member",
        method="PUT",
        path="/boards/{board_id}/members/{handle}",
        summary="Give an actor a role on the board, or take it away (null).",
        input=SetBoardMember,
        output=Page[BoardMemberShape],
        call=set_board_member,
        scope="manage",
        who="manager",
        errors=("invalid",),
        repeatable=False,
    ),
)
