"""Where the caller may look, and what their role is there: one statement."""

from dataclasses import dataclass
from itertools import pairwise
from typing import Any
from uuid import UUID

from django.db import connection

from accounts.callers import Caller
from accounts.roles import BoardRole
from tasks_people.queues import PEOPLE

_PLACES = """
SELECT b.id, b.name, CASE WHEN %(admin)s THEN %(manager)s
    ELSE COALESCE(m.role, b.default_role) END AS role,
  k.id, k.name, COALESCE(q.enabled, false), COALESCE(q.paused, false), q.queue,
  q.max_attempts, q.on_success_column_id, q.on_failure_column_id
FROM boards_board b
LEFT JOIN boards_boardmember m ON m.board_id = b.id AND m.actor_id = %(me)s
JOIN boards_column k ON k.board_id = b.id AND k.archived_at IS NULL
LEFT JOIN leases_contract q ON q.column_id = k.id
WHERE b.workspace_id = %(workspace)s AND b.archived_at IS NULL
  AND (%(board)s::uuid IS NULL OR b.id = %(board)s::uuid)
ORDER BY b.id, k.position, k.id
"""


@dataclass(frozen=True)
class Place:
    """A column on a board that the caller can see, with its contract's terms."""

    board_id: UUID
    board: str
    role: BoardRole
    column_id: UUID
    column: str
    enabled: bool
    paused: bool
    queue: str | None
    max_attempts: int | None
    on_success_id: UUID | None
    on_failure_id: UUID | None


@dataclass(frozen=True)
class Scope:
    """All columns that the caller can see, board by board, from left to right."""

    places: dict[UUID, Place]

    @property
    def boards(self) -> list[UUID]:
        return list({one.board_id: None for one in self.places.values()})

    @property
    def columns(self) -> list[UUID]:
        return list(self.places)

    @property
    def queues(self) -> list[UUID]:
        return [one.column_id for one in self.places.values() if one.enabled]

    @property
    def workers_queues(self) -> list[UUID]:
        """Where workers are expected to ask: neither paused nor the people's own."""
        return [
            one.column_id
            for one in self.places.values()
            if one.enabled and not one.paused and one.queue != PEOPLE
        ]

    @property
    def reviewed(self) -> dict[UUID, Place]:
        """Columns in which agents' results wait for people, with where they go on to.

        A queue's results arrive there, no worker takes them further, and it isn't the
        end of its board: a column follows that isn't for failed cards.
        """
        seen = list(self.places.values())
        arrive = {one.on_success_id for one in seen if one.enabled}
        fail = {one.on_failure_id for one in seen if one.enabled}
        path = [one for one in seen if one.column_id not in fail]
        return {
            one.column_id: after
            for one, after in pairwise(path)
            if one.column_id in arrive
            and not one.enabled
            and after.board_id == one.board_id
        }


def scope(
    caller: Caller,
    *,
    board_id: UUID | None = None,
    least: BoardRole = BoardRole.VIEWER,
) -> Scope:
    """Boards that aren't archived, on which the caller is at least `least`."""
    values: dict[str, Any] = {
        "admin": caller.is_admin(),
        "manager": BoardRole.MANAGER,
        "me": caller.actor_id,
        "workspace": caller.workspace_id,
        "board": board_id,
    }
    with connection.cursor() as cursor:
        cursor.execute(_PLACES, values)
        rows = cursor.fetchall()
    places = [
        Place(board, name, BoardRole(role), *rest)
        for board, name, role, *rest in rows
        if role is not None and role >= least
    ]
    return Scope({one.column_id: one for one in places})
