"""What happened: the event feed, and the same read backwards."""

from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID

from msgspec import Meta

from accounts.callers import Caller
from accounts.pages import Page, size_of
from accounts.told import MAX_HANDLE_CHARACTERS
from boards import activity, reads
from boards.activity import ActivityFilter
from boards.reads import EventPage
from boards.shapes import EventShape
from novum.operations.operation import Input, Operation, PageInput

MAX_EVENTS = 200
MAX_WAIT_SECONDS = 60
Types = Annotated[str, Meta(max_length=2_000)]


class ListEvents(Input, frozen=True):
    """`types`: commas between, `card.lease.*` for all that begin so.

    The *live* process waits where nothing is new; the others answer at once. It also
    gives the events as a stream (`Accept: text/event-stream`, `Last-Event-ID`).
    """

    after: Annotated[
        str, Meta(description="The `cursor` of the answer before; `now`: from now on.")
    ] = ""
    types: Types = ""
    board_id: UUID | None = None
    card_id: UUID | None = None
    limit: Annotated[int, Meta(ge=1, le=MAX_EVENTS)] = 100
    wait_seconds: Annotated[
        float, Meta(ge=0, le=MAX_WAIT_SECONDS, description="Until something is new.")
    ] = 0


Moment = Annotated[datetime, Meta(tz=True)]


class ListActivity(PageInput, frozen=True):
    types: Annotated[
        Types, Meta(description="Commas between; `card.lease.*`: all that begin so.")
    ] = ""
    kind: Annotated[
        Literal["people", "agents"] | None, Meta(description="Who did it.")
    ] = None
    actor: Annotated[
        str, Meta(max_length=MAX_HANDLE_CHARACTERS, description="A handle.")
    ] = ""
    board_id: UUID | None = None
    card_id: UUID | None = None
    since: Moment | None = None
    until: Moment | None = None


def list_activity(caller: Caller, given: ListActivity) -> Page[EventShape]:
    """For looking back, and for an export: go on until `next_page_token` is empty. A
    page may have fewer items than asked for, even none, and go on, where few events fit
    among many. Events that commit at this moment can come in a little below the top: to
    miss none, follow `list_events`."""
    wanted = ActivityFilter(
        types=tuple(one for one in given.types.split(",") if one),
        kind=given.kind,
        actor=given.actor or None,
        board_id=given.board_id,
        card_id=given.card_id,
        since=given.since,
        until=given.until,
    )
    limit = size_of(given.page_size)
    found = activity.activity(caller, wanted, before=given.page_token, limit=limit)
    return Page(reads.event_shapes(found.items), found.before or "")


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
    Operation(
        name="list_activity",
        method="GET",
        path="/activity",
        summary="What happened, the latest first, by who, what, where and when.",
        input=ListActivity,
        output=Page[EventShape],
        call=list_activity,
        scope="read",
        who="viewer",
        errors=("bad_cursor",),
    ),
)
