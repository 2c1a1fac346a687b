"""Who of many watchers may still see what they are watching, in three statements."""

from collections.abc import Iterable
from uuid import UUID

from accounts.models import Actor
from accounts.roles import WorkspaceRole
from boards.models import Board, BoardMember

Watch = tuple[UUID, UUID]


def still_seen(watches: Iterable[Watch]) -> set[Watch]:
    """Of these pairs of actor and board, those who see it, as `access` would say."""
    asked = set(watches)
    people = {one for one, _ in asked}
    actors = {row.pk: row for row in Actor.objects.enabled().filter(pk__in=people)}
    boards = {
        row.pk: row
        for row in Board.objects.filter(pk__in={board for _, board in asked})
    }
    named: set[Watch] = set(
        BoardMember.objects.filter(actor_id__in=people).values_list(
            "actor_id", "board_id"
        )
    )
    return {
        watch
        for watch in asked
        if (actor := actors.get(watch[0])) and (board := boards.get(watch[1]))
        if _sees(actor, board, watch in named)
    }


def _sees(actor: Actor, board: Board, is_named: bool) -> bool:
    if actor.workspace_id != board.workspace_id:
        return False
    is_admin = actor.role is not None and actor.role >= WorkspaceRole.ADMIN
    return is_admin or is_named or board.default_role is not None
