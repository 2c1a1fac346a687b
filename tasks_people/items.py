"""Tasks in short, as pages list them: chips of the board with the queue's name."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from uuid import UUID

from accounts.callers import Caller
from accounts.models import Actor
from accounts.shapes import ActorRef, actor_ref
from boards.models import Card
from leases.models import Lease
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


@dataclass(frozen=True)
class Known:
    """What the caller has read already: actors, and the queues of columns."""

    people: Mapping[UUID, ActorRef] = field(default_factory=dict)
    queues: Mapping[UUID, str] = field(default_factory=dict)


def items(
    caller: Caller, ids: Sequence[UUID], known: Known | None = None
) -> list[TaskItem]:
    """In the order of `ids`, which the caller must be allowed to see; archived ones are
    left out. Eight statements, however many there are; fewer with what is `known`."""
    known = known or Known()
    views = {view.card.pk: view for view in card_views(caller.workspace_key, ids)}
    cards = [view.card for view in views.values()]
    latest = latest_leases(views)
    names = _names(cards, latest, known.queues)
    makers = {card.pk: card.created_by_id for card in cards if card.created_by_id}
    wanted = {*makers.values(), *(lease.holder_id for lease in latest.values())}
    people = _people(wanted, known.people)
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


def _names(
    cards: list[Card], latest: dict[UUID, Lease], known: Mapping[UUID, str]
) -> dict[UUID, str]:
    """As `queue_names` says, which is asked where `known` doesn't tell."""
    found = {}
    for card in cards:
        last = latest.get(card.pk)
        name = known.get(card.column_id) or (last and known.get(last.column_id))
        if not name:
            return queue_names(cards, latest)
        found[card.pk] = name
    return found


def _people(
    wanted: set[UUID], known: Mapping[UUID, ActorRef]
) -> Mapping[UUID, ActorRef | None]:
    """Also those who are disabled by now."""
    missing = wanted - known.keys()
    if not missing:
        return known
    rows = Actor.objects.filter(pk__in=missing)
    return {**known, **{row.pk: actor_ref(row) for row in rows}}
