"""Who may do what on which board.

A board that the caller can't see doesn't exist for them (`NotFound`); one that they can
see but not change so is `Forbidden` (design section 2). Answers are kept for two
seconds per process, like tokens: a removed member is out within two seconds.
"""

from dataclasses import dataclass
from time import monotonic
from uuid import UUID

from django.db.models import Q

from accounts.callers import Caller
from accounts.errors import Forbidden, NotFound
from accounts.roles import BoardRole
from boards.errors import BoardArchived
from boards.models import Board, BoardMember

CACHE_SECONDS = 2.0
CACHE_ENTRIES = 10_000


@dataclass(frozen=True, slots=True)
class Access:
    role: BoardRole | None
    archived: bool


_cache: dict[tuple[UUID, UUID], tuple[float, Access]] = {}


def require(
    caller: Caller, board_id: UUID, role: BoardRole, *, archived_too: bool = False
) -> BoardRole:
    """The caller's role on the board, at least `role`.

    Raises NotFound, Forbidden (naming the role it takes), BoardArchived (changes only).
    """
    access = _access(caller, board_id)
    if access.role is None:
        raise NotFound("There is no such board here.")
    if access.role < role:
        raise Forbidden(
            f"That takes the role {role.name.lower()} on this board;"
            f" you are {access.role.name.lower()}.",
            needs=role.name.lower(),
        )
    if access.archived and role > BoardRole.VIEWER and not archived_too:
        raise BoardArchived
    return access.role


def allows(caller: Caller, board_id: UUID, role: BoardRole) -> bool:
    """Whether `require` would let them change something."""
    access = _access(caller, board_id)
    return access.role is not None and access.role >= role and not access.archived


def can_see(caller: Caller, board_id: UUID) -> bool:
    return _access(caller, board_id).role is not None


def forget() -> None:
    """Ask the database again at the next call (after a change in this process)."""
    _cache.clear()


def visible(caller: Caller) -> Q:
    """The boards that the caller can see, as a filter on `Board`."""
    here = Q(workspace_id=caller.workspace_id)
    if caller.is_admin():
        return here
    named = BoardMember.objects.filter(actor_id=caller.actor_id).values("board_id")
    return here & (Q(default_role__isnull=False) | Q(pk__in=named))


def visible_board_ids(caller: Caller) -> list[UUID]:
    return list(Board.objects.filter(visible(caller)).values_list("pk", flat=True))


def _access(caller: Caller, board_id: UUID) -> Access:
    key = (caller.actor_id, board_id)
    known = _cache.get(key)
    if known and monotonic() - known[0] < CACHE_SECONDS:
        return known[1]
    access = _look_up(caller, board_id)
    if len(_cache) >= CACHE_ENTRIES:
        _cache.clear()
    _cache[key] = (monotonic(), access)
    return access


def _look_up(caller: Caller, board_id: UUID) -> Access:
    board = Board.objects.filter(pk=board_id, workspace_id=caller.workspace_id).first()
    if board is None:
        return Access(None, False)
    archived = board.archived_at is not None
    if caller.is_admin():
        return Access(BoardRole.MANAGER, archived)
    named = (
        BoardMember.objects.filter(board=board, actor_id=caller.actor_id)
        .values_list("role", flat=True)
        .first()
    )
    role = board.default_role if named is None else named
    return Access(BoardRole(role) if role else None, archived)
