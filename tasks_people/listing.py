"""Which tasks, in which order: one statement, whatever the number of queues and tasks.

Each column and state is a short walk along an index of its own (`card_live`,
`card_ended`), and the few first ones of each are put together. So a hundred thousand
done tasks in one column don't slow down a look at the others.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import connection

from accounts.callers import Caller
from accounts.errors import Invalid
from accounts.models import Actor
from accounts.pages import decode_cursor, encode_cursor, size_of
from boards import access
from boards.models import Board, Column
from leases.models import Contract
from tasks_people import queues
from tasks_people.errors import UnknownQueue

LIVE, ENDED = ("open", "claimed"), ("done", "failed")
STATES = (*LIVE, *ENDED)


@dataclass(frozen=True)
class TaskFilter:
    """Every given condition must hold; people are handles. `who` is anyhow concerned:
    has it assigned, holds it, or made the latest attempt at it (of what has ended, the
    latest RECENT of each column are looked through)."""

    queue: str | None = None
    states: tuple[str, ...] = STATES
    assignee: str | None = None
    created_by: str | None = None
    who: str | None = None
    parent: UUID | None = None
    labels: tuple[str, ...] = ()


@dataclass(frozen=True)
class Scope:
    """Where to look, with the values of the conditions that `where` names. `recent`: of
    what has ended only the latest RECENT ones of each column and state."""

    columns: Sequence[UUID]
    where: str
    values: dict[str, Any]
    recent: bool = False


@dataclass(frozen=True)
class Cut:
    """One page of ids, and where the next begins (empty at the end)."""

    ids: list[UUID]
    next_page_token: str


@dataclass(frozen=True)
class Order:
    by: str
    columns: tuple[str, ...]
    types: Any
    down: bool = False


_ORDERS = {
    "priority": Order(
        "priority, position, id", ("priority", "position", "id"), tuple[int, int, UUID]
    ),
    "age": Order("id", ("id",), tuple[UUID]),
    "updated": Order(
        "updated_at DESC, id DESC", ("updated_at", "id"), tuple[datetime, UUID], True
    ),
}

# The literal states are what the partial indexes are found by, and the literal limits
# what tells the planner that few rows are wanted.
_ROWS = """boards_card c
  WHERE c.column_id = col AND c.state = st AND c.state IN {states}
    AND c.archived_at IS NULL AND c.number > 0"""
# Where every row takes a look at its leases, only so many of the latest are looked at.
RECENT = 10_000
_RECENT_ROWS = f"""(SELECT * FROM {_ROWS}
  ORDER BY c.updated_at DESC, c.id DESC LIMIT {RECENT}) c WHERE true"""
_OVER = """FROM unnest(%(columns)s::uuid[]) AS col CROSS JOIN unnest({each}) AS st
CROSS JOIN LATERAL"""
_PART = f"""
SELECT c.id, c.priority, c.position, c.updated_at {_OVER} (
  SELECT id, priority, position, updated_at FROM {{rows}} {{where}}
  ORDER BY {{order}} LIMIT {{limit}}) c"""
_COUNT = f"""
SELECT c.state, count(*) {_OVER} (SELECT c.state FROM {{rows}} {{where}}) c
GROUP BY c.state"""
_LATEST = """(SELECT l.{what} FROM leases_lease l WHERE l.card_id = c.id
  ORDER BY l.acquired_at DESC LIMIT 1)"""


_QUEUE = f""" AND (c.column_id = %(queue)s OR c.state IN ('done', 'failed')
  AND {_LATEST.format(what="column_id")} = %(queue)s)"""
_CONDITIONS = {
    "assignee": " AND c.assignee_id = %(assignee)s",
    "created_by": " AND c.created_by_id = %(created_by)s",
    "who": f""" AND (c.assignee_id = %(who)s OR c.holder_id = %(who)s
      OR c.state IN ('done', 'failed')
      AND {_LATEST.format(what="holder_id")} = %(who)s)""",
    "parent": " AND c.parent_id = %(parent)s",
    "labels": " AND c.labels @> %(labels)s::varchar[]",
}
_PEOPLE = ("assignee", "created_by", "who")


def scope(caller: Caller, wanted: TaskFilter) -> Scope:
    """Raises UnknownQueue, Invalid (nobody of that name)."""
    values = _people(caller, wanted)
    if wanted.parent is not None:
        values["parent"] = wanted.parent
    if wanted.labels:
        values["labels"] = list(wanted.labels)
    where = "".join(_CONDITIONS[name] for name in values)
    recent = wanted.who is not None
    if wanted.queue is None:
        return Scope(_visible_columns(caller), where, values, recent)
    found = queues.find(caller, queues.check_name(wanted.queue))
    if found is None and wanted.queue != queues.PEOPLE:
        raise UnknownQueue(wanted.queue)
    # What has ended may lie where the queue has put it, among that of others.
    columns = _columns_of(found.column_id) if found else []
    values["queue"] = found.column_id if found else None
    return Scope(columns, where + _QUEUE, values, recent or len(columns) > 1)


def cut(
    where: Scope,
    states: Sequence[str],
    *,
    sort: str,
    page_size: int,
    page_token: str = "",
) -> Cut:
    """Raises BadCursor."""
    size = size_of(page_size)
    order = _ORDERS[sort]
    values = {**where.values, "columns": list(where.columns)}
    behind = ""
    if page_token:
        last = decode_cursor(page_token, order.types)
        values |= {f"last_{i}": value for i, value in enumerate(last)}
        behind = _behind(order)
    rows = _rows(_page(where, states, order, size, behind), values)
    return _cut(rows, size, order)


def first_pages(where: Scope, wanted: Mapping[str, tuple[str, int]]) -> dict[str, Cut]:
    """Of each state its first page (how sorted, how many), in one statement."""
    pages = [
        f"(SELECT '{state}' AS page, t.* FROM"
        f" ({_page(where, (state,), _ORDERS[sort], size)}) t)"
        for state, (sort, size) in wanted.items()
    ]
    values = {**where.values, "columns": list(where.columns)}
    found: dict[str, list[tuple[Any, ...]]] = {state: [] for state in wanted}
    for page, *row in _rows(" UNION ALL ".join(pages), values):
        found[page].append(tuple(row))
    return {
        state: _cut(_in_order(found[state], _ORDERS[sort]), size, _ORDERS[sort])
        for state, (sort, size) in wanted.items()
    }


def _in_order(rows: list[tuple[Any, ...]], order: Order) -> list[tuple[Any, ...]]:
    """A union of ordered parts has no order that could be relied upon."""
    places = [_FIELDS.index(name) for name in order.columns]
    return sorted(
        rows, key=lambda row: [row[place] for place in places], reverse=order.down
    )


def _page(
    where: Scope, states: Sequence[str], order: Order, size: int, behind: str = ""
) -> str:
    """One more than asked for, so that the end can be told."""
    parts = [
        _PART.format(
            **_which(where, [one for one in some if one in states]),
            where=where.where + behind,
            order=order.by,
            limit=size + 1,
        )
        for some in (LIVE, ENDED)
        if set(some) & set(states)
    ]
    together = " UNION ALL ".join(f"({part})" for part in parts)
    return f"SELECT * FROM ({together}) t ORDER BY {order.by} LIMIT {size + 1}"


def _which(where: Scope, states: Sequence[str]) -> dict[str, str]:
    """The rows of these states, all live or all ended."""
    rows = _RECENT_ROWS if where.recent and states[0] in ENDED else _ROWS
    named = ", ".join(f"'{state}'" for state in states)
    return {"rows": rows.format(states=f"({named})"), "each": f"ARRAY[{named}]"}


def _cut(rows: list[tuple[Any, ...]], size: int, order: Order) -> Cut:
    if len(rows) <= size:
        return Cut([row[0] for row in rows], "")
    last = dict(zip(_FIELDS, rows[size - 1], strict=True))
    token = encode_cursor(*(last[name] for name in order.columns))
    return Cut([row[0] for row in rows[:size]], token)


_FIELDS = ("id", "priority", "position", "updated_at")


def counted(where: Scope) -> dict[str, int]:
    """How many there are in each state."""
    values = {**where.values, "columns": list(where.columns)}
    parts = [
        _COUNT.format(**_which(where, some), where=where.where)
        for some in (LIVE, ENDED)
    ]
    found = dict(_rows(" UNION ALL ".join(f"({part})" for part in parts), values))
    return {state: found.get(state, 0) for state in STATES}


def among(where: Scope, ids: Sequence[UUID]) -> list[UUID]:
    """Those of these that are there, in no order."""
    statement = f"""
SELECT c.id FROM boards_card c
WHERE c.id = ANY(%(ids)s::uuid[]) AND c.column_id = ANY(%(columns)s::uuid[])
  AND c.state <> '' AND c.archived_at IS NULL AND c.number > 0
  {where.where}"""
    values = {**where.values, "columns": list(where.columns), "ids": list(ids)}
    return [row[0] for row in _rows(statement, values)]


def _behind(order: Order) -> str:
    names = ", ".join(f"c.{name}" for name in order.columns)
    last = ", ".join(f"%(last_{i})s" for i in range(len(order.columns)))
    return f" AND ({names}) {'<' if order.down else '>'} ({last})"


def _rows(statement: str, values: dict[str, Any]) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        found: list[tuple[Any, ...]] = cursor.fetchall()
        return found


def _visible_columns(caller: Caller) -> list[UUID]:
    boards = Board.objects.filter(access.visible(caller), archived_at=None)
    rows = Column.objects.filter(board__in=boards, archived_at=None)
    return list(rows.values_list("pk", flat=True))


def _columns_of(column_id: UUID) -> list[UUID]:
    """The queue's own column and those where it puts what has ended."""
    leads_to = Contract.objects.filter(pk=column_id).values_list(
        "on_success_column_id", "on_failure_column_id"
    )
    return list({column_id, *(one for row in leads_to for one in row if one)})


def _people(caller: Caller, wanted: TaskFilter) -> dict[str, Any]:
    """Also of those who are disabled by now: their tasks are still there."""
    handles = {
        name: handle.lstrip("@")
        for name in _PEOPLE
        if (handle := getattr(wanted, name)) is not None
    }
    if not handles:
        return {}
    here = Actor.objects.in_workspace(caller.workspace_id)
    rows = here.filter(handle__in=handles.values())
    known = dict(rows.values_list("handle", "pk"))
    for name, handle in handles.items():
        if handle not in known:
            detail = f"Nobody here is {handle!r}."
            raise Invalid.at(f"/{name}", "unknown_actor", detail)
    return {name: known[handle] for name, handle in handles.items()}
