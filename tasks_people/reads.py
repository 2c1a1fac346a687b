"""Tasks as those see them who may: one, some, a list; and the queues there are."""

from collections.abc import Iterable, Sequence
from uuid import UUID

from django.db.models import Count, Q

from accounts.callers import Caller
from accounts.errors import NotFound
from accounts.pages import Page, paged
from boards import access
from boards.models import Board, Card
from boards.reads import with_people
from leases.models import Contract, Lease
from tasks_people import listing
from tasks_people.listing import TaskFilter
from tasks_people.shapes import QueueShape, TaskShape, task_of_card

_FAILED = (Lease.State.FAILED, Lease.State.EXPIRED)


def task(caller: Caller, *, task_id: UUID) -> TaskShape:
    """Raises NotFound."""
    found = tasks_by_ids(caller, [task_id])
    if not found:
        raise NotFound("There is no such task here.")
    return found[0]


def tasks_by_ids(caller: Caller, ids: Iterable[UUID]) -> list[TaskShape]:
    """In the order of `ids`; those that can't be seen are left out. Four statements."""
    order = list(ids)
    cards = {row.pk: row for row in with_people(Card.objects.filter(pk__in=order))}
    rows = [
        cards[one]
        for one in order
        if one in cards
        and cards[one].workspace_id == caller.workspace_id
        and access.can_see(caller, cards[one].board_id)
    ]
    latest = latest_leases([row.pk for row in rows])
    names = queue_names(rows, latest)
    return [
        task_of_card(
            row,
            caller.workspace_key,
            queue=names[row.pk],
            lease=latest.get(row.pk) if row.is_claimed() else None,
            error=_error(latest.get(row.pk)),
        )
        for row in rows
    ]


@paged
def tasks(
    caller: Caller,
    wanted: TaskFilter,
    *,
    sort: str = "updated",
    page_size: int,
    page_token: str = "",
) -> Page[TaskShape]:
    """By `priority` (claim order), `age` (oldest first) or `updated` (latest first).

    Raises UnknownQueue, Invalid (nobody of that name), BadCursor.
    """
    where = listing.scope(caller, wanted)
    found = listing.cut(
        where, wanted.states, sort=sort, page_size=page_size, page_token=page_token
    )
    return Page(tasks_by_ids(caller, found.ids), found.next_page_token)


def queues(caller: Caller) -> list[QueueShape]:
    """The queues of the boards that the caller can see, by name."""
    boards = Board.objects.filter(access.visible(caller), archived_at=None)
    rows = (
        Contract.objects.filter(
            enabled=True, column__archived_at=None, column__board__in=boards
        )
        .select_related("column__board")
        .order_by("queue")
    )
    found = list(rows)
    live = Card.objects.present().filter(
        column_id__in=[row.pk for row in found], state__in=listing.LIVE
    )
    counts = {
        column_id: (opened, claimed)
        for column_id, opened, claimed in live.order_by()
        .values_list("column_id")
        .annotate(
            opened=Count("id", filter=Q(state=Card.State.OPEN)),
            claimed=Count("id", filter=Q(state=Card.State.CLAIMED)),
        )
    }
    return [
        QueueShape(
            name=row.queue,
            board_id=row.column.board_id,
            board=row.column.board.name,
            column_id=row.pk,
            paused=row.paused,
            open=counts.get(row.pk, (0, 0))[0],
            claimed=counts.get(row.pk, (0, 0))[1],
        )
        for row in found
    ]


def latest_leases(card_ids: Iterable[UUID]) -> dict[UUID, Lease]:
    """The latest attempt at each of these cards, without its output."""
    rows = (
        Lease.objects.filter(card_id__in=list(card_ids))
        .order_by("card_id", "-acquired_at")
        .distinct("card_id")
        .defer("output")
    )
    return {row.card_id: row for row in rows}


def queue_names(cards: Sequence[Card], latest: dict[UUID, Lease]) -> dict[UUID, str]:
    """Of each card the queue it's on, or was on last; empty where there's none."""
    columns = {card.column_id for card in cards}
    columns |= {lease.column_id for lease in latest.values()}
    rows = Contract.objects.filter(pk__in=columns)
    known = {row.pk: row for row in rows.only("queue", "enabled")}
    names = {}
    for card in cards:
        here = known.get(card.column_id)
        lease = latest.get(card.pk)
        last = known.get(lease.column_id) if lease else None
        found = here if here and (here.enabled or not last) else last
        names[card.pk] = found.queue if found else ""
    return names


def _error(latest: Lease | None) -> str | None:
    if latest is None or latest.state not in _FAILED:
        return None
    return latest.reason
