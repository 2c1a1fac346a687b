"""What the holder of a task does: heartbeat, complete, fail, give back.

They are the verbs of the lease, found by the task. The receipt may be left out: then it
must be the credential that claimed which calls (design section 3); a person is their
own credential, by whatever door they come.
"""

from collections.abc import Callable
from typing import Any
from uuid import UUID

from accounts.callers import Caller
from accounts.errors import FieldError
from boards.verbs.moving import card_seen
from leases.errors import LeaseLost, OutputRejected
from leases.models import Lease
from leases.shapes import Ended
from leases.tokens import is_receipt, receipt
from leases.verbs import give_back as giving
from leases.verbs.complete import complete as complete_lease
from leases.verbs.renew import renew
from tasks_people.errors import NotHeld
from tasks_people.reads import task
from tasks_people.shapes import Heartbeat, TaskAnswer

# Looked through for the lease that a receipt belongs to.
_LATEST = 50


def heartbeat(
    caller: Caller,
    *,
    task_id: UUID,
    lease_token: str | None = None,
    lease_seconds: int | None = None,
    doing: str | None = None,
) -> Heartbeat:
    """Keep the task a while longer; `doing` is a line of progress. Silent. Raises
    NotFound, NotHeld, Invalid."""
    found = _with_lease(
        caller,
        task_id,
        lease_token,
        lambda held: renew(
            caller, **held, lease_ttl_seconds=lease_seconds, doing=doing
        ),
    )
    return Heartbeat(
        id=task_id,
        expires_at=found.expires_at,
        server_time=found.server_time,
        cancel_requested=found.cancel_requested,
        cancel=found.cancel,
        comments=found.comments,
    )


def complete(
    caller: Caller, *, task_id: UUID, lease_token: str | None = None, result: Any = None
) -> TaskAnswer:
    """Done, with a result. Repeated: the first result, `replayed`.

    Raises NotFound, NotHeld, OutputRejected (the task stays with its holder).
    """
    try:
        ended = _with_lease(
            caller,
            task_id,
            lease_token,
            lambda held: complete_lease(caller, **held, output=result),
        )
    except OutputRejected as error:
        raise OutputRejected(errors=[_of_result(one) for one in error.errors]) from None
    return _answer(caller, ended)


def fail(
    caller: Caller,
    *,
    task_id: UUID,
    lease_token: str | None = None,
    error: str = "",
    retry: bool = False,
    retry_after_seconds: float | None = None,
) -> TaskAnswer:
    """It couldn't be done. With `retry` and attempts left it opens again, behind the
    queue's backoff or `retry_after_seconds`. Raises NotFound, NotHeld, Invalid."""
    ended = _with_lease(
        caller,
        task_id,
        lease_token,
        lambda held: giving.fail(
            caller,
            **held,
            reason=error,
            requeue=retry,
            retry_after_seconds=retry_after_seconds,
        ),
    )
    return _answer(caller, ended)


def give_back(
    caller: Caller, *, task_id: UUID, lease_token: str | None = None, note: str = ""
) -> TaskAnswer:
    """Open again for anybody, the attempt not counted; `note` is for the next holder.
    Raises NotFound, NotHeld, Invalid."""
    ended = _with_lease(
        caller,
        task_id,
        lease_token,
        lambda held: giving.release(caller, **held, note=note),
    )
    return _answer(caller, ended)


def is_theirs(caller: Caller, lease: Lease) -> bool:
    """Whether the caller claimed it: by this very credential, or as this person."""
    if lease.holder_id != caller.actor_id:
        return False
    return caller.kind == "person" or lease.token_id == caller.token_id


def _with_lease[T](
    caller: Caller,
    task_id: UUID,
    lease_token: str | None,
    verb: Callable[[dict[str, Any]], T],
) -> T:
    """The verb on the caller's latest lease of this task. Raises NotHeld, telling the
    task's present state."""
    card_seen(caller, task_id)
    leases = Lease.objects.filter(card_id=task_id).order_by("-acquired_at")
    for lease in leases.defer("output", "reason", "note")[:_LATEST]:
        nonce = bytes(lease.nonce)
        mine = (
            is_theirs(caller, lease)
            if lease_token is None
            else is_receipt(lease_token, lease.pk, nonce)
        )
        if mine:
            held = {"lease_id": lease.pk, "lease_token": receipt(lease.pk, nonce)}
            break
    else:
        raise not_held(caller, task_id)
    try:
        return verb(held)
    except LeaseLost as lost:
        raise not_held(caller, task_id, lost.facts.get("lease_state")) from lost


def not_held(caller: Caller, task_id: UUID, lease_state: Any = None) -> NotHeld:
    return NotHeld(
        task=task(caller, task_id=task_id),
        lease_state=lease_state,
        next="Stop working on this task and claim again.",
    )


def _answer(caller: Caller, ended: Ended) -> TaskAnswer:
    return TaskAnswer(task(caller, task_id=ended.card.id), replayed=ended.replayed)


def _of_result(error: FieldError) -> FieldError:
    pointer = error.pointer.replace("/output", "/result", 1)
    return FieldError(pointer, error.code, error.detail)
