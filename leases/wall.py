"""The board as people see it: columns, their first cards, and who works on what.

Always the same few statements, however many cards there are: counts are counted, cards
are read a page per column.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from django.db.models import Count, F, Func, Q
from django.utils.timezone import now

from accounts.callers import Caller
from accounts.models import Actor
from accounts.roles import BoardRole
from boards import access
from boards.models import Board, Card, Column, Comment
from boards.reads import CardFilter
from boards.shapes import card_key
from leases.changes import Moment, moment
from leases.models import Contract, Lease
from leases.wall_filter import WallFilter, matching

CARDS_PER_PAGE = 50
MOST_CARDS = 500
MAX_LABELS = 200
_OFFSET = 1 << 63
# Possibly long, and not on a card's face.
_NOT_SHOWN = ("description", "properties", "payload", "output")


@dataclass(frozen=True)
class CardView:
    """A card with what is shown on it. `lease` is the one in force."""

    card: Card
    key: str
    lease: Lease | None
    max_attempts: int
    comments: int
    reason: str

    @property
    def order(self) -> str:
        """Sorts as text as the column is sorted; pages put new cards in place by it."""
        card = self.card
        return f"{card.priority}:{card.position + _OFFSET:020d}:{card.pk}"

    @property
    def shade(self) -> str:
        """What people call its state: working, waiting, misfit, open, done, failed, or
        nothing outside of queues."""
        card = self.card
        if card.state == Card.State.CLAIMED:
            return "working"
        if card.state != Card.State.OPEN:
            return card.state
        if card.available_at is not None:
            return "waiting"
        return "misfit" if card.fits is False else "open"

    @property
    def problem(self) -> str:
        """The first thing in which a misfit doesn't fit."""
        first = self.card.misfit[0] if self.card.misfit else {}
        return f"{first.get('pointer', '')} {first.get('detail', '')}".strip()

    @property
    def doing(self) -> str:
        """One line of progress: the holder's, or of who is at it without a lease."""
        return self.lease.doing if self.lease else self.card.activity()

    @property
    def doing_by(self) -> Actor | None:
        """Whose line it is."""
        if self.lease:
            return self.lease.holder
        return self.card.doing_by if self.card.activity() else None

    @property
    def is_overdue(self) -> bool:
        due: datetime | None = self.card.due
        finished = self.card.state == Card.State.DONE
        return due is not None and not finished and due < now()


@dataclass(frozen=True)
class ColumnView:
    """A column with its counts by shade; `cards` are its first ones."""

    column: Column
    contract: Contract | None
    total: int
    counts: dict[str, int]
    cards: list[CardView] = field(default_factory=list)

    @property
    def has_more(self) -> bool:
        return self.total > len(self.cards)

    @property
    def last(self) -> CardView:
        return self.cards[-1]

    @property
    def is_over_limit(self) -> bool:
        limit = self.column.wip_limit
        return limit is not None and self.total > limit


@dataclass(frozen=True)
class Wall:
    """`moment` is when it was looked at; changes after it are to be asked for."""

    board: Board
    role: BoardRole
    columns: list[ColumnView]
    moment: Moment

    @property
    def total(self) -> int:
        return sum(column.total for column in self.columns)

    @property
    def working(self) -> int:
        return sum(column.counts.get("working", 0) for column in self.columns)

    @property
    def may_edit(self) -> bool:
        return self.role >= BoardRole.EDITOR and self.board.archived_at is None


def wall(
    caller: Caller, *, board_id: UUID, wanted: CardFilter, shown: int = CARDS_PER_PAGE
) -> Wall:
    """The whole board, filtered, with the first `shown` cards (50 to 500) of each
    column. Raises NotFound."""
    role = access.require(caller, board_id, BoardRole.VIEWER)
    board = Board.objects.get(pk=board_id)
    seen_at = moment()
    heads = column_views(board_id, wanted)
    limit = min(max(shown, CARDS_PER_PAGE), MOST_CARDS)
    ids = _first_ids([head.column.pk for head in heads], wanted, limit)
    by_column: dict[UUID, list[CardView]] = {head.column.pk: [] for head in heads}
    for view in card_views(caller.workspace_key, ids):
        if view.card.column_id in by_column:
            by_column[view.card.column_id].append(view)
    for head in heads:
        head.cards.extend(by_column[head.column.pk])
    return Wall(board, role, heads, seen_at)


def name(board_id: UUID) -> str:
    """The board's."""
    return Board.objects.values_list("name", flat=True).get(pk=board_id)


def total(board_id: UUID) -> int:
    """All the board's cards, whatever is filtered."""
    present = Card.objects.present().filter(board_id=board_id)
    return present.filter(column__archived_at=None).count()


def labels(board_id: UUID) -> list[str]:
    """Those in use on the board, by name."""
    rows = Card.objects.present().filter(board_id=board_id).exclude(labels=[])
    each = rows.annotate(label=Func(F("labels"), function="unnest"))
    found = each.values_list("label", flat=True).distinct().order_by("label")
    return list(found[:MAX_LABELS])


def column_views(
    board_id: UUID, wanted: CardFilter, only: Iterable[UUID] | None = None
) -> list[ColumnView]:
    """The board's columns (or some) from left to right, without cards."""
    columns = Column.objects.filter(board_id=board_id, archived_at=None)
    if only is not None:
        columns = columns.filter(pk__in=list(only))
    rows = list(columns.select_related("contract").order_by("position", "id"))
    counts = _counts([row.pk for row in rows], wanted)
    return [
        ColumnView(
            column=row,
            contract=getattr(row, "contract", None),
            total=sum(counts[row.pk].values()),
            counts=dict(counts[row.pk]),
        )
        for row in rows
    ]


def more_cards(
    caller: Caller,
    *,
    board_id: UUID,
    column_id: UUID,
    after: tuple[int, int, UUID],
    wanted: CardFilter,
) -> list[CardView]:
    """The cards of a column behind one of them (priority, position, id), one page."""
    access.require(caller, board_id, BoardRole.VIEWER)
    priority, position, card_id = after
    behind = Q(priority__gt=priority) | Q(priority=priority) & (
        Q(position__gt=position) | Q(position=position, id__gt=card_id)
    )
    rows = Card.objects.filter(
        behind, matching(wanted), board_id=board_id, column_id=column_id
    )
    ids = rows.in_order().values_list("pk", flat=True)[:CARDS_PER_PAGE]
    return card_views(caller.workspace_key, list(ids))


def card_views(workspace_key: str, ids: Sequence[UUID]) -> list[CardView]:
    """These cards as they are now, in claim order; archived and gone ones left out."""
    cards = list(
        Card.objects.present()
        .filter(pk__in=ids)
        .select_related("assignee", "doing_by")
        .defer(*_NOT_SHOWN)
        .order_by("priority", "position", "id")
    )
    leases = {
        lease.pk: lease
        for lease in Lease.objects.select_related("holder")
        .defer("output", "note", "reason")
        .filter(pk__in=[card.lease_id for card in cards if card.lease_id])
    }
    attempts = dict(
        Contract.objects.filter(
            column_id__in={card.column_id for card in cards}
        ).values_list("column_id", "max_attempts")
    )
    comments = Counter(
        dict(
            Comment.objects.filter(card_id__in=[card.pk for card in cards])
            .values_list("card_id")
            .annotate(number=Count("id"))
        )
    )
    reasons = _last_reasons([card.pk for card in cards if card.attempts])
    return [
        CardView(
            card=card,
            key=card_key(workspace_key, card.number),
            lease=leases.get(card.lease_id) if card.lease_id else None,
            max_attempts=attempts.get(card.column_id, 0),
            comments=comments[card.pk],
            reason=reasons.get(card.pk, ""),
        )
        for card in cards
    ]


def first_ids(column_ids: list[UUID]) -> list[UUID]:
    """The cards of these columns that every open page has, unless it's filtered."""
    return _first_ids(column_ids, WallFilter(), CARDS_PER_PAGE)


def _first_ids(column_ids: list[UUID], wanted: CardFilter, limit: int) -> list[UUID]:
    """One statement with an arm per column, each a short walk along its index."""
    if not column_ids:
        return []
    arms = [
        Card.objects.filter(matching(wanted), column_id=column_id)
        .in_order()
        .values_list("pk", flat=True)[:limit]
        for column_id in column_ids
    ]
    if len(arms) == 1:
        return list(arms[0])
    return list(arms[0].union(*arms[1:], all=True))


def _counts(column_ids: list[UUID], wanted: CardFilter) -> dict[UUID, Counter[str]]:
    rows = (
        Card.objects.filter(matching(wanted), column_id__in=column_ids)
        .values_list("column_id", "state")
        .annotate(
            every=Count("id"),
            waiting=Count("id", filter=Q(available_at__isnull=False)),
            misfit=Count("id", filter=Q(fits=False, available_at=None)),
        )
    )
    counts: dict[UUID, Counter[str]] = {one: Counter() for one in column_ids}
    for column_id, state, total, waiting, misfit in rows:
        if state == Card.State.OPEN:
            counts[column_id]["waiting"] = waiting
            counts[column_id]["misfit"] = misfit
            counts[column_id]["open"] = total - waiting - misfit
        else:
            name = "working" if state == Card.State.CLAIMED else state or "plain"
            counts[column_id][name] = total
    return counts


def _last_reasons(card_ids: list[UUID]) -> dict[UUID, str]:
    """Why the latest attempt at each of these ended without a result."""
    rows = (
        Lease.objects.filter(card_id__in=card_ids)
        .exclude(state__in=[Lease.State.ACTIVE, Lease.State.COMPLETED])
        .order_by("card_id", "-id")
        .distinct("card_id")
        .values_list("card_id", "reason")
    )
    return dict(rows)
