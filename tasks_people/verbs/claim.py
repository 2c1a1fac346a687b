"""Claim a task: the next one of a queue, or of the first of several that has one."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

import msgspec

from accounts.callers import Caller
from accounts.errors import Invalid, NotFound
from leases.errors import NotAQueue
from leases.shapes import Claim, Claimed
from leases.verbs import claim as cards
from tasks_people import queues
from tasks_people.errors import UnknownQueue
from tasks_people.queues import PEOPLE, Queue
from tasks_people.reads import task
from tasks_people.shapes import ClaimedTask, task_of_claim
from tasks_people.verbs.open_queue import open_queue

MAX_LEASE_SECONDS = 3_600
# What is worth knowing first, when no queue has anything.
_REASONS = ("waiting", "at_capacity", "paused", "drained")


def claim(
    caller: Caller,
    *,
    queue: str | list[str],
    lease_seconds: int | None = None,
    labels: Sequence[str] = (),
    skills: Sequence[str] = (),
) -> ClaimedTask:
    """Lease the next task of the first of these queues that has one; with `labels` one
    that has all of them, with `skills` one that asks for all of these. It's the very
    claim of the board: `leases.verbs.claim`.

    Left out, `lease_seconds` is what the queue's contract says: 300 unless set
    otherwise, and no end for people on the queue `people`.
    Raises Invalid, UnknownQueue, Forbidden, SeatAtCapacity.
    """
    if lease_seconds is not None and not 1 <= lease_seconds <= MAX_LEASE_SECONDS:
        detail = f"lease_seconds is 1 to {MAX_LEASE_SECONDS}."
        raise Invalid.at("/lease_seconds", "out_of_range", detail)
    empty: list[Claimed] = []
    which = {
        "lease_ttl_seconds": lease_seconds,
        "labels": labels,
        "skills": skills,
    }
    for name in queues.names_of(queue):
        home, found = _ask(caller, name, which)
        if found.card:
            return _answer(caller, found, home.name)
        empty.append(found)
    return _nothing(empty)


def made(answer: ClaimedTask) -> list[UUID]:
    """The lease in an answer, for an Idempotency-Key to remember."""
    return [answer.task.lease.id] if answer.task and answer.task.lease else []


def again(caller: Caller, ids: Sequence[UUID]) -> ClaimedTask:
    """The same lease and receipt for a repeated Idempotency-Key, the task as it is."""
    found = cards.again(caller, ids, many=False)
    if not found.card:
        raise NotFound("What this Idempotency-Key made is gone.")
    return ClaimedTask(
        task=task(caller, task_id=found.card.id),
        server_time=found.server_time,
        lease_token=found.lease_token or msgspec.UNSET,
        replayed=True,
    )


def _ask(caller: Caller, name: str, which: dict[str, Any]) -> tuple[Queue, Claimed]:
    home = open_queue(caller, name) if name == PEOPLE else queues.seen(caller, name)
    try:
        return home, _claim(caller, home, which)
    except (NotAQueue, NotFound):
        # The name is another column's by now, or nobody's.
        queues.forget()
        home = queues.seen(caller, name)
    try:
        return home, _claim(caller, home, which)
    except (NotAQueue, NotFound):
        raise UnknownQueue(name) from None


def _claim(caller: Caller, home: Queue, which: dict[str, Any]) -> Claimed:
    return cards.claim(
        caller, board_id=home.board_id, column_id=home.column_id, **which
    )


def _answer(caller: Caller, found: Claimed, queue: str) -> ClaimedTask:
    assert found.card
    assert found.lease
    assert found.lease_token
    claim = Claim(found.lease, found.lease_token, found.card)
    return ClaimedTask(
        task=task_of_claim(caller, claim, queue),
        server_time=found.server_time,
        lease_token=found.lease_token,
    )


def _nothing(empty: Sequence[Claimed]) -> ClaimedTask:
    reasons = {str(one.reason) for one in empty}
    waits = [
        one.retry_after_seconds
        for one in empty
        if isinstance(one.retry_after_seconds, float)
    ]
    return ClaimedTask(
        task=None,
        server_time=empty[-1].server_time,
        reason=next((one for one in _REASONS if one in reasons), "drained"),
        retry_after_seconds=min(waits) if waits else None,
    )
