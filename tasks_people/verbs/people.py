"""What people do with a task: start, decline, call off."""

from uuid import UUID

from django.db import transaction

from accounts.anew import begins_anew
from accounts.callers import Caller
from accounts.errors import Invalid
from boards.verbs.moving import card_seen
from leases.errors import NotClaimable
from leases.models import Lease
from leases.tokens import receipt
from leases.verbs.cancel import request_cancel
from leases.verbs.claim_card import claim_card
from leases.verbs.give_back import fail
from tasks_people.errors import AlreadyHeld
from tasks_people.reads import task
from tasks_people.shapes import StartedTask, TaskAnswer
from tasks_people.verbs import hold


def start(caller: Caller, *, task_id: UUID) -> StartedTask:
    """Take this very task, whatever its place in line. For a person it never lapses.
    Whoever has it
    already gets it again.

    Raises NotFound, Forbidden, AlreadyHeld (naming who has it), NotClaimable.
    """
    seen = card_seen(caller, task_id)
    lease = Lease.objects.filter(pk=seen.lease_id).first() if seen.lease_id else None
    if lease is not None and hold.is_theirs(caller, lease):
        token = receipt(lease.pk, bytes(lease.nonce))
        return StartedTask(task(caller, task_id=task_id), token, replayed=True)
    try:
        claimed = claim_card(caller, card_id=task_id)
    except NotClaimable as refused:
        raise _why(caller, task_id, refused) from refused
    assert claimed.lease_token
    return StartedTask(task(caller, task_id=task_id), claimed.lease_token)


@begins_anew
@transaction.atomic
def decline(caller: Caller, *, task_id: UUID, reason: str) -> TaskAnswer:
    """Say no to a task, and why: it has failed, and whoever created it hears so. It
    needn't have been started. Raises NotFound, Forbidden, Invalid, AlreadyHeld."""
    if not reason.strip():
        raise Invalid.at("/reason", "blank", "Say why.")
    seen = card_seen(caller, task_id)
    if seen.is_claimed() and seen.holder_id == caller.actor_id:
        return hold.fail(caller, task_id=task_id, error=reason)
    try:
        taken = claim_card(caller, card_id=task_id)
    except NotClaimable as refused:
        raise _why(caller, task_id, refused) from refused
    assert taken.lease
    assert taken.lease_token
    fail(
        caller,
        lease_id=taken.lease.id,
        lease_token=taken.lease_token,
        reason=reason,
        requeue=False,
    )
    return TaskAnswer(task(caller, task_id=task_id))


def cancel(caller: Caller, *, task_id: UUID, reason: str = "") -> TaskAnswer:
    """Call a task off: its creator, or managers. Whoever works on it is asked to stop
    with their next heartbeat and loses it with the call after that.

    Raises NotFound, Forbidden, NotCancellable (it has ended), Invalid.
    """
    request_cancel(caller, card_id=task_id, reason=reason)
    return TaskAnswer(task(caller, task_id=task_id))


def _why(caller: Caller, task_id: UUID, refused: NotClaimable) -> Exception:
    """Who has it, where somebody has; the rule itself otherwise."""
    now = task(caller, task_id=task_id)
    if now.lease is None:
        return refused
    return AlreadyHeld(f"{now.lease.holder} is working on this task.", task=now)
