"""Create a task: a card on a queue."""

from typing import Any
from uuid import UUID

from django.db import transaction

from accounts.callers import Caller
from boards.verbs.cards import NewCard, create_card
from tasks_people.verbs.open_queue import open_queue


@transaction.atomic
def create(caller: Caller, *, queue: str, **fields: Any) -> UUID:
    """A card with these fields of `NewCard` at the end of the queue, which is made if it
    doesn't exist yet. Editors of the queue's board.

    Raises Invalid, UnknownQueue, QueueOff, Forbidden.
    """
    home = open_queue(caller, queue)
    return create_card(
        caller,
        board_id=home.board_id,
        column_id=home.column_id,
        card=NewCard(**fields),
    )
