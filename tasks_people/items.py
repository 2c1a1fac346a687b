"""Tasks in short, as pages list them: chips of the board with the queue's name."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from accounts.callers import Caller
from accounts.models import Actor
from accounts.shapes import ActorRef, actor_ref
from leases.wall import CardView, card_views
from tasks_people.reads import latest_leases, queue_names


@dataclass(frozen=True)
class TaskItem:
    """`view` is the card as the board shows it (without its long texts); `worker` is
    who made the latest attempt."""

    view: CardView
    queue: str
    created_by: ActorRef | None
    worker: ActorRef | None

    @property
    def id(self) -> UUID:
        return self.view.card.pk

    @property
    def state(self) -> str:
        return self.view.card.state


def items(caller: Caller, ids: Sequence[UUID]) -> list[TaskItem]:
    """In the order of `ids`, which the caller must be allowed to see; archived ones are
    left out. Eight statements, however many there are."""
    views = {view.card.pk: view for view in card_views(caller.workspace_key, ids)}
    cards = [view.card for view in views.values()]
    latest = latest_leases(views)
    names = queue_names(cards, latest)
    makers = {card.pk: card.created_by_id for card in cards if card.created_by_id}
    wanted = {*makers.values(), *(lease.holder_id for lease in latest.values())}
    rows = Actor.objects.filter(pk__in=wanted)
    people = {row.pk: actor_ref(row) for row in rows}
    return [
        TaskItem(
            view=views[one],
            queue=names[one],
            created_by=people.get(makers[one]) if one in makers else None,
            worker=people.get(latest[one].holder_id) if one in latest else None,
        )
        for one in ids
        if one in views
    ]
