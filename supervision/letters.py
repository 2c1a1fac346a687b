"""Dead letters: cards that failed for good, of all boards that one may see.

A card counts while it's one of `boards.models.DEAD`; why it failed is in the note beside
it (leases.models.DeadLetter), so nothing here looks at history.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

import msgspec
from django.contrib.postgres.aggregates import ArrayAgg
from django.db.models import Count, Max, Q, QuerySet, Value
from django.db.models.functions import Coalesce

from accounts.callers import Caller
from accounts.models import Actor
from accounts.pages import Page, cut_page, paged
from accounts.roles import BoardRole
from accounts.shapes import ActorRef, actor_ref
from boards import access, shapes
from boards.models import DEAD, Board, Card
from boards.reads import with_people
from boards.shapes import CardShape
from leases.models import Lease

MAX_GROUPS = 200
_ORDER, _TYPES = ("-failed_at", "-id"), tuple[datetime, UUID]


@dataclass(frozen=True)
class LetterFilter:
    """Which dead letters; every given condition must hold. `column_id` is the queue it
    failed in or the column it lies in, `group` a reason as it's folded ("" counts),
    `agent` the handle of the last holder, `labels` all of them."""

    board_id: UUID | None = None
    column_id: UUID | None = None
    group: str | None = None
    agent: str = ""
    since: datetime | None = None
    until: datetime | None = None
    text: str = ""
    labels: tuple[str, ...] = ()


class DeadLetterShape(msgspec.Struct, frozen=True):
    """A card that failed for good: in the queue `failed_in`, in the hands of `holder`,
    for `reason`; `group` is that reason folded. Its attempts: list_leases."""

    card: CardShape
    group: str
    reason: str
    note: str
    holder: ActorRef | None
    failed_in: UUID
    failed_at: datetime
    lease_id: UUID | None


class LetterGroup(msgspec.Struct, frozen=True):
    """Dead letters of one folded reason (`group`), and the queues they failed in."""

    group: str
    count: int
    latest_at: datetime
    failed_in: list[UUID]


class LetterGroups(msgspec.Struct, frozen=True):
    """The largest first, 200 at most; `total` counts all cards that match."""

    groups: list[LetterGroup]
    total: int


def matching(caller: Caller, wanted: LetterFilter) -> QuerySet[Any]:
    """With `failed_at`, `group` and `failed_in`. Raises NotFound (board)."""
    # What lies where nobody has noted it yet is shown with what the card says.
    rows = Card.objects.filter(DEAD, _boards(caller, wanted)).annotate(
        failed_at=Coalesce("dead_letter__at", "updated_at"),
        group=Coalesce("dead_letter__fold", Value("")),
        failed_in=Coalesce("dead_letter__column_id", "column_id"),
    )
    if wanted.column_id:
        rows = rows.filter(
            Q(column_id=wanted.column_id) | Q(failed_in=wanted.column_id)
        )
    if wanted.group is not None:
        rows = rows.filter(group=wanted.group)
    if wanted.agent:
        rows = rows.filter(dead_letter__holder__in=_holders(caller, wanted.agent))
    if wanted.since:
        rows = rows.filter(failed_at__gte=wanted.since)
    if wanted.until:
        rows = rows.filter(failed_at__lte=wanted.until)
    if wanted.labels:
        rows = rows.filter(labels__contains=list(wanted.labels))
    return rows.filter(_about(caller, wanted.text)) if wanted.text else rows


def oldest_first(rows: QuerySet[Any]) -> QuerySet[Any]:
    """Who failed first is first back in the queue."""
    return rows.order_by("failed_at", "id")


@paged
def letters(
    caller: Caller, wanted: LetterFilter, *, page_size: int, page_token: str
) -> Page[DeadLetterShape]:
    """Newest first. Raises NotFound (board), BadCursor."""
    found = page_of(matching(caller, wanted), page_size, page_token)
    leases = leases_of(found.items)
    return Page(
        [shape(caller, row, leases) for row in found.items], found.next_page_token
    )


def page_of(rows: QuerySet[Any], page_size: int, page_token: str) -> Page[Card]:
    """Rows of `matching`, with people and notes."""
    whole = with_people(rows).select_related("dead_letter__holder")
    return cut_page(whole, _ORDER, _TYPES, page_size, page_token, lambda row: row)


def groups(caller: Caller, wanted: LetterFilter) -> LetterGroups:
    """One look at the dead letters that match, and at nothing else. Raises NotFound."""
    rows = (
        matching(caller, wanted)
        .order_by()
        .values("group")
        .annotate(
            count=Count("id"),
            latest_at=Max("failed_at"),
            columns=ArrayAgg("failed_in", distinct=True),
        )
        .order_by("-count", "group")
    )
    found = [
        LetterGroup(row["group"], row["count"], row["latest_at"], row["columns"])
        for row in rows
    ]
    return LetterGroups(found[:MAX_GROUPS], sum(one.count for one in found))


def leases_of(rows: list[Card]) -> dict[UUID, Lease]:
    """The leases that dead-lettered them."""
    wanted = [note.lease_id for row in rows if (note := note_of(row)) and note.lease_id]
    return Lease.objects.defer("output").in_bulk(wanted)


def note_of(row: Card) -> Any:
    return getattr(row, "dead_letter", None)


def shape(caller: Caller, row: Any, leases: dict[UUID, Lease]) -> DeadLetterShape:
    note = note_of(row)
    lease = leases.get(note.lease_id) if note else None
    return DeadLetterShape(
        card=shapes.full_card(row, caller.workspace_key),
        group=row.group,
        reason=lease.reason if lease else row.group,
        note=lease.note if lease else "",
        holder=actor_ref(note.holder) if note else None,
        failed_in=row.failed_in,
        failed_at=row.failed_at,
        lease_id=note.lease_id if note else None,
    )


def _boards(caller: Caller, wanted: LetterFilter) -> Q:
    if wanted.board_id:
        access.require(caller, wanted.board_id, BoardRole.VIEWER)
        return Q(board_id=wanted.board_id)
    seen = Board.objects.filter(access.visible(caller), archived_at=None)
    return Q(board_id__in=list(seen.values_list("pk", flat=True)))


def _holders(caller: Caller, handle: str) -> list[UUID]:
    named = Actor.objects.filter(
        workspace_id=caller.workspace_id, handle=handle.removeprefix("@")
    )
    return list(named.values_list("pk", flat=True))


def _about(caller: Caller, text: str) -> Q:
    """In the title, in the reason as it's folded, or as the card's key."""
    about = Q(title__icontains=text) | Q(group__icontains=text)
    number = text.upper().removeprefix(f"{caller.workspace_key.upper()}-")
    if number.isascii() and number.isdigit() and len(number) <= 18:
        about |= Q(number=int(number))
    return about
