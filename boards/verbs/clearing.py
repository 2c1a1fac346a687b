"""Clear a column: put all of its cards away at once."""

from uuid import UUID

from django.db import transaction
from django.db.models import F

from accounts.callers import Caller
from accounts.roles import BoardRole
from boards import access, events
from boards.models import Card, ClockTimestamp, Event
from boards.verbs.guard import Free, free_or_refuse
from boards.verbs.moving import locked_column


@transaction.atomic
def archive_cards(
    caller: Caller, *, board_id: UUID, column_id: UUID, free: Free | None = None
) -> int:
    """Archive every card of the column; returns how many. Managers.

    All or nothing: refused while one is being worked on (CardHeld), unless `free`.
    Raises NotFound, Forbidden.
    """
    access.require(caller, board_id, BoardRole.MANAGER)
    # Alone, so that no card is on its way here and would be left behind.
    locked_column(board_id, column_id, alone=True)
    present = Card.objects.present().filter(column_id=column_id)
    ids = []
    for card in present.locked().order_by("id"):
        free_or_refuse(card, free)
        ids.append(card.pk)
    present.filter(pk__in=ids).update(
        archived_at=ClockTimestamp(),
        updated_at=ClockTimestamp(),
        version=F("version") + 1,
        sequence=F("sequence") + 1,
    )
    rows = Card.objects.filter(pk__in=ids).order_by("id")
    Event.objects.bulk_create([_archived(caller, row) for row in rows])
    return len(ids)


def _archived(caller: Caller, row: Card) -> Event:
    return Event(
        workspace_id=row.workspace_id,
        type=events.CARD_ARCHIVED,
        actor_id=caller.actor_id,
        token_id=caller.token_id,
        board_id=row.board_id,
        column_id=row.column_id,
        card_id=row.pk,
        sequence=row.sequence,
        data={},
    )
