"""What there is to know about boards, for those who may see them."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db.models import Q, QuerySet

from accounts.callers import Caller
from accounts.errors import NotFound
from accounts.models import Actor, Workspace
from accounts.pages import Page, cut_page, decode_cursor, encode_cursor, paged
from accounts.roles import BoardRole
from accounts.shapes import ActorRef, actor_ref
from boards import access, shapes
from boards.models import (
    PRESENT,
    Board,
    BoardMember,
    Card,
    Column,
    Comment,
    Event,
    Snapshot,
)
from boards.shapes import (
    BoardMemberShape,
    BoardShape,
    CardShape,
    ColumnShape,
    CommentShape,
    EventShape,
)


@paged
def boards(
    caller: Caller, *, archived: bool, page_size: int, page_token: str
) -> Page[BoardShape]:
    """The boards that the caller can see, oldest first."""
    rows = Board.objects.filter(
        access.visible(caller), archived_at__isnull=not archived
    )
    named = {
        member.board_id: BoardRole(member.role)
        for member in BoardMember.objects.filter(actor_id=caller.actor_id)
    }

    def shape(row: Board) -> BoardShape:
        if caller.is_admin():
            return shapes.board(row, BoardRole.MANAGER)
        role = named.get(row.pk) or BoardRole(row.default_role or BoardRole.VIEWER)
        return shapes.board(row, role)

    return cut_page(rows, ("id",), tuple[UUID], page_size, page_token, shape)


def board(caller: Caller, *, board_id: UUID) -> BoardShape:
    """Raises NotFound."""
    role = access.require(caller, board_id, BoardRole.VIEWER)
    return shapes.board(Board.objects.get(pk=board_id), role)


def board_members(caller: Caller, *, board_id: UUID) -> list[BoardMemberShape]:
    """Who has a role of their own on the board. Raises NotFound."""
    access.require(caller, board_id, BoardRole.VIEWER)
    rows = BoardMember.objects.filter(board_id=board_id).select_related("actor")
    return [
        BoardMemberShape(ref, row.get_role_display())
        for row in rows.order_by("actor__handle")
        if (ref := actor_ref(row.actor))
    ]


def columns(caller: Caller, *, board_id: UUID) -> list[ColumnShape]:
    """The board's columns from left to right. Raises NotFound."""
    access.require(caller, board_id, BoardRole.VIEWER)
    rows = Column.objects.filter(board_id=board_id, archived_at=None)
    return [shapes.column(row) for row in rows.order_by("position", "id")]


def column(caller: Caller, *, board_id: UUID, column_id: UUID) -> ColumnShape:
    """Raises NotFound."""
    access.require(caller, board_id, BoardRole.VIEWER)
    return shapes.column(column_on(board_id, column_id))


def column_on(board_id: UUID, column_id: UUID) -> Column:
    """Raises NotFound for a column of another board and for a deleted one."""
    found = Column.objects.filter(
        pk=column_id, board_id=board_id, archived_at=None
    ).first()
    if found is None:
        raise NotFound("There is no such column on this board.")
    return found


# A column stays on its board for good.
_boards: dict[UUID, UUID] = {}
_MOST_REMEMBERED = 10_000


def require_on(board_id: UUID, column_id: UUID) -> None:
    """Raises NotFound for a column of another board. Of a deleted one it says nothing:
    no query but for the first call about a column in each process."""
    if _boards.get(column_id) == board_id:
        return
    column_on(board_id, column_id)
    if len(_boards) >= _MOST_REMEMBERED:
        _boards.clear()
    _boards[column_id] = board_id


@dataclass(frozen=True)
class CardFilter:
    """Which cards: every given condition must hold; `labels` all of them."""

    board_id: UUID | None = None
    column_id: UUID | None = None
    state: str | None = None
    labels: tuple[str, ...] = ()
    assignee: str | None = None
    holder: str | None = None
    text: str | None = None
    archived: bool = False


@paged
def cards(
    caller: Caller, wanted: CardFilter, *, page_size: int, page_token: str
) -> Page[CardShape]:
    """Cards in claim order within a column; by age where no column is named.

    Raises NotFound (board), BadCursor.
    """
    if wanted.board_id:
        access.require(caller, wanted.board_id, BoardRole.VIEWER)
        seen = Q(board_id=wanted.board_id)
    else:
        seen = Q(board_id__in=access.visible_board_ids(caller))
    rows = with_people(Card.objects.filter(seen, matching(wanted)))

    def shape(row: Card) -> CardShape:
        return shapes.full_card(row, caller.workspace_key)

    if wanted.column_id:
        order, types = ("priority", "position", "id"), tuple[int, int, UUID]
        return cut_page(rows, order, types, page_size, page_token, shape)
    return cut_page(rows, ("id",), tuple[UUID], page_size, page_token, shape)


def matching(wanted: CardFilter) -> Q:
    """As a filter on `Card`."""
    found = Q(archived_at__isnull=False) if wanted.archived else PRESENT
    if wanted.column_id:
        found &= Q(column_id=wanted.column_id)
    if wanted.state:
        found &= _in_state(wanted.state)
    if wanted.labels:
        found &= Q(labels__contains=list(wanted.labels))
    if wanted.assignee:
        found &= Q(assignee__handle=wanted.assignee.lstrip("@"))
    if wanted.holder:
        found &= Q(holder__handle=wanted.holder.lstrip("@"))
    if wanted.text:
        found &= Q(title__icontains=wanted.text) | Q(description__icontains=wanted.text)
    return found


def _in_state(state: str) -> Q:
    """`waiting` and `misfit` are shades of `open`, `none` is a card in no queue."""
    shades = {
        "none": Q(state=Card.State.NONE),
        "waiting": Q(state=Card.State.OPEN, available_at__isnull=False),
        "misfit": Q(state=Card.State.OPEN, fits=False),
    }
    return shades.get(state, Q(state=state))


def card(caller: Caller, *, card_id: UUID) -> CardShape:
    """Raises NotFound."""
    row = with_people(Card.objects.filter(pk=card_id)).first()
    if row is None or not _sees(caller, row):
        raise NotFound("There is no such card here.")
    return shapes.full_card(row, caller.workspace_key)


def cards_by_ids(caller: Caller, ids: Iterable[UUID]) -> list[CardShape]:
    """In the order of `ids`; those that can't be seen are left out."""
    order = list(ids)
    rows = {row.pk: row for row in with_people(Card.objects.filter(pk__in=order))}
    return [
        shapes.full_card(rows[one], caller.workspace_key)
        for one in order
        if one in rows and _sees(caller, rows[one])
    ]


def with_people(rows: QuerySet[Card]) -> QuerySet[Card]:
    return rows.select_related("assignee", "holder", "created_by")


def _sees(caller: Caller, row: Card) -> bool:
    return row.workspace_id == caller.workspace_id and access.can_see(
        caller, row.board_id
    )


@paged
def comments(
    caller: Caller, *, card_id: UUID, page_size: int, page_token: str
) -> Page[CommentShape]:
    """A card's comments, oldest first. Raises NotFound."""
    card(caller, card_id=card_id)
    rows = Comment.objects.filter(card_id=card_id).select_related("author")
    return cut_page(rows, ("id",), tuple[UUID], page_size, page_token, shapes.comment)


def comment(caller: Caller, *, comment_id: UUID) -> CommentShape:
    """Raises NotFound."""
    row = Comment.objects.filter(pk=comment_id).select_related("author", "card").first()
    if row is None or not _sees(caller, row.card):
        raise NotFound("There is no such comment here.")
    return shapes.comment(row)


@dataclass(frozen=True)
class EventFilter:
    types: tuple[str, ...] = ()
    board_id: UUID | None = None
    card_id: UUID | None = None


# Where a feed begins for those who don't want what has been.
NOW = "now"


class EventPage(Page[EventShape], frozen=True):
    """`cursor` is where to go on (`after`), also when there was nothing new."""

    cursor: str = ""


def events(caller: Caller, wanted: EventFilter, *, after: str, limit: int) -> EventPage:
    """The feed from a cursor on, in the order of commits as far as it can be told.

    Transactions commit out of order, so only events are given whose transaction is
    older than every one still running: none can appear behind the cursor later.
    After `NOW` comes nothing yet, and a cursor. Readers keep a cursor for days, also over
    new versions, so it's a place and no more: bound to no filter, unlike a page token.
    Raises NotFound (board), BadCursor.
    """
    if after == NOW:
        return _from_now_on(caller, wanted)
    found = _event_rows(caller, wanted, after, limit + 1)
    more, found = len(found) > limit, found[:limit]
    cursor = encode_cursor(found[-1].transaction, found[-1].pk) if found else after
    return EventPage(event_shapes(found), cursor if more else "", cursor)


def events_with_cursors(
    caller: Caller, wanted: EventFilter, *, after: str, limit: int
) -> list[tuple[str, EventShape]]:
    """The same, each event with the cursor that goes on behind it."""
    found = _event_rows(caller, wanted, after, limit)
    cursors = [encode_cursor(row.transaction, row.pk) for row in found]
    return list(zip(cursors, event_shapes(found), strict=True))


def _event_rows(
    caller: Caller, wanted: EventFilter, after: str, limit: int
) -> list[Event]:
    last = decode_cursor(after, tuple[int, UUID]) if after else None
    rows = Event.objects.filter(
        workspace_id=caller.workspace_id, transaction__lt=Snapshot()
    ).order_by("transaction", "id")
    rows = rows.filter(_about(caller, wanted))
    if last:
        rows = rows.filter(
            Q(transaction__gt=last[0]) | Q(transaction=last[0], id__gt=last[1]),
            transaction__gte=last[0],
        )
    return list(rows[:limit])


def event_shapes(rows: list[Event]) -> list[EventShape]:
    who = _people(row.actor_id for row in rows)
    return [shapes.event(row, lambda row: who.get(row.actor_id)) for row in rows]


def _from_now_on(caller: Caller, wanted: EventFilter) -> EventPage:
    _about(caller, wanted)
    running = Workspace.objects.values_list(Snapshot(), flat=True)
    oldest = running.get(pk=caller.workspace_id)
    return EventPage([], "", encode_cursor(oldest, UUID(int=0)))


def _about(caller: Caller, wanted: EventFilter) -> Q:
    if wanted.board_id:
        access.require(caller, wanted.board_id, BoardRole.VIEWER)
        about = Q(board_id=wanted.board_id)
    else:
        about = Q(board_id__in=access.visible_board_ids(caller))
    if wanted.card_id:
        about &= Q(card_id=wanted.card_id)
    exact = [one for one in wanted.types if not one.endswith("*")]
    kinds = Q(type__in=exact) if exact else Q()
    for pattern in wanted.types:
        if pattern.endswith("*"):
            kinds |= Q(type__startswith=pattern[:-1])
    return about & kinds


def _people(ids: Iterable[Any]) -> dict[Any, ActorRef | None]:
    rows = Actor.objects.filter(pk__in={one for one in ids if one})
    return {row.pk: actor_ref(row) for row in rows}
