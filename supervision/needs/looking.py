"""What needs somebody now: computed anew at every look, so that it's gone as soon as
it's settled, whoever settled it and however."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import connection

from accounts.callers import Caller
from accounts.errors import NotFound
from accounts.roles import BoardRole
from boards import access
from leases.explaining import NOBODY_ASKS
from leases.reads import server_time
from leases.statements.running import run
from supervision.needs import reasons, shapes
from supervision.needs.saying import need
from supervision.needs.scope import Scope, scope
from supervision.needs.shapes import Need, Needs
from supervision.needs.usual import too_long

# The badge says "99+" above it, and looks at no more than it needs for that.
BADGE_CAP = 100
_LOOK_FOR_BADGE = 1_000
OURS = tuple(one for one in shapes.REASONS if one != shapes.ENDPOINT_OFF)


@dataclass(frozen=True)
class Wanted:
    """`mine`: only what is about cards that the caller made or that are kept for them."""

    reason: str | None = None
    board_id: UUID | None = None
    mine: bool = False


def needs(caller: Caller, wanted: Wanted, *, brought: Iterable[Need] = ()) -> Needs:
    """`brought` is what apps on top have found; it's about no board.

    Raises NotFound (the board).
    """
    if wanted.board_id and not access.can_see(caller, wanted.board_id):
        raise NotFound("There is no such board here.")
    seen = scope(caller, board_id=wanted.board_id)
    values = _values(caller, seen, wanted)
    counts = dict.fromkeys(shapes.REASONS, 0)
    counts |= dict(_rows(reasons.counting(OURS, mine=wanted.mine), values))
    asked = tuple(one for one in OURS if wanted.reason in (None, one) and counts[one])
    rows = run(reasons.showing(asked, mine=wanted.mine), values) if asked else []
    items = [need(caller, seen, row) for row in rows]
    others = [] if wanted.board_id else list(brought)
    for one in others:
        counts[one.reason] += 1
    items += [one for one in others if wanted.reason in (None, one.reason)]
    return Needs(
        items=sorted(items, key=_urgency),
        counts=counts,
        total=sum(counts.values()),
        server_time=rows[0].now if rows else server_time(),
    )


def alarm(caller: Caller) -> int:
    """How many things the caller could settle, on boards that they may edit; counted up
    to BADGE_CAP."""
    seen = scope(caller, least=BoardRole.EDITOR)
    if not seen.places:
        return 0
    values = _values(caller, seen, Wanted(), cap=BADGE_CAP, look=_LOOK_FOR_BADGE)
    return sum(count for _, count in _rows(reasons.counting(OURS, mine=False), values))


def _values(
    caller: Caller,
    seen: Scope,
    wanted: Wanted,
    *,
    cap: int | None = None,
    look: int | None = None,
) -> dict[str, Any]:
    slow = too_long(seen.queues) if seen.queues else {}
    return {
        "me": caller.actor_id,
        "mine": wanted.mine,
        "boards": seen.boards,
        "columns": seen.columns,
        "queues": seen.queues,
        "workers": seen.workers_queues,
        "reviewed": list(seen.reviewed),
        "slow_columns": list(slow),
        "slow_usual": [one.usual for one in slow.values()],
        "slow_limit": [one.limit for one in slow.values()],
        "quiet": NOBODY_ASKS.total_seconds(),
        "cap": cap,
        "look": look,
    }


def _urgency(one: Need) -> tuple[int, int, Any]:
    return shapes.REASONS.index(one.reason), one.priority, one.since


def _rows(statement: str, values: dict[str, Any]) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        found: list[tuple[Any, ...]] = cursor.fetchall()
        return found
