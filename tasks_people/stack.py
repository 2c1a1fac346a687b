"""My tasks: what a person has before them, most important first."""

from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from django.db import connection

from accounts.callers import Caller
from boards import access
from boards.models import Card
from boards.reads import with_people
from leases.changes import Moment, moment
from leases.models import Lease
from leases.shapes import Attempt
from tasks_people import queues
from tasks_people.items import TaskItem, items
from tasks_people.shapes import TaskShape, task_of_card

NEXT = 2
LATER = 50
MOST_LATER = 500
MOST_ATTEMPTS = 5

# Four parts, each a short walk along an index: what they hold; what is assigned to them
# and what is free for anybody on the queue `people`, due or waiting.
_HELD = """
SELECT c.id, 0 AS rank, c.priority, c.position
FROM leases_lease l JOIN boards_card c ON c.id = l.card_id
WHERE l.holder_id = %(me)s AND l.state = 'active' AND c.lease_id = l.id
  AND c.board_id = ANY(%(boards)s::uuid[])"""
_OPEN = """
SELECT c.id, {rank} AS rank, c.priority, c.position FROM boards_card c
WHERE c.state = 'open' AND c.state IN ('open', 'claimed') AND c.archived_at IS NULL
  AND c.number > 0 AND c.fits IS NOT FALSE AND c.board_id = ANY(%(boards)s::uuid[])
  AND {whose} AND {due}"""
_MINE = "c.assignee_id = %(me)s AND c.assignee_id IS NOT NULL"
_FREE = """c.assignee_id IS NULL AND c.column_id = (
  SELECT q.column_id FROM leases_contract q
  WHERE q.workspace_id = %(workspace)s AND q.queue = %(people)s AND q.enabled)"""
_DUE = "(c.available_at IS NULL OR c.available_at <= now())"
_WAITS = "c.available_at > now()"
_PARTS = [
    _HELD,
    *(
        _OPEN.format(rank=rank, whose=whose, due=due)
        for rank, due in ((1, _DUE), (2, _WAITS))
        for whose in (_MINE, _FREE)
    ),
]
_ORDER = "ORDER BY rank, priority, position, id"
_TOTAL = "SELECT count(*) FROM (" + " UNION ALL ".join(_PARTS) + ") a"
_FIRST = (
    f"SELECT id, ({_TOTAL}) FROM ("
    + " UNION ALL ".join(f"({part} {_ORDER} LIMIT %(limit)s)" for part in _PARTS)
    + f") t {_ORDER} LIMIT %(limit)s"
)


@dataclass(frozen=True)
class Foremost:
    """The one task for now, in full: with what the queue expects of its result
    (`output_schema`, null: anything), and how earlier attempts went."""

    item: TaskItem
    task: TaskShape
    output_schema: Any
    attempts: list[Attempt]


@dataclass(frozen=True)
class Stack:
    """`later_count` counts those that aren't shown as well. `items` are all that are
    shown, in their order. `moment` is when it was looked at; changes after it are to be
    asked for, on these boards."""

    now: Foremost | None
    next: list[TaskItem]
    later: list[TaskItem]
    later_count: int
    moment: Moment
    boards: list[UUID] = field(default_factory=list)
    items: list[TaskItem] = field(default_factory=list)

    @property
    def total(self) -> int:
        return bool(self.now) + len(self.next) + self.later_count


def stack(caller: Caller, *, later: int = LATER, chosen: UUID | None = None) -> Stack:
    """What the caller has begun, then what is assigned to them or free for anybody on
    the queue `people`, by priority; what waits for its time at the end. `chosen`, where
    it's one of them, is taken as the one for now."""
    seen_at = moment()
    boards = access.visible_board_ids(caller)
    limit = 1 + NEXT + min(max(later, 0), MOST_LATER)
    values = {
        "me": caller.actor_id,
        "boards": boards,
        "workspace": caller.workspace_id,
        "people": queues.PEOPLE,
        "limit": limit,
    }
    rows = _rows(_FIRST, values)
    total = rows[0][1] if rows else 0
    found = items(caller, [row[0] for row in rows])
    first = next(
        (one for one in found if one.id == chosen), found[0] if found else None
    )
    others = [one for one in found if one is not first]
    return Stack(
        now=foremost(caller, first) if first else None,
        next=others[:NEXT],
        later=others[NEXT:],
        later_count=max(0, total - 1 - NEXT),
        moment=seen_at,
        boards=boards,
        items=found,
    )


def foremost(caller: Caller, item: TaskItem) -> Foremost:
    """The task in full, for the one who does it."""
    lease = item.view.lease
    card = with_people(Card.objects.select_related("column__contract")).get(pk=item.id)
    contract = getattr(card.column, "contract", None)
    attempts = _attempts(item.id, lease.pk if lease else None)
    latest = attempts[0] if attempts and not lease else None
    failed = latest is not None and latest.state in ("failed", "expired")
    return Foremost(
        item=item,
        task=task_of_card(
            card,
            caller.workspace_key,
            queue=item.queue,
            lease=lease,
            error=latest.reason if latest and failed else None,
        ),
        output_schema=contract.output_schema if contract else None,
        attempts=attempts,
    )


def _attempts(card_id: UUID, but: UUID | None) -> list[Attempt]:
    """The latest ones that are over, latest first."""
    rows = Lease.objects.filter(card_id=card_id)
    if but is not None:
        rows = rows.exclude(pk=but)
    return [
        Attempt(
            attempt=row.attempt,
            state=row.state,
            holder=row.holder.handle,
            acquired_at=row.acquired_at,
            ended_at=row.ended_at,
            reason=row.reason,
            note=row.note,
        )
        for row in rows.select_related("holder")
        .defer("output")
        .order_by("-acquired_at")[:MOST_ATTEMPTS]
    ]


def _rows(statement: str, values: dict[str, Any]) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        found: list[tuple[Any, ...]] = cursor.fetchall()
        return found
