"""The boards and columns on which somebody may put cards."""

from dataclasses import dataclass, field
from uuid import UUID

from accounts.callers import Caller
from accounts.roles import BoardRole
from boards import access
from boards.models import Board, BoardMember, Column

MOST_BOARDS = 200


@dataclass(frozen=True)
class TargetBoard:
    """`may_manage`: may also make columns there."""

    id: UUID
    name: str
    may_manage: bool
    columns: list[tuple[UUID, str]] = field(default_factory=list)


def target_boards(caller: Caller) -> list[TargetBoard]:
    """By name, in three queries."""
    rows = Board.objects.filter(access.visible(caller), archived_at=None)
    named = dict(
        BoardMember.objects.filter(actor_id=caller.actor_id).values_list(
            "board_id", "role"
        )
    )
    found = {}
    for row in rows.order_by("name", "id")[:MOST_BOARDS]:
        role = named.get(row.pk, row.default_role) or 0
        if caller.is_admin():
            role = BoardRole.MANAGER
        if role >= BoardRole.EDITOR:
            found[row.pk] = TargetBoard(row.pk, row.name, role >= BoardRole.MANAGER)
    columns = Column.objects.filter(board_id__in=found, archived_at=None)
    for column in columns.order_by("position", "id"):
        found[column.board_id].columns.append((column.pk, column.name))
    return list(found.values())
