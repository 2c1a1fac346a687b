"""The activity log: what happened in a workspace, the latest first, by any filter.

Each look starts from the index that leaves the least over (a card's, somebody's, a rare
type's, or the boards' one by one) and looks through a bounded number of its entries for
the rest of the conditions. What it didn't get through is the next page's, so a page costs
the same whatever lies in the history.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from django.db import connection

from accounts.callers import Caller
from accounts.errors import NotFound
from accounts.models import Actor
from accounts.moments import first_id_at
from accounts.pages import Walk, decode_cursor, encode_cursor
from accounts.roles import BoardRole
from boards import access, events
from boards.models import DAILY_EVENTS, Card, Event

PEOPLE, AGENTS = "people", "agents"
KINDS = {PEOPLE: Actor.Kind.PERSON, AGENTS: Actor.Kind.AGENT}
# Looked through for one page: first a few, then as many as a page may cost.
GLANCE, LOOK = 4, 20_000
LAST = UUID(int=(1 << 128) - 1)


@dataclass(frozen=True)
class ActivityFilter:
    """Every given condition must hold. `types` are exact or begin with (`card.lease.*`);
    `actor` is a handle; `since` is in, `until` out. `newer_than` is an event's id.
    `for_people` leaves out what says for other systems what the event before it says,
    unless types are named."""

    types: tuple[str, ...] = ()
    kind: str | None = None
    actor: str | None = None
    board_id: UUID | None = None
    card_id: UUID | None = None
    since: datetime | None = None
    until: datetime | None = None
    newer_than: UUID | None = None
    for_people: bool = False


@dataclass(frozen=True)
class Rows:
    """`before` is where to go on, None at the end."""

    items: list[Event]
    before: str | None


@dataclass(frozen=True)
class _Start:
    """Entries of an index: those whose `column` is one of `keys`."""

    column: str
    keys: Sequence[Any]
    also: str = ""
    kind: str = "uuid"


def activity(
    caller: Caller, wanted: ActivityFilter, *, before: str = "", limit: int
) -> Rows:
    """Latest first. A page may have fewer than `limit` items, even none, and go on.

    Raises NotFound (board, card, actor), BadCursor.
    """
    walk = Walk.through("activity", wanted)
    found = _activity(caller, wanted, walk.cursor(before), limit)
    return Rows(found.items, found.before and walk.token(found.before))


def _activity(caller: Caller, wanted: ActivityFilter, before: str, limit: int) -> Rows:
    boards, actors = _boards(caller, wanted), _actors(caller, wanted)
    types = _types(wanted.types)
    if not boards or actors == [] or types == []:
        return Rows([], None)
    start = _start(wanted, boards, actors, types)
    values = {
        "keys": list(start.keys),
        "workspace": caller.workspace_id,
        "boards": boards,
        "actors": actors or [],
        "types": types or [],
        "low": _low(wanted),
        "high": _high(wanted, before),
        "limit": limit + 1,
    }
    conditions = _conditions(caller, start, wanted, actors, types)
    for scan in _scans(conditions, limit + 1, len(start.keys)):
        ids, floor = _look(start, conditions, values | {"scan": scan})
        if len(ids) > limit or floor is None:
            break
    return _rows(ids, floor, limit)


def everything(
    caller: Caller, wanted: ActivityFilter, *, batch: int
) -> Iterator[list[Event]]:
    """All of it, the latest first, a batch at a time, without keeping any."""
    before: str | None = ""
    while before is not None:
        found = activity(caller, wanted, before=before, limit=batch)
        if found.items:
            yield found.items
        before = found.before


def news(caller: Caller, wanted: ActivityFilter, *, newer_than: UUID, most: int) -> int:
    """How many have come since, up to `most`."""
    found = activity(caller, replace(wanted, newer_than=newer_than), limit=most)
    return len(found.items)


def _rows(ids: list[UUID], floor: UUID | None, limit: int) -> Rows:
    more = len(ids) > limit
    ids = ids[:limit]
    rows = Event.objects.in_bulk(ids)
    items = [rows[one] for one in ids if one in rows]
    if more:
        return Rows(items, encode_cursor(ids[-1]))
    return Rows(items, encode_cursor(floor) if floor else None)


def _look(
    start: _Start, conditions: str, values: dict[str, Any]
) -> tuple[list[UUID], UUID | None]:
    """The latest that fit, and the id down to which all entries were looked through
    (None: down to the end)."""
    statement = f"""
WITH seen AS MATERIALIZED (
  SELECT k.key, s.id, s.fits FROM unnest(%(keys)s::{start.kind}[]) AS k (key)
  CROSS JOIN LATERAL (SELECT e.id, {conditions or "true"} AS fits FROM boards_event e
    WHERE e.{start.column} = k.key {start.also} AND e.id < %(high)s AND e.id >= %(low)s
    ORDER BY e.id DESC LIMIT %(scan)s) s
), floor AS (
  SELECT max(f.id) AS id FROM (SELECT min(id::text) AS id FROM seen GROUP BY key
    HAVING count(*) >= %(scan)s) f
)
SELECT s.id, f.id FROM floor f LEFT JOIN LATERAL (SELECT s.id FROM seen s
  WHERE s.fits AND (f.id IS NULL OR s.id >= f.id::uuid)
  ORDER BY s.id DESC LIMIT %(limit)s) s ON true
"""
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        rows = cursor.fetchall()
    floor = UUID(rows[0][1]) if rows[0][1] else None
    return [row[0] for row in rows if row[0]], floor


def _start(
    wanted: ActivityFilter,
    boards: list[UUID],
    actors: list[UUID] | None,
    types: list[str] | None,
) -> _Start:
    if wanted.card_id:
        return _Start("card_id", [wanted.card_id])
    if wanted.actor and actors:
        return _Start("actor_id", actors)
    if types and not set(types) & set(DAILY_EVENTS):
        daily = ", ".join(f"'{one}'" for one in DAILY_EVENTS)
        also = f"AND e.workspace_id = %(workspace)s AND NOT e.type IN ({daily})"
        return _Start("type", types, also, "text")
    if actors and wanted.kind == PEOPLE:
        return _Start("actor_id", actors)
    return _Start("board_id", boards)


def _scans(conditions: str, wanted: int, keys: int) -> tuple[int, ...]:
    """How many entries of each key to look through, and if that isn't enough."""
    if not conditions:
        return (wanted,)
    return GLANCE * wanted, max(GLANCE * wanted, LOOK // keys)


def _conditions(
    caller: Caller,
    start: _Start,
    wanted: ActivityFilter,
    actors: list[UUID] | None,
    types: list[str] | None,
) -> str:
    """What the start leaves over. What can't be seen never fits."""
    found = []
    sees_all = caller.is_admin() and not wanted.board_id
    if start.column != "board_id" and not sees_all:
        found.append("e.board_id = ANY(%(boards)s::uuid[])")
    if actors is not None and start.column != "actor_id":
        found.append("e.actor_id = ANY(%(actors)s::uuid[])")
    if types is None and wanted.for_people:
        found.append(f"e.type <> '{events.TASK_DONE}'")
    if types is not None and start.column != "type":
        found.append("e.type = ANY(%(types)s::text[])")
    return " AND ".join(found)


def _boards(caller: Caller, wanted: ActivityFilter) -> list[UUID]:
    if wanted.card_id:
        board = Card.objects.filter(
            pk=wanted.card_id, workspace_id=caller.workspace_id
        ).values_list("board_id", flat=True)
        if not board or not access.can_see(caller, board[0]):
            raise NotFound("There is no such card here.")
    if wanted.board_id:
        access.require(caller, wanted.board_id, BoardRole.VIEWER)
        return [wanted.board_id]
    return access.visible_board_ids(caller)


def _actors(caller: Caller, wanted: ActivityFilter) -> list[UUID] | None:
    """None: anybody, Novum itself included."""
    if not wanted.actor and not wanted.kind:
        return None
    rows = Actor.objects.in_workspace(caller.workspace_id)
    if wanted.kind:
        rows = rows.filter(kind=KINDS[wanted.kind])
    if wanted.actor:
        rows = rows.filter(handle=wanted.actor.lstrip("@"))
    return list(rows.values_list("pk", flat=True))


def _types(patterns: Sequence[str]) -> list[str] | None:
    """The types that are meant; None: all."""
    if not patterns:
        return None
    found = {one for one in patterns if not one.endswith("*")}
    for pattern in patterns:
        if pattern.endswith("*"):
            found |= {one for one in events.TYPES if one.startswith(pattern[:-1])}
    return sorted(found)


def _low(wanted: ActivityFilter) -> UUID:
    low = _id_at(wanted.since) if wanted.since else UUID(int=0)
    if wanted.newer_than:
        low = max(low, UUID(int=wanted.newer_than.int + 1))
    return low


def _high(wanted: ActivityFilter, before: str) -> UUID:
    high = _id_at(wanted.until) if wanted.until else LAST
    if before:
        (last,) = decode_cursor(before, tuple[UUID])
        high = min(high, last)
    return high


def _id_at(moment: datetime) -> UUID:
    """An id has no time before 1970."""
    return first_id_at(max(moment, datetime(1970, 1, 1, tzinfo=UTC)))
