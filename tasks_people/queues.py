"""From a queue's name to its column."""

import re
from dataclasses import dataclass
from time import monotonic
from uuid import UUID

from accounts.callers import Caller
from accounts.errors import Invalid
from boards import access
from boards.models import Board
from leases.contract import QUEUE_NAME
from leases.models import Contract
from tasks_people.errors import UnknownQueue

CACHE_SECONDS = 2.0
CACHE_ENTRIES = 10_000
MAX_QUEUES_PER_CALL = 20
# Exists in every workspace: what anybody of the people may take.
PEOPLE = "people"
_NAME = re.compile(QUEUE_NAME)


@dataclass(frozen=True, slots=True)
class Queue:
    """`name` is unique in its workspace."""

    name: str
    board_id: UUID
    column_id: UUID


_cache: dict[tuple[UUID, str], tuple[float, Queue]] = {}


def check_name(name: str) -> str:
    """Raises Invalid."""
    if not _NAME.fullmatch(name):
        raise Invalid.at(
            "/queue",
            "bad_name",
            "A queue name has 1 to 60 small letters, digits, hyphens and underscores.",
        )
    return name


def names_of(said: str | list[str]) -> list[str]:
    """One name, several with commas between, or a list; each once, in order. Raises
    Invalid."""
    parts = said.split(",") if isinstance(said, str) else said
    names = list(dict.fromkeys(check_name(part.strip()) for part in parts))
    if not 1 <= len(names) <= MAX_QUEUES_PER_CALL:
        detail = f"One call names 1 to {MAX_QUEUES_PER_CALL} queues."
        raise Invalid.at("/queue", "out_of_range", detail)
    return names


def find(caller: Caller, name: str) -> Queue | None:
    """The enabled column that is the queue of this name, if the caller can see it. Kept
    for two seconds per process, like tokens and roles."""
    key = (caller.workspace_id, name)
    known = _cache.get(key)
    if known is None or monotonic() - known[0] >= CACHE_SECONDS:
        found = _look_up(caller.workspace_id, name)
        if found is None:
            _cache.pop(key, None)
            return None
        queue = _keep(caller.workspace_id, found)
    else:
        queue = known[1]
    return queue if access.can_see(caller, queue.board_id) else None


def seen(caller: Caller, name: str) -> Queue:
    """Raises UnknownQueue."""
    found = find(caller, name)
    if found is None:
        raise UnknownQueue(name)
    return found


def all_seen(caller: Caller) -> list[Queue]:
    """The queues of the boards that the caller can see and that aren't archived; `find`
    needn't look for them again."""
    boards = Board.objects.filter(access.visible(caller), archived_at=None)
    rows = Contract.objects.filter(
        enabled=True, column__archived_at=None, column__board__in=boards
    ).values_list("queue", "column__board_id", "column_id")
    return [_keep(caller.workspace_id, Queue(*row)) for row in rows]


def _keep(workspace_id: UUID, queue: Queue) -> Queue:
    if len(_cache) >= CACHE_ENTRIES:
        _cache.clear()
    _cache[workspace_id, queue.name] = (monotonic(), queue)
    return queue


def forget() -> None:
    """Ask the database again at the next call."""
    _cache.clear()


def _look_up(workspace_id: UUID, name: str) -> Queue | None:
    found = (
        Contract.objects.filter(
            workspace_id=workspace_id,
            queue=name,
            enabled=True,
            column__archived_at=None,
        )
        .values_list("column__board_id", "column_id")
        .first()
    )
    return Queue(name, *found) if found else None
