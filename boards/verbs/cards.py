"""Cards: create one or many, edit, archive, restore."""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

import msgspec
from django.db import transaction
from django.db.models import F
from msgspec import Meta

from accounts.callers import Caller
from accounts.errors import Conflict, Invalid, NotFound
from accounts.models import Workspace
from accounts.roles import BoardRole
from accounts.skills import Skills
from accounts.told import Handle, told
from boards import access, events
from boards.models import Card, Column, Event
from boards.values import same_json
from boards.verbs.fields import (
    FIRST_PRIORITY,
    LAST_PRIORITY,
    Description,
    Labels,
    fields_of,
)
from boards.verbs.guard import Free, free_or_refuse
from boards.verbs.moving import card_seen, changed, locked_card, locked_column
from boards.verbs.parents import check_line, check_parent, seen_parents
from boards.verbs.places import Place, place_card
from boards.verbs.text import Title
from boards.verbs.together import record_all, save_all

MAX_BULK_CARDS = 500
Moment = Annotated[datetime, Meta(tz=True)]
JSON_FIELDS = ("properties", "payload")


class NewCard(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a card is made of. `assignee` is a handle; `not_before` keeps it waiting;
    `parent` is the id of the card that it's a part of; agents get it only if they have
    all of `skills`."""

    title: Title
    description: Description = ""
    priority: Annotated[int, told(minimum=FIRST_PRIORITY, maximum=LAST_PRIORITY)] = 3
    labels: Labels = []
    assignee: Handle | None = None
    due: Moment | None = None
    not_before: Moment | None = None
    parent: UUID | None = None
    skills: Skills = []
    properties: dict[str, Any] = {}
    payload: Any = None


def create_card(
    caller: Caller,
    *,
    board_id: UUID,
    column_id: UUID,
    card: NewCard,
    place: Place | None = None,
) -> UUID:
    """One card at the bottom of the column, or at `place`. Editors.

    Raises NotFound, Forbidden, Invalid.
    """
    (created,) = _create(caller, board_id, column_id, [card], place, "")
    return created


def create_cards(
    caller: Caller, *, board_id: UUID, column_id: UUID, cards: Sequence[NewCard]
) -> list[UUID]:
    """Up to 500 at the bottom of the column in the order given, all or nothing.

    Raises NotFound, Forbidden, Invalid (pointing at the card).
    """
    if not 1 <= len(cards) <= MAX_BULK_CARDS:
        raise Invalid.at("/cards", "out_of_range", f"1 to {MAX_BULK_CARDS} cards.")
    return _create(caller, board_id, column_id, cards, None, "/cards/{}")


@transaction.atomic
def _create(
    caller: Caller,
    board_id: UUID,
    column_id: UUID,
    cards: Sequence[NewCard],
    place: Place | None,
    pointer: str,
) -> list[UUID]:
    access.require(caller, board_id, BoardRole.EDITOR)
    parents = seen_parents(caller, [card.parent for card in cards])
    checked = [
        _checked(caller, card, parents, pointer.format(i))
        for i, card in enumerate(cards)
    ]
    # Locked, so that it isn't deleted under the new cards.
    column = locked_column(board_id, column_id)
    # Last before the rows: other creators of the workspace wait for this number.
    number = _numbers(caller, len(cards))
    rows = []
    for offset, fields in enumerate(checked):
        row = Card(
            workspace_id=caller.workspace_id,
            board_id=board_id,
            number=number + offset,
            sequence=1,
            created_by_id=caller.actor_id,
            **fields,
        )
        row.enter(column)
        if place:
            place_card(row, place)
        rows.append(row)
    Card.objects.bulk_create(rows)
    Event.objects.bulk_create([_created(caller, row) for row in rows])
    return [row.pk for row in rows]


@transaction.atomic
def edit_card(
    caller: Caller,
    *,
    card_id: UUID,
    version: int | None = None,
    **changes: Any,
) -> UUID:
    """Change the given fields of `NewCard`; also of a card that's being worked on.

    `version` is the one the caller has seen. Raises NotFound, Forbidden, Invalid,
    VersionMismatch.
    """
    card = locked_card(caller, card_id, version)
    change(caller, card, changes)
    return card.pk


def change(caller: Caller, card: Card, changes: dict[str, Any]) -> bool:
    """The same to a locked card of an editor's; whether anything is different now.
    Raises Invalid."""
    fields = _checked_changes(caller, card, changes)
    before = {name: getattr(card, name) for name in fields}
    for name, value in fields.items():
        setattr(card, name, value)
    different = sorted(
        name for name in fields if not _same(name, before[name], fields[name])
    )
    if not different:
        return False
    card.judge_again(card.column)
    changed(card)
    events.record(
        caller,
        events.CARD_UPDATED,
        board=card.board_id,
        card=card,
        data={"changed": different},
    )
    return True


@transaction.atomic
def archive_card(
    caller: Caller,
    *,
    card_id: UUID,
    version: int | None = None,
    free: Free | None = None,
) -> UUID:
    """Put the card away; `restore_card` brings it back. Idempotent.

    Raises NotFound, Forbidden, VersionMismatch, CardHeld (unless `free`).
    """
    card = locked_card(caller, card_id, version)
    free_or_refuse(card, free)
    if card.archived_at is None:
        put_away(caller, [card])
    return card.pk


def put_away(caller: Caller, cards: Sequence[Card], *, reason: str = "") -> None:
    """Archive locked cards that nobody holds; `reason` stays in their history."""
    save_all(cards, away=True)
    data = {"reason": reason} if reason else {}
    record_all(caller, events.CARD_ARCHIVED, cards, [data] * len(cards))


@transaction.atomic
def restore_card(caller: Caller, *, card_id: UUID) -> UUID:
    """Bring an archived card back where it was, to the end of its column. Idempotent.

    Raises NotFound, Forbidden, Conflict when its column is gone.
    """
    column = _home(caller, card_id)
    card = locked_card(caller, card_id)
    if card.archived_at is not None:
        if column is None or column.pk != card.column_id:
            raise Conflict("Its column is gone. Move the card to another one first.")
        card.archived_at = None
        card.judge_again(column)
        place_card(card, Place(end="bottom"))
        changed(card)
        events.record(caller, events.CARD_RESTORED, board=card.board_id, card=card)
    return card.pk


def _home(caller: Caller, card_id: UUID) -> Column | None:
    """The card's column, locked (before the card, as everywhere); None when deleted."""
    seen = card_seen(caller, card_id)
    try:
        return locked_column(seen.board_id, seen.column_id)
    except NotFound:
        return None


def _numbers(caller: Caller, count: int) -> int:
    """The first of `count` fresh card numbers of the workspace."""
    workspace = Workspace.objects.filter(pk=caller.workspace_id)
    workspace.update(last_card_number=F("last_card_number") + count)
    last = workspace.values_list("last_card_number", flat=True).get()
    return last - count + 1


def _created(caller: Caller, row: Card) -> Event:
    return Event(
        workspace_id=row.workspace_id,
        type=events.CARD_CREATED,
        actor_id=caller.actor_id,
        token_id=caller.token_id,
        board_id=row.board_id,
        column_id=row.column_id,
        card_id=row.pk,
        sequence=row.sequence,
        data={"title": row.title},
    )


def _same(name: str, old: Any, new: Any) -> bool:
    return same_json(old, new) if name in JSON_FIELDS else old == new


def _checked(
    caller: Caller, card: NewCard, parents: set[UUID], pointer: str
) -> dict[str, Any]:
    given = {name: getattr(card, name) for name in card.__struct_fields__}
    check_parent(card.parent, parents, f"{pointer}/parent")
    return fields_of(caller, given, pointer)


def _checked_changes(
    caller: Caller, card: Card, changes: dict[str, Any]
) -> dict[str, Any]:
    if "not_before" in changes and card.state != Card.State.OPEN:
        raise Invalid.at(
            "/not_before", "not_open", "Only an open card of a queue can wait."
        )
    if "parent" in changes:
        parent: UUID | None = changes["parent"]
        check_parent(parent, seen_parents(caller, [parent]), "/parent")
        check_line(card, parent, "/parent")
    return fields_of(caller, changes, "")
