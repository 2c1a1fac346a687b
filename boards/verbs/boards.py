"""Boards: create, change, archive, restore, and who may do what there."""

from uuid import UUID

import msgspec
from django.db import transaction

from accounts.callers import Caller
from accounts.errors import Invalid, NotFound
from accounts.models import Actor
from accounts.roles import BoardRole
from boards import access, events
from boards.models import Board, BoardMember, Card, ClockTimestamp, Column
from boards.verbs.guard import Free, free_all
from boards.verbs.text import name_of


@transaction.atomic
def create_board(
    caller: Caller,
    *,
    name: str,
    description: str = "",
    default_role: BoardRole | None = BoardRole.EDITOR,
    columns: tuple[str, ...] = (),
) -> UUID:
    """A board with these columns, its creator being manager. People only, or an agent
    whose token may `manage`. Raises Invalid."""
    board = Board.objects.create(
        workspace_id=caller.workspace_id,
        name=name_of(name),
        description=description,
        default_role=default_role,
    )
    BoardMember.objects.create(
        board=board, actor_id=caller.actor_id, role=BoardRole.MANAGER
    )
    for i, title in enumerate(columns):
        name = name_of(title, f"/columns/{i}")
        Column.objects.create(board=board, name=name)
    events.record(caller, events.BOARD_CREATED, board=board, data={"name": board.name})
    return board.pk


@transaction.atomic
def edit_board(
    caller: Caller,
    *,
    board_id: UUID,
    name: str | msgspec.UnsetType = msgspec.UNSET,
    description: str | msgspec.UnsetType = msgspec.UNSET,
    default_role: BoardRole | msgspec.UnsetType | None = msgspec.UNSET,
) -> UUID:
    """Change what is given. Managers. Raises NotFound, Forbidden, Invalid."""
    board = _locked(caller, board_id)
    if name is not msgspec.UNSET:
        board.name = name_of(name)
    if description is not msgspec.UNSET:
        board.description = description
    if default_role is not msgspec.UNSET:
        board.default_role = default_role
    board.save()
    access.forget()
    events.record(caller, events.BOARD_UPDATED, board=board, data={"name": board.name})
    return board.pk


@transaction.atomic
def archive_board(caller: Caller, *, board_id: UUID, free: Free | None = None) -> UUID:
    """Put the board away: it takes no changes and no claims until restored. Refused
    while cards are being worked on, unless `free` takes their leases away."""
    board = _locked(caller, board_id)
    held = Card.objects.locked().filter(board=board, state=Card.State.CLAIMED)
    free_all(held.order_by("id"), free)
    if board.archived_at is None:
        board.archived_at = ClockTimestamp()
        board.save()
        events.record(caller, events.BOARD_ARCHIVED, board=board)
    access.forget()
    return board.pk


@transaction.atomic
def restore_board(caller: Caller, *, board_id: UUID) -> UUID:
    """Bring an archived board back. Managers."""
    board = _locked(caller, board_id)
    if board.archived_at is not None:
        board.archived_at = None
        board.save()
        events.record(caller, events.BOARD_RESTORED, board=board)
    access.forget()
    return board.pk


@transaction.atomic
def set_board_member(
    caller: Caller, *, board_id: UUID, handle: str, role: BoardRole | None
) -> UUID:
    """Give an actor of the workspace a role here, or (null) take it away. Managers.
    Raises Invalid for a handle that nobody has."""
    board = _locked(caller, board_id)
    actor = actor_of(caller, handle, "/handle")
    if role is None:
        BoardMember.objects.filter(board=board, actor=actor).delete()
    else:
        BoardMember.objects.update_or_create(
            board=board, actor=actor, defaults={"role": role}
        )
    access.forget()
    events.record(
        caller,
        events.BOARD_UPDATED,
        board=board,
        data={"member": actor.handle, "role": role.name.lower() if role else None},
    )
    return board.pk


def actor_of(caller: Caller, handle: str, pointer: str) -> Actor:
    """Raises Invalid for a handle that nobody enabled has in the workspace."""
    found = (
        Actor.objects.in_workspace(caller.workspace_id)
        .enabled()
        .filter(handle=handle.lstrip("@"))
        .first()
    )
    if found is None:
        raise Invalid.at(pointer, "unknown_actor", f"Nobody here is {handle!r}.")
    return found


def _locked(caller: Caller, board_id: UUID) -> Board:
    access.require(caller, board_id, BoardRole.MANAGER, archived_too=True)
    board = Board.objects.select_for_update(no_key=True).filter(pk=board_id).first()
    if board is None:
        raise NotFound
    return board
