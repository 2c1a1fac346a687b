"""Find boards and cards by what people remember of them: a name, a title, a key."""

from dataclasses import dataclass
from uuid import UUID

from django.db.models import Q

from accounts.callers import Caller
from boards import access
from boards.models import Board, Card
from boards.shapes import card_key

MAX_BOARDS, MAX_CARDS = 6, 10


@dataclass(frozen=True)
class FoundCard:
    id: UUID
    board_id: UUID
    key: str
    title: str
    board_name: str
    column_name: str


@dataclass(frozen=True)
class Found:
    """`boards` are pairs of id and name."""

    boards: list[tuple[UUID, str]]
    cards: list[FoundCard]


def search(caller: Caller, *, text: str) -> Found:
    """Among what the caller can see and nobody has archived; the latest first.

    Without text: some boards, no cards. Three statements.
    """
    text = text.strip()
    open_boards = Board.objects.filter(access.visible(caller), archived_at=None)
    named = open_boards.filter(name__icontains=text) if text else open_boards
    boards = named.order_by("name", "id").values_list("id", "name")[:MAX_BOARDS]
    return Found(list(boards), _cards(caller, text) if text else [])


def _cards(caller: Caller, text: str) -> list[FoundCard]:
    rows = (
        Card.objects.present()
        .filter(_about(caller, text), board_id__in=access.visible_board_ids(caller))
        .filter(board__archived_at=None, column__archived_at=None)
        .select_related("board", "column")
        .order_by("-updated_at", "-id")[:MAX_CARDS]
    )
    return [
        FoundCard(
            id=row.pk,
            board_id=row.board_id,
            key=card_key(caller.workspace_key, row.number),
            title=row.title,
            board_name=row.board.name,
            column_name=row.column.name,
        )
        for row in rows
    ]


def _about(caller: Caller, text: str) -> Q:
    """By title, or by key: `NOV-12`, `nov-12` and `12` name the same card."""
    about = Q(title__icontains=text)
    number = text.upper().removeprefix(f"{caller.workspace_key.upper()}-")
    # More digits than a number can have would be an error of the database.
    if number.isascii() and number.isdigit() and len(number) <= 18:
        about |= Q(number=int(number))
    return about
