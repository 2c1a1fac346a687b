"""What happened: the event feed."""

from typing import Annotated
from uuid import UUID

from msgspec import Meta

from accounts.callers import Caller
from boards import reads
from boards.reads import EventPage
from novum.operations.operation import Input, Operation

MAX_EVENTS = 200
MAX_WAIT_SECONDS = 60


class ListEvents(Input, frozen=True):
    """`types`: commas between, `card.lease.*` for all that begin so.

    The *live* process waits where nothing is new; the others answer at once. It also
    gives the events as a stream (`Accept: text/event-stream`, `Last-Event-ID`).
    """

    after: Annotated[
        str, Meta(description="The `cursor` of the answer before; `now`: from now on.")
    ] = ""
    types: str = ""
    board_id: UUID | None = None
    card_id: UUID | None = None
    limit: Annotated[int, Meta(ge=1, le=MAX_EVENTS)] = 100
    wait_seconds: Annotated[
        float, Meta(ge=0, le=MAX_WAIT_SECONDS, description="Until something is new.")
    ] = 0


def list_events(caller: Caller, given: ListEvents) -> EventPage:
    return reads.events(caller, wanted(given), after=given.after, limit=given.limit)


def wanted(given: ListEvents) -> reads.EventFilter:
    return reads.EventFilter(
        types=tuple(one for one in given.types.split(",") if one),
        board_id=given.board_id,
        card_id=given.card_id,
    )


OPERATIONS = (
    Operation(
        name="list_events",
        method="GET",
        path="/events",
        summary="Events in order from a cursor on; go on with `cursor`.",
        input=ListEvents,
        output=EventPage,
        call=list_events,
        scope="read",
        who="viewer",
        errors=("bad_cursor",),
    ),
)
