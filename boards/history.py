"""What has happened to one card, for those who may see it."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from accounts.callers import Caller
from accounts.models import Actor
from accounts.shapes import ActorRef, actor_ref
from boards import events, reads
from boards.models import Column, Event

EVENTS_PER_PAGE = 30


@dataclass(frozen=True)
class Happening:
    """An event with names in it, as people read it."""

    type: str
    at: datetime
    actor: ActorRef | None
    sequence: int
    data: dict[str, Any]
    came_from: str = ""
    went_to: str = ""


@dataclass(frozen=True)
class History:
    """`before` is where the next page begins (older), None at the end."""

    items: list[Happening]
    before: int | None


def history(caller: Caller, *, card_id: UUID, before: int | None = None) -> History:
    """A card's events, latest first, one page. Raises NotFound.

    Without `task.done`, which says for other systems what the event before it says.
    """
    reads.card(caller, card_id=card_id)
    rows = Event.objects.filter(card_id=card_id).exclude(type=events.TASK_DONE)
    rows = rows.order_by("-sequence")
    if before is not None:
        rows = rows.filter(sequence__lt=before)
    found = list(rows[: EVENTS_PER_PAGE + 1])
    more, found = len(found) > EVENTS_PER_PAGE, found[:EVENTS_PER_PAGE]
    people, names = people_of(found), column_names(found)
    items = [happening(one, people, names) for one in found]
    return History(items, items[-1].sequence if more else None)


def people_of(rows: Sequence[Event]) -> dict[UUID, ActorRef | None]:
    ids = {one.actor_id for one in rows if one.actor_id}
    return {row.pk: actor_ref(row) for row in Actor.objects.filter(pk__in=ids)}


def happening(
    row: Event, people: dict[UUID, ActorRef | None], names: dict[str, str]
) -> Happening:
    return Happening(
        type=row.type,
        at=row.created_at,
        actor=people.get(row.actor_id) if row.actor_id else None,
        sequence=row.sequence or 0,
        data=row.data,
        came_from=names.get(str(row.data.get("from_column_id")), ""),
        went_to=names.get(str(row.data.get("to_column_id")), ""),
    )


def column_names(rows: Sequence[Event]) -> dict[str, str]:
    """Of the columns that something was moved between."""
    ids = {
        row.data[key]
        for row in rows
        for key in ("from_column_id", "to_column_id")
        if row.data.get(key)
    }
    found = Column.objects.filter(pk__in=ids).values_list("pk", "name")
    return {str(pk): name for pk, name in found}
