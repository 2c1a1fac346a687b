"""Home and the agents' pages: how much is at work on each board, and who holds what.

Counts of all boards come from one grouped statement, however many boards there are.
"""

from collections import Counter
from dataclasses import dataclass, field
from uuid import UUID

from django.db.models import Count, Q, QuerySet

from accounts.callers import Caller
from accounts.models import Actor
from accounts.roles import BoardRole
from boards import access
from boards.models import Board, BoardMember, Card
from leases.models import Contract, Lease

MAX_BOARDS = 500
MAX_SHOWN_LEASES = 100


@dataclass(frozen=True)
class BoardCounts:
    """A board with its cards by shade; `role` is the caller's."""

    board: Board
    role: BoardRole
    counts: Counter[str] = field(default_factory=Counter)

    @property
    def is_empty(self) -> bool:
        return not self.counts.total()

    @property
    def is_managed(self) -> bool:
        return self.role >= BoardRole.MANAGER


@dataclass(frozen=True)
class Overview:
    boards: list[BoardCounts]
    archived: list[BoardCounts]
    agents: int
    people: int

    @property
    def working(self) -> int:
        return sum(one.counts["working"] for one in self.boards)


def overview(caller: Caller) -> Overview:
    """The boards that the caller can see, with counts, and who is at work on them."""
    rows = list(
        Board.objects.filter(access.visible(caller)).order_by("id")[:MAX_BOARDS]
    )
    named = dict(
        BoardMember.objects.filter(actor_id=caller.actor_id).values_list(
            "board_id", "role"
        )
    )
    shown = [one.pk for one in rows if one.archived_at is None]
    counts = _counts(shown)
    all_boards = [
        BoardCounts(row, _role(caller, row, named), counts.get(row.pk, Counter()))
        for row in rows
    ]
    kinds = _kinds_at_work(shown)
    return Overview(
        boards=[one for one in all_boards if one.board.archived_at is None],
        archived=[one for one in all_boards if one.board.archived_at is not None],
        agents=kinds[Actor.Kind.AGENT],
        people=kinds[Actor.Kind.PERSON],
    )


def held_by(caller: Caller, *, holder_id: UUID) -> list[Lease]:
    """What a seat holds now on boards that the caller can see, latest first, at most
    MAX_SHOWN_LEASES."""
    rows = _active(caller).filter(holder_id=holder_id)
    found = rows.select_related("card", "board", "column", "token").defer("output")
    return list(found.order_by("-id")[:MAX_SHOWN_LEASES])


def holding(caller: Caller) -> dict[UUID, int]:
    """How many cards each holder has now, on boards that the caller can see."""
    rows = _active(caller).values_list("holder_id").annotate(n=Count("id"))
    return dict(rows.order_by())


def queues_for(agent_id: UUID, caller: Caller) -> list[Contract]:
    """The queues that the seat may claim from, of those that the caller can see: with
    their columns and boards, by name."""
    named = BoardMember.objects.filter(actor_id=agent_id)
    able = named.filter(role__gte=BoardRole.EDITOR).values("board_id")
    allowed = Q(column__board_id__in=able) | (
        Q(column__board__default_role__gte=BoardRole.EDITOR)
        & ~Q(column__board_id__in=named.values("board_id"))
    )
    rows = Contract.objects.filter(
        allowed,
        enabled=True,
        workspace_id=caller.workspace_id,
        column__archived_at=None,
        column__board__archived_at=None,
        column__board__in=Board.objects.filter(access.visible(caller)),
    )
    return list(rows.select_related("column__board").order_by("queue")[:50])


def _role(caller: Caller, row: Board, named: dict[UUID, int]) -> BoardRole:
    if caller.is_admin():
        return BoardRole.MANAGER
    return BoardRole(named.get(row.pk) or row.default_role or BoardRole.VIEWER)


def _active(caller: Caller) -> QuerySet[Lease]:
    rows = Lease.objects.filter(
        workspace_id=caller.workspace_id, state=Lease.State.ACTIVE
    )
    if caller.is_admin():
        return rows
    return rows.filter(board__in=Board.objects.filter(access.visible(caller)))


def _counts(board_ids: list[UUID]) -> dict[UUID, Counter[str]]:
    """By shade as on the board itself (`leases.wall`)."""
    present = Card.objects.present().filter(
        board_id__in=board_ids, column__archived_at=None
    )
    rows = (
        present.order_by()
        .values_list("board_id", "state")
        .annotate(
            total=Count("id"),
            waiting=Count("id", filter=Q(available_at__isnull=False)),
            misfit=Count("id", filter=Q(fits=False, available_at=None)),
        )
    )
    counts: dict[UUID, Counter[str]] = {one: Counter() for one in board_ids}
    for board_id, state, total, waiting, misfit in rows:
        if state == Card.State.OPEN:
            counts[board_id] += Counter(
                waiting=waiting, misfit=misfit, open=total - waiting - misfit
            )
        else:
            name = "working" if state == Card.State.CLAIMED else state or "plain"
            counts[board_id][name] = total
    return counts


def _kinds_at_work(board_ids: list[UUID]) -> Counter[str]:
    """How many agents and how many people hold a card."""
    rows = Card.objects.filter(state=Card.State.CLAIMED, board_id__in=board_ids)
    kinds = rows.values_list("holder__kind").annotate(n=Count("holder", distinct=True))
    return Counter(dict(kinds.order_by()))
