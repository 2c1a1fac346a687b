"""What happened: the event feed."""

from typing import Annotated
from uuid import UUID

from msgspec import Meta

from accounts.callers import Caller
from boards import reads
from boards.reads import EventPage
from novum.operations.operation import Input, Operation

MAX_EVENTS = 200


class ListEvents(Input, frozen=True):
    """`types`: commas between, `card.lease.*` for all that begin so."""

    after: Annotated[
        str, Meta(description="The `cursor` of the answer before; `now`: from now on.")
    ] = ""
    types: str = ""
    board_id: UUID | None = None
    card_id: UUID | None = None
    limit: Annotated[int, Meta(ge=1, le=MAX_EVENTS)] = 100


def list_events(caller: Caller, given: ListEvents) -> EventPage:
    wanted = reads.EventFilter(
        types=tuple(one for one in given.types.split(",") if one),
        board_id=given.board_id,
        card_id=given.card_id,
    )
    return reads.events(caller, wanted, after=given.after, limit=given.limit)


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
