"""Tasks: cards by the name of their queue, for agents and for people."""

from collections.abc import Sequence
from uuid import UUID

import msgspec

from accounts.callers import Caller
from accounts.pages import Page
from accounts.skills import skills_of
from boards.verbs.places import Place
from leases.lookout import Wanted
from novum.operations.given.tasks import (
    AssignTask,
    CancelTask,
    ClaimTask,
    CompleteTask,
    CreateTask,
    DeclineTask,
    FailTask,
    GiveBackTask,
    HeartbeatTask,
    ListTasks,
    PrioritizeTask,
    ReorderTask,
    TaskInput,
)
from novum.operations.operation import (
    NoInput,
    Operation,
    Remembers,
)
from tasks_people import queues, reads
from tasks_people.listing import STATES, TaskFilter
from tasks_people.shapes import (
    ClaimedTask,
    Heartbeat,
    QueueShape,
    StartedTask,
    TaskAnswer,
    TaskShape,
)
from tasks_people.verbs import claim as claiming
from tasks_people.verbs import create, hold, order, people


def answer(caller: Caller, task_id: UUID) -> TaskAnswer:
    return TaskAnswer(reads.task(caller, task_id=task_id))


def tasks_create(caller: Caller, given: CreateTask) -> TaskAnswer:
    """A queue that doesn't exist is made, on the workspace's Tasks board."""
    fields = msgspec.structs.asdict(given)
    return answer(caller, create.create(caller, **fields))


def tasks_claim(caller: Caller, given: ClaimTask) -> ClaimedTask:
    """The task is the caller's alone until the lease ends: send heartbeats."""
    return claiming.claim(
        caller,
        queue=given.queue,
        lease_seconds=given.lease_seconds,
        labels=given.labels,
        skills=given.skills,
    )


def claim_waits(caller: Caller, given: ClaimTask) -> Wanted:
    homes = [queues.seen(caller, name) for name in queues.names_of(given.queue)]
    return Wanted(
        workspace_id=caller.workspace_id,
        actor_id=caller.actor_id,
        places=tuple((one.board_id, one.column_id) for one in homes),
        skills=caller.skills,
        labels=frozenset(given.labels),
        asking=frozenset(skills_of(given.skills, "/skills")),
    )


def claim_again(caller: Caller, given: ClaimTask, ids: Sequence[UUID]) -> ClaimedTask:
    return claiming.again(caller, ids)


def tasks_heartbeat(caller: Caller, given: HeartbeatTask) -> Heartbeat:
    """The caller must hold the task; otherwise 409 with its present state."""
    return hold.heartbeat(
        caller,
        task_id=given.id,
        lease_token=given.lease_token,
        lease_seconds=given.lease_seconds,
        doing=given.doing,
    )


def tasks_complete(caller: Caller, given: CompleteTask) -> TaskAnswer:
    """The caller must hold the task; otherwise 409 with its present state."""
    return hold.complete(
        caller,
        task_id=given.id,
        lease_token=given.lease_token,
        result=given.result,
    )


def tasks_fail(caller: Caller, given: FailTask) -> TaskAnswer:
    """The caller must hold the task; otherwise 409 with its present state."""
    return hold.fail(
        caller,
        task_id=given.id,
        lease_token=given.lease_token,
        error=given.error,
        retry=given.retry,
        retry_after_seconds=given.retry_after_seconds,
    )


def tasks_give_back(caller: Caller, given: GiveBackTask) -> TaskAnswer:
    """The caller must hold the task; otherwise 409 with its present state."""
    return hold.give_back(
        caller, task_id=given.id, lease_token=given.lease_token, note=given.note
    )


def tasks_get(caller: Caller, given: TaskInput) -> TaskAnswer:
    return answer(caller, given.id)


def tasks_list(caller: Caller, given: ListTasks) -> Page[TaskShape]:
    wanted = TaskFilter(
        queue=given.queue,
        states=(given.state,) if given.state else STATES,
        assignee=given.assignee,
        created_by=given.created_by,
        parent=given.parent,
        labels=tuple(label for label in given.labels.split(",") if label),
    )
    return reads.tasks(
        caller,
        wanted,
        sort=given.sort,
        page_size=given.page_size,
        page_token=given.page_token,
    )


def tasks_prioritize(caller: Caller, given: PrioritizeTask) -> TaskAnswer:
    order.prioritize(caller, task_id=given.id, priority=given.priority)
    return answer(caller, given.id)


def tasks_reorder(caller: Caller, given: ReorderTask) -> TaskAnswer:
    """Not of a task that's being worked on."""
    place = Place.of(given.before, given.after, given.position) or Place(end="top")
    order.reorder(caller, task_id=given.id, place=place)
    return answer(caller, given.id)


def tasks_assign(caller: Caller, given: AssignTask) -> TaskAnswer:
    """A task that the caller has begun is given back first; one that somebody else is
    working on stays theirs (409)."""
    order.assign(caller, task_id=given.id, assignee=given.assignee)
    return answer(caller, given.id)


def tasks_start(caller: Caller, given: TaskInput) -> StartedTask:
    """Of two at once one gets it, and the other hears who has it (409)."""
    return people.start(caller, task_id=given.id)


def tasks_decline(caller: Caller, given: DeclineTask) -> TaskAnswer:
    """It needn't have been started; one that somebody else works on stays theirs."""
    return people.decline(caller, task_id=given.id, reason=given.reason)


def tasks_cancel(caller: Caller, given: CancelTask) -> TaskAnswer:
    """For a task's creator, or managers. What has ended stays: 409."""
    return people.cancel(caller, task_id=given.id, reason=given.reason)


def tasks_queues(caller: Caller, given: NoInput) -> Page[QueueShape]:
    return Page(reads.queues(caller))


_TASK = "/tasks/{id}"

OPERATIONS = (
    Operation(
        name="tasks.create",
        method="POST",
        path="/tasks",
        summary="Put a task on a queue, which is made if it doesn't exist yet.",
        input=CreateTask,
        output=TaskAnswer,
        call=tasks_create,
        scope="write",
        who="anybody",
        errors=("invalid", "unknown_queue", "not_a_queue"),
        status=201,
        remembers=Remembers(
            lambda made: [made.task.id],
            lambda caller, given, ids: answer(caller, ids[0]),
        ),
    ),
    Operation(
        name="tasks.claim",
        method="POST",
        path="/tasks:claim",
        summary="Lease the next task of a queue; null and a reason if there's none.",
        input=ClaimTask,
        output=ClaimedTask,
        call=tasks_claim,
        scope="work",
        who="editor",
        errors=("unknown_queue", "seat_at_capacity"),
        remembers=Remembers(claiming.made, claim_again),
        waits=claim_waits,
    ),
    Operation(
        name="tasks.heartbeat",
        method="POST",
        path=f"{_TASK}:heartbeat",
        summary="Keep a task a while longer during long work. Silent.",
        input=HeartbeatTask,
        output=Heartbeat,
        call=tasks_heartbeat,
        scope="work",
        who="editor",
        errors=("conflict",),
        bucket="finish",
    ),
    Operation(
        name="tasks.complete",
        method="POST",
        path=f"{_TASK}:complete",
        summary="Done: store the result; whoever created the task hears of it.",
        input=CompleteTask,
        output=TaskAnswer,
        call=tasks_complete,
        scope="work",
        who="editor",
        errors=("conflict", "output_rejected"),
        bucket="finish",
        repeatable=True,
    ),
    Operation(
        name="tasks.fail",
        method="POST",
        path=f"{_TASK}:fail",
        summary="It couldn't be done; with `retry` it opens again.",
        input=FailTask,
        output=TaskAnswer,
        call=tasks_fail,
        scope="work",
        who="editor",
        errors=("conflict",),
        bucket="finish",
        repeatable=True,
    ),
    Operation(
        name="tasks.give_back",
        method="POST",
        path=f"{_TASK}:give-back",
        summary="Give a task back untouched; the attempt doesn't count.",
        input=GiveBackTask,
        output=TaskAnswer,
        call=tasks_give_back,
        scope="work",
        who="editor",
        errors=("conflict",),
        bucket="finish",
        repeatable=True,
    ),
    Operation(
        name="tasks.get",
        method="GET",
        path=_TASK,
        summary="One task as it is now.",
        input=TaskInput,
        output=TaskAnswer,
        call=tasks_get,
        scope="read",
        who="viewer",
    ),
    Operation(
        name="tasks.list",
        method="GET",
        path="/tasks",
        summary="Tasks by queue, state, assignee or creator.",
        input=ListTasks,
        output=Page[TaskShape],
        call=tasks_list,
        scope="read",
        who="anybody",
        errors=("bad_cursor", "unknown_queue", "invalid"),
    ),
    Operation(
        name="tasks.prioritize",
        method="POST",
        path=f"{_TASK}:prioritize",
        summary="Say how important a task is: 1 comes first, 5 last.",
        input=PrioritizeTask,
        output=TaskAnswer,
        call=tasks_prioritize,
        scope="write",
        who="editor",
        errors=("invalid",),
        repeatable=True,
    ),
    Operation(
        name="tasks.reorder",
        method="POST",
        path=f"{_TASK}:reorder",
        summary="Put a task before or after another one, or first.",
        input=ReorderTask,
        output=TaskAnswer,
        call=tasks_reorder,
        scope="write",
        who="editor",
        errors=("invalid", "card_held"),
    ),
    Operation(
        name="tasks.assign",
        method="POST",
        path=f"{_TASK}:assign",
        summary="Hand a task to a person or an agent, or to anybody.",
        input=AssignTask,
        output=TaskAnswer,
        call=tasks_assign,
        scope="write",
        who="editor",
        errors=("invalid", "conflict"),
        repeatable=True,
    ),
    Operation(
        name="tasks.start",
        method="POST",
        path=f"{_TASK}:start",
        summary="Take this very task; for people it never lapses.",
        input=TaskInput,
        output=StartedTask,
        call=tasks_start,
        scope="work",
        who="editor",
        errors=("conflict", "not_claimable", "seat_at_capacity"),
        repeatable=True,
    ),
    Operation(
        name="tasks.decline",
        method="POST",
        path=f"{_TASK}:decline",
        summary="Say no to a task, and why; whoever created it hears of it.",
        input=DeclineTask,
        output=TaskAnswer,
        call=tasks_decline,
        scope="work",
        who="editor",
        errors=("invalid", "conflict", "not_claimable", "seat_at_capacity"),
    ),
    Operation(
        name="tasks.cancel",
        method="POST",
        path=f"{_TASK}:cancel",
        summary="Call a task off; whoever works on it is asked to stop.",
        input=CancelTask,
        output=TaskAnswer,
        call=tasks_cancel,
        scope="write",
        who="manager",
        errors=("not_cancellable", "invalid"),
        repeatable=True,
        destroys=True,
    ),
    Operation(
        name="tasks.queues",
        method="GET",
        path="/queues",
        summary="The queues there are, with how much is open and claimed.",
        input=NoInput,
        output=Page[QueueShape],
        call=tasks_queues,
        scope="read",
        who="anybody",
    ),
)
