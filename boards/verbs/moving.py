"""Move a card: within its column, to another one, to another board."""

from collections.abc import Iterable, Sequence
from uuid import UUID

from django.db import transaction

from accounts.callers import Caller
from accounts.errors import Conflict, NotFound
from accounts.roles import BoardRole
from boards import access, events
from boards.errors import VersionMismatch
from boards.models import Card, ClockTimestamp, Column
from boards.verbs.guard import Free, free_or_refuse
from boards.verbs.places import BOTTOM, Place, place_card
from boards.verbs.together import record_all, save_all


@transaction.atomic
def move_card(
    caller: Caller,
    *,
    card_id: UUID,
    column_id: UUID | None = None,
    place: Place | None = None,
    version: int | None = None,
    free: Free | None = None,
) -> UUID:
    """Put the card somewhere: another column (bottom by default), a place in it.

    In another column it takes the state of an arrival: open with fresh attempts in a
    queue. Raises NotFound, Forbidden, Invalid, VersionMismatch (`version` is not the
    card's), CardHeld (unless `free`), Conflict when it was to be put somewhere else in
    its column and has just left that.
    """
    # Lock order: columns, then the card. So the target's lock comes before the card's.
    seen = card_seen(caller, card_id)
    target = _locked_target(caller, seen, column_id)
    card = locked_card(caller, card_id, version)
    free_or_refuse(card, free)
    came_from = card.column_id
    if target.pk == seen.column_id != came_from:
        raise Conflict(
            "The card has just been moved on. Look at it again.",
            card_id=card.pk,
            column_id=came_from,
            version=card.version,
        )
    came_from = card.column_id
    if target.pk != came_from:
        card.board_id = target.board_id
        card.enter(target)
        place_card(card, place or BOTTOM)
    elif place:
        place_card(card, place)
    changed(card)
    events.record(
        caller,
        events.CARD_MOVED,
        board=card.board_id,
        card=card,
        data={"from_column_id": str(came_from), "to_column_id": str(target.pk)},
    )
    return card.pk


def put_all(
    caller: Caller, cards: Iterable[Card], target: Column, free: Free | None
) -> None:
    """Move all these (locked) cards to the end of a column, in their order there."""
    ordered = sorted(cards, key=lambda card: (card.priority, card.position))
    for card in ordered:
        free_or_refuse(card, free)
    put_at_end(caller, ordered, target)


def put_at_end(caller: Caller, cards: Sequence[Card], target: Column) -> None:
    """The same in the order given, with cards that nobody holds."""
    came_from = [card.column_id for card in cards]
    for card in cards:
        card.board_id = target.board_id
        card.enter(target)
    save_all(cards, at_end=True)
    data = [
        {"from_column_id": str(old), "to_column_id": str(target.pk)}
        for old in came_from
    ]
    record_all(caller, events.CARD_MOVED, cards, data)


def card_seen(caller: Caller, card_id: UUID) -> Card:
    """Unlocked. Raises NotFound for what the caller can't see."""
    card = Card.objects.filter(pk=card_id, workspace_id=caller.workspace_id).first()
    if card is None or not access.can_see(caller, card.board_id):
        raise NotFound("There is no such card here.")
    return card


def locked_card(
    caller: Caller,
    card_id: UUID,
    version: int | None = None,
    role: BoardRole = BoardRole.EDITOR,
) -> Card:
    """The card, locked until the end of the transaction, for a change by `role`.

    Raises NotFound, Forbidden, BoardArchived, VersionMismatch.
    """
    card_seen(caller, card_id)
    # Nothing is joined: after a wait for the lock PostgreSQL looks at the card anew,
    # but not at its column as it was, and would find no row at all.
    card = Card.objects.locked().get(pk=card_id)
    access.require(caller, card.board_id, role)
    if version is not None and version != card.version:
        raise VersionMismatch(
            f"The card has changed: it's at version {card.version} now.",
            card_id=card.pk,
            version=card.version,
            column_id=card.column_id,
        )
    return card


def locked_column(board_id: UUID, column_id: UUID, *, alone: bool = False) -> Column:
    """The column of this board, locked. Raises NotFound, also when it was deleted while
    we waited. `alone`: after it no verb that brings cards here is still under way."""
    column = (
        Column.objects.select_for_update(no_key=not alone)
        .filter(pk=column_id, board_id=board_id, archived_at=None)
        .first()
    )
    if column is None:
        raise NotFound("There is no such column on this board.")
    return column


def changed(card: Card) -> None:
    """Save with the next version and the next number in the card's history."""
    card.version += 1
    card.sequence += 1
    card.updated_at = ClockTimestamp()
    card.save()


def _locked_target(caller: Caller, card: Card, column_id: UUID | None) -> Column:
    """Where to, with the column where from: both locked, the lower id first."""
    access.require(caller, card.board_id, BoardRole.EDITOR)
    wanted = column_id or card.column_id
    locked = (
        Column.objects.filter(
            pk__in={wanted, card.column_id},
            board__workspace_id=caller.workspace_id,
            archived_at=None,
        )
        .order_by("pk")
        .select_for_update(of=("self",), no_key=True)
    )
    target = {column.pk: column for column in locked}.get(wanted)
    if target is None or not access.can_see(caller, target.board_id):
        raise NotFound("There is no such column here.")
    access.require(caller, target.board_id, BoardRole.EDITOR)
    return target
