"""Events of the activity log with the names of what they're about."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from uuid import UUID

from boards.history import Happening, column_names, happening, people_of
from boards.models import Board, Card, Column, Event
from boards.shapes import card_key


@dataclass(frozen=True)
class CardName:
    id: UUID
    key: str
    title: str


@dataclass(frozen=True)
class Line:
    """`card` is None where it isn't about one."""

    id: UUID
    what: Happening
    board_id: UUID | None
    board: str
    column: str
    card: CardName | None
    lease_id: UUID | None


def lines(rows: Sequence[Event], workspace_key: str) -> list[Line]:
    """Four statements, whatever the number."""
    people, moves = people_of(rows), column_names(rows)
    boards = dict(_named(Board, (row.board_id for row in rows)))
    columns = dict(_named(Column, (row.column_id for row in rows)))
    wanted = {row.card_id for row in rows if row.card_id}
    found = Card.objects.filter(pk__in=wanted).values_list("pk", "number", "title")
    cards = {
        pk: CardName(pk, card_key(workspace_key, number), title)
        for pk, number, title in found
    }
    return [
        Line(
            id=row.pk,
            what=happening(row, people, moves),
            board_id=row.board_id,
            board=boards.get(row.board_id, ""),
            column=columns.get(row.column_id, ""),
            card=cards.get(row.card_id) if row.card_id else None,
            lease_id=row.lease_id,
        )
        for row in rows
    ]


def _named(
    model: type[Board] | type[Column], ids: Iterable[UUID | None]
) -> Iterable[tuple[UUID | None, str]]:
    wanted = {one for one in ids if one}
    return model.objects.filter(pk__in=wanted).values_list("pk", "name")
