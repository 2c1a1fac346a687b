"""The Tasks page: all queues' tasks by their state."""

from collections.abc import Mapping
from dataclasses import dataclass
from uuid import UUID

from accounts.callers import Caller
from accounts.models import Actor
from accounts.pages import Walk
from accounts.shapes import ActorRef, actor_ref
from leases.changes import Moment, moment
from tasks_people import listing, queues
from tasks_people.items import Known, TaskItem, items
from tasks_people.listing import TaskFilter

LIVE_SHOWN, ENDED_SHOWN = 50, 30
MAX_PEOPLE = 500
# How each state is sorted, and how many of it are shown.
SHOWN: Mapping[str, tuple[str, int]] = {
    **dict.fromkeys(listing.LIVE, ("priority", LIVE_SHOWN)),
    **dict.fromkeys(listing.ENDED, ("updated", ENDED_SHOWN)),
}


@dataclass(frozen=True)
class StateView:
    """One state: its first tasks, how many there are, and where to go on (empty at the
    end)."""

    state: str
    items: list[TaskItem]
    total: int
    next_page_token: str

    @property
    def older(self) -> int:
        """How many aren't shown."""
        return max(0, self.total - len(self.items))


@dataclass(frozen=True)
class Overview:
    """`queues` and `people` are what can be filtered by. `moment` is when it was looked
    at; changes after it are to be asked for."""

    states: list[StateView]
    queues: list[str]
    people: list[ActorRef]
    moment: Moment


def overview(caller: Caller, wanted: TaskFilter) -> Overview:
    """All four states: what is to be done in claim order, what has ended latest first.
    Always the same few statements. Raises UnknownQueue, Invalid (nobody of that name).
    """
    seen_at = moment()
    # First, so that the filter finds its queue among them.
    names = {one.column_id: one.name for one in queues.all_seen(caller)}
    where = listing.scope(caller, wanted)
    cuts = listing.first_pages(where, SHOWN)
    counts = listing.counted(where)
    people = _people(caller)
    known = Known({one.id: one for one in people}, names)
    ids = [one for cut in cuts.values() for one in cut.ids]
    found = {item.id: item for item in items(caller, ids, known)}
    return Overview(
        states=[
            StateView(
                state=state,
                items=[found[one] for one in cut.ids if one in found],
                total=counts[state],
                next_page_token=_walk(wanted, state).token(cut.next_page_token),
            )
            for state, cut in cuts.items()
        ],
        queues=sorted(names.values()),
        people=people,
        moment=seen_at,
    )


def more(
    caller: Caller, wanted: TaskFilter, *, state: str, page_token: str
) -> tuple[list[TaskItem], str]:
    """The next tasks of one state, and where to go on. Raises as `overview` does, and
    BadCursor."""
    sort, size = SHOWN[state]
    walk = _walk(wanted, state)
    cursor = walk.cursor(page_token)
    where = listing.scope(caller, wanted)
    cut = listing.cut(where, (state,), sort=sort, page_size=size, page_token=cursor)
    return items(caller, cut.ids), walk.token(cut.next_page_token)


def _walk(wanted: TaskFilter, state: str) -> Walk:
    return Walk.through("overview", wanted, state)


def some(caller: Caller, wanted: TaskFilter, ids: list[UUID]) -> list[TaskItem]:
    """Those of these cards that the filter lets through, as they are now: what a live
    page puts in place of what it shows."""
    where = listing.scope(caller, wanted)
    return items(caller, listing.among(where, ids))


def _people(caller: Caller) -> list[ActorRef]:
    rows = Actor.objects.in_workspace(caller.workspace_id).enabled()
    found = rows.order_by("kind", "handle")[:MAX_PEOPLE]
    return [ref for row in found if (ref := actor_ref(row))]
