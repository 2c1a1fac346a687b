"""Queues as those see them who look after them: figures, pause and resume."""

from typing import Annotated, Literal
from uuid import UUID

import msgspec
from msgspec import Meta

from accounts.callers import Caller
from accounts.pages import Page
from accounts.told import told
from leases.contract import (
    MAX_LEASE_SECONDS,
    MAX_PAUSE_CHARACTERS,
    MAX_QUEUE_CHARACTERS,
)
from leases.verbs import pause as pausing
from novum.operations.operation import Input, Operation
from supervision.stats import detail, queues
from supervision.stats.shapes import QueueDetail, QueueStats


class ListQueueStats(Input, frozen=True):
    last_hour: Annotated[
        bool, Meta(description="With what happened in each of the last 60 minutes.")
    ] = False


class QueueInput(Input, frozen=True):
    queue: Annotated[
        str,
        Meta(max_length=MAX_QUEUE_CHARACTERS, description="Its name (tasks.queues)."),
    ]


class GetQueueStats(QueueInput, frozen=True):
    span: Literal["1h", "24h", "7d", "30d"] = "1h"
    lease_seconds: (
        Annotated[
            int,
            Meta(ge=1, le=MAX_LEASE_SECONDS, description="Try this lease length, too."),
        ]
        | None
    ) = None


class PauseQueue(QueueInput, frozen=True):
    reason: Annotated[
        str,
        told(maxLength=MAX_PAUSE_CHARACTERS),
        Meta(description="Shown on the board and with the queue."),
    ] = ""


def list_queue_stats(caller: Caller, given: ListQueueStats) -> Page[QueueStats]:
    """Of all boards that the caller can see. `depth` can be claimed now, `waiting` only
    later, `misfits` not at all. A queue with a depth whose `asked_at` is minutes old has
    no worker; one with `lapsed` has holders that went silent."""
    found = queues.queue_stats(caller)
    if not given.last_hour:
        found = [msgspec.structs.replace(one, last_hour=None) for one in found]
    return Page(found)


def get_queue_stats(caller: Caller, given: GetQueueStats) -> QueueDetail:
    """`lease_lengths` says how many of a hundred leases of the last week would have
    lapsed with another length: `at_least` those that were never renewed and took
    longer, and those that did lapse; `at_most` also those whose holder was silent for
    so long between heartbeats (a worker that sends them by the length would have sent
    more)."""
    _, column_id = queues.column_of(caller, given.queue)
    return detail.queue_detail(
        caller,
        column_id=column_id,
        span=given.span,
        lease_seconds=given.lease_seconds,
    )


def pause_queue(caller: Caller, given: PauseQueue) -> QueueStats:
    """No card of it is claimed until `resume_queue`; whoever holds one may finish. So
    this drains it, too: read get_queue_stats until `state` is paused and `working` 0."""
    board_id, column_id = queues.column_of(caller, given.queue)
    pausing.pause(caller, board_id=board_id, column_id=column_id, reason=given.reason)
    return _as_it_stands(caller, column_id)


def resume_queue(caller: Caller, given: QueueInput) -> QueueStats:
    """Repeated it changes nothing that anybody would notice."""
    board_id, column_id = queues.column_of(caller, given.queue)
    pausing.resume(caller, board_id=board_id, column_id=column_id)
    return _as_it_stands(caller, column_id)


def _as_it_stands(caller: Caller, column_id: UUID) -> QueueStats:
    found = queues.one_queue(caller, column_id=column_id)
    return msgspec.structs.replace(found, last_hour=None)


_QUEUE = "/queues/{queue}"

OPERATIONS = (
    Operation(
        name="list_queue_stats",
        method="GET",
        path="/queues/stats",
        summary="Every queue: depth, who works, how fast, how long things wait.",
        input=ListQueueStats,
        output=Page[QueueStats],
        call=list_queue_stats,
        scope="read",
        who="anybody",
    ),
    Operation(
        name="get_queue_stats",
        method="GET",
        path=f"{_QUEUE}/stats",
        summary="One queue over an hour, a day, a week or a month, and by holder.",
        input=GetQueueStats,
        output=QueueDetail,
        call=get_queue_stats,
        scope="read",
        who="viewer",
    ),
    Operation(
        name="pause_queue",
        method="POST",
        path=f"{_QUEUE}:pause",
        summary="Offer no card of a queue to anybody; what is held may be finished.",
        input=PauseQueue,
        output=QueueStats,
        call=pause_queue,
        scope="manage",
        who="manager",
    ),
    Operation(
        name="resume_queue",
        method="POST",
        path=f"{_QUEUE}:resume",
        summary="Offer the cards of a paused queue again.",
        input=QueueInput,
        output=QueueStats,
        call=resume_queue,
        scope="manage",
        who="manager",
    ),
)
