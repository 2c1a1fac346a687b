"""Where something is put among its neighbours: relative, never a saved whole order
(two people with old pages would undo each other's moves in silence)."""

from typing import Any
from uuid import UUID

import msgspec
from django.db.models import Max, Min, QuerySet

from accounts.errors import Invalid
from boards.models import Card, Column, NextPosition
from boards.ordering import GAP, between, spread

FIRST_WINDOW = 32


class Place(msgspec.Struct, frozen=True):
    """Exactly one of: `before` a neighbour, `after` one, the `top`, the `bottom`."""

    before: UUID | None = None
    after: UUID | None = None
    end: str | None = None

    @classmethod
    def of(
        cls, before: UUID | None, after: UUID | None, end: str | None
    ) -> "Place | None":
        """None when nothing was said. Raises Invalid when too much was."""
        said = [one for one in (before, after, end) if one is not None]
        if len(said) > 1:
            raise Invalid("Say one of before, after and position.")
        return cls(before, after, end) if said else None


BOTTOM = Place(end="bottom")


def place_card(card: Card, place: Place) -> None:
    """Set `card.position` for its (locked) column, in the priority it has.

    Raises Invalid when the neighbour isn't in that column.
    """
    card.position = _position(
        Card.objects.present().filter(column_id=card.column_id), card.pk, place
    )


def place_column(column: Column, place: Place) -> None:
    """The same for a column among its board's, and saved."""
    others = Column.objects.filter(board_id=column.board_id, archived_at=None)
    column.position = _position(others, column.pk, place)
    column.save()


def _position(rows: QuerySet[Any], moved: UUID, place: Place) -> Any:
    others = rows.exclude(pk=moved)
    if place.end == "bottom":
        return NextPosition()
    if place.end == "top":
        lowest = others.aggregate(lowest=Min("position"))["lowest"]
        return between(None, lowest)
    anchor, named = (place.before, "before") if place.before else (place.after, "after")
    found = others.filter(pk=anchor).values_list("position", flat=True).first()
    if found is None:
        raise Invalid.at(f"/{named}", "not_in_column", "That neighbour isn't there.")
    return _beside(others, found, named == "before")


def _beside(others: QuerySet[Any], position: int, before: bool) -> Any:
    if before:
        lower = others.filter(position__lt=position).aggregate(n=Max("position"))["n"]
        upper: int | None = position
    else:
        lower = position
        upper = others.filter(position__gt=position).aggregate(n=Min("position"))["n"]
        if upper is None:
            return NextPosition()
    middle = between(lower, upper)
    if middle is None:
        position = _make_room(others, position)
        return _beside(others, position, before)
    return middle


def _make_room(others: QuerySet[Any], position: int) -> int:
    """Spread the neighbourhood evenly; returns where `position` went. The column is
    locked by the caller; the rows are locked in the order of their ids, as everywhere."""
    window = FIRST_WINDOW
    while (moves := _spread_out(others, position, window)) is None:
        window *= 4
    list(
        others.filter(pk__in=[row.pk for row, _ in moves])
        .order_by("pk")
        .select_for_update(no_key=True)
    )
    for row, new in moves:
        others.filter(pk=row.pk).update(position=new)
    return next((new for row, new in moves if row.position == position), position)


def _spread_out(
    others: QuerySet[Any], position: int, window: int
) -> list[tuple[Any, int]] | None:
    """New places for the neighbours of `position`; None when there are too many in too
    little room. At the top of the column there is always room."""
    lower_ones = others.filter(position__lte=position).order_by("-position")
    below = list(lower_ones[: window + 1])
    above = others.filter(position__gt=position).order_by("position")[:window]
    near = [*reversed(below), *above]
    # The last one stays where it is, and so does the first unless it's the column's.
    upper = near.pop().position
    if len(below) <= window:
        lower = near[0].position - GAP * len(near)
    else:
        lower = near.pop(0).position
    places = spread(lower, upper, len(near))
    return None if places is None else list(zip(near, places, strict=True))
