"""What many watchers may do on what they are watching, in three statements."""

from collections.abc import Iterable
from uuid import UUID

from accounts.models import Actor
from accounts.roles import BoardRole, WorkspaceRole
from boards.models import Board, BoardMember

Watch = tuple[UUID, UUID]


def roles_now(watches: Iterable[Watch]) -> dict[Watch, BoardRole]:
    """The roles of these pairs of actor and board, as `access` would say; without those
    who don't see it."""
    asked = set(watches)
    people = {one for one, _ in asked}
    actors = {row.pk: row for row in Actor.objects.enabled().filter(pk__in=people)}
    boards = {
        row.pk: row
        for row in Board.objects.filter(pk__in={board for _, board in asked})
    }
    named = {
        (actor_id, board_id): role
        for actor_id, board_id, role in BoardMember.objects.filter(
            actor_id__in=people
        ).values_list("actor_id", "board_id", "role")
    }
    return {
        watch: BoardRole(role)
        for watch in asked
        if (actor := actors.get(watch[0])) and (board := boards.get(watch[1]))
        if (role := _role(actor, board, named.get(watch)))
    }


def _role(actor: Actor, board: Board, named: int | None) -> int | None:
    if actor.workspace_id != board.workspace_id:
        return None
    if actor.role is not None and actor.role >= WorkspaceRole.ADMIN:
        return BoardRole.MANAGER
    default: int | None = board.default_role
    return default if named is None else named
