"""The names of what can happen, and how it's written down.

`record` is for verbs that use the ORM. Verbs that are one statement write the same row
inside it; `EVENT_COLUMNS` is the one list of what such a row has.
"""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from accounts.callers import Caller
from boards.models import Board, Card, Event

CARD_CREATED = "card.created"
CARD_UPDATED = "card.updated"
CARD_MOVED = "card.moved"
CARD_ARCHIVED = "card.archived"
CARD_RESTORED = "card.restored"
CARD_COMMENTED = "card.commented"
CARD_REQUEUED = "card.requeued"
CARD_CANCEL_REQUESTED = "card.cancel_requested"
CARD_CANCELLED = "card.cancelled"
LEASE_CLAIMED = "card.lease.claimed"
LEASE_COMPLETED = "card.lease.completed"
LEASE_FAILED = "card.lease.failed"
LEASE_EXPIRED = "card.lease.expired"
LEASE_RELEASED = "card.lease.released"
LEASE_REVOKED = "card.lease.revoked"
LEASE_DEADLETTERED = "card.lease.deadlettered"
CONTRACT_UPDATED = "column.contract.updated"
COLUMN_PAUSED = "column.paused"
COLUMN_RESUMED = "column.resumed"
COLUMN_CREATED = "column.created"
COLUMN_UPDATED = "column.updated"
COLUMN_MOVED = "column.moved"
COLUMN_DELETED = "column.deleted"
BOARD_CREATED = "board.created"
BOARD_UPDATED = "board.updated"
BOARD_ARCHIVED = "board.archived"
BOARD_RESTORED = "board.restored"
# Beside the event that ended the task; whoever keeps tasks writes it
# (tasks_people.verbs.ended).
TASK_DONE = "task.done"

# All of them: what a pattern such as `card.lease.*` can mean.
TYPES = (
    *(CARD_CREATED, CARD_UPDATED, CARD_MOVED, CARD_ARCHIVED, CARD_RESTORED),
    *(CARD_COMMENTED, CARD_REQUEUED, CARD_CANCEL_REQUESTED, CARD_CANCELLED),
    *(LEASE_CLAIMED, LEASE_COMPLETED, LEASE_FAILED, LEASE_EXPIRED, LEASE_RELEASED),
    *(LEASE_REVOKED, LEASE_DEADLETTERED, CONTRACT_UPDATED),
    *(COLUMN_PAUSED, COLUMN_RESUMED, COLUMN_CREATED, COLUMN_UPDATED, COLUMN_MOVED),
    *(COLUMN_DELETED, BOARD_CREATED, BOARD_UPDATED, BOARD_ARCHIVED, BOARD_RESTORED),
    TASK_DONE,
)

EVENT_COLUMNS = (
    "id, workspace_id, type, actor_id, token_id, board_id, column_id, card_id,"
    " lease_id, sequence, data"
)


def record(
    caller: Caller,
    type: str,
    *,
    board: Board | UUID,
    card: Card | None = None,
    column_id: UUID | None = None,
    lease_id: UUID | None = None,
    data: Mapping[str, Any] | None = None,
) -> Event:
    """Write one event in the caller's transaction.

    With a card, the card's `sequence` must have been raised by the same transaction.
    """
    return Event.objects.create(
        workspace_id=caller.workspace_id,
        type=type,
        actor_id=caller.actor_id,
        token_id=caller.token_id,
        board_id=board.pk if isinstance(board, Board) else board,
        column_id=card.column_id if card else column_id,
        card_id=card.pk if card else None,
        lease_id=lease_id,
        sequence=card.sequence if card else None,
        data=data or {},
    )
