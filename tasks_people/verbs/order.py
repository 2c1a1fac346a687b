"""What comes first, and whose it is: priority, place, assignee."""

from uuid import UUID

from django.db import transaction

from accounts.callers import Caller
from boards.models import Card
from boards.verbs.cards import edit_card
from boards.verbs.moving import card_seen, locked_card, move_card
from boards.verbs.places import Place
from tasks_people.errors import AlreadyHeld
from tasks_people.reads import task
from tasks_people.verbs.hold import give_back


def prioritize(caller: Caller, *, task_id: UUID, priority: int) -> UUID:
    """1 comes first, 5 last. Also of a task that's being worked on. Editors."""
    return edit_card(caller, card_id=task_id, priority=priority)


@transaction.atomic
def reorder(caller: Caller, *, task_id: UUID, place: Place) -> UUID:
    """Before or after another task of its queue, whose priority it takes, or first or
    last of its own priority. Editors. Raises NotFound, Forbidden, Invalid, CardHeld."""
    beside = place.before or place.after
    moved = move_card(caller, card_id=task_id, place=place)
    if beside is not None:
        # It's in the same queue, or the move had been refused.
        priority = Card.objects.values_list("priority", flat=True).get(pk=beside)
        edit_card(caller, card_id=task_id, priority=priority)
    return moved


@transaction.atomic
def assign(caller: Caller, *, task_id: UUID, assignee: str | None) -> UUID:
    """Hand the task to somebody (a handle), or to anybody (null). One's own that was
    begun already is given back first. Editors.

    Raises NotFound, Forbidden, Invalid (nobody of that name), AlreadyHeld (somebody
    else is working on it).
    """
    seen = card_seen(caller, task_id)
    if seen.is_claimed():
        if seen.holder_id != caller.actor_id:
            holder = f"@{seen.holder.handle}" if seen.holder else "Somebody"
            raise AlreadyHeld(
                f"{holder} is working on this task.", task=task(caller, task_id=task_id)
            )
        give_back(caller, task_id=task_id)
    locked_card(caller, task_id)
    return edit_card(caller, card_id=task_id, assignee=assignee)
