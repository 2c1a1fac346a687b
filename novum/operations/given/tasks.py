"""What operations on tasks take."""

from typing import Annotated, Any, Literal
from uuid import UUID

from msgspec import Meta

from accounts.skills import Skills
from accounts.told import told
from boards.verbs.fields import Description, Labels
from leases.contract import MAX_BACKOFF_SECONDS, MAX_QUEUE_CHARACTERS, QUEUE_NAME
from leases.verbs.reasons import MAX_REASON_CHARACTERS
from novum.operations.given.cards import At, Handle, LabelList, Priority, Title
from novum.operations.given.leases import Doing, WantedLabels
from novum.operations.operation import (
    Input,
    PageInput,
    WaitSeconds,
)
from tasks_people.queues import MAX_QUEUES_PER_CALL
from tasks_people.verbs.claim import MAX_LEASE_SECONDS

Queue = Annotated[
    str,
    Meta(
        max_length=MAX_QUEUE_CHARACTERS,
        description="A queue's name; made at its first use.",
    ),
    told(pattern=f"^{QUEUE_NAME}$"),
]
_OneQueue = Annotated[str, Meta(max_length=MAX_QUEUE_CHARACTERS)]
_QueueList = Annotated[
    str, Meta(max_length=MAX_QUEUES_PER_CALL * (MAX_QUEUE_CHARACTERS + 1))
]
Queues = Annotated[
    _QueueList
    | Annotated[list[_OneQueue], Meta(min_length=1, max_length=MAX_QUEUES_PER_CALL)],
    Meta(description="One queue, or several in order (a list, or commas between)."),
]
LeaseSeconds = Annotated[
    int,
    Meta(
        ge=1,
        le=MAX_LEASE_SECONDS,
        description="Left out: what the queue's contract says, 300 unless set.",
    ),
]
Receipt = Annotated[
    str,
    Meta(
        description="The receipt that the claim answered with. Left out: it must be the"
        " credential that claimed which calls."
    ),
]


Reason = Annotated[str, Meta(max_length=MAX_REASON_CHARACTERS)]
# The same length; the verb refuses it.
Text = Annotated[str, told(maxLength=MAX_REASON_CHARACTERS)]


class TaskInput(Input, frozen=True):
    id: UUID


class CreateTask(Input, frozen=True):
    """`parent` is the task that this one is a part of; agents get it only if they have
    all of `skills`."""

    title: Title
    queue: Queue
    description: Description = ""
    priority: Priority = 3
    payload: Any = None
    assignee: Handle | None = None
    due: At | None = None
    not_before: At | None = None
    labels: Labels = []
    parent: UUID | None = None
    skills: Skills = []


class ClaimTask(Input, frozen=True):
    queue: Queues
    lease_seconds: LeaseSeconds | None = None
    labels: Annotated[
        WantedLabels, Meta(description="Only tasks with all of these.")
    ] = []
    skills: Annotated[
        Skills, Meta(description="Only tasks that ask for all of these.")
    ] = []
    wait_seconds: WaitSeconds = 0


class HeldTask(TaskInput, frozen=True):
    lease_token: Receipt | None = None


class HeartbeatTask(HeldTask, frozen=True):
    lease_seconds: LeaseSeconds | None = None
    doing: Doing | None = None


class CompleteTask(HeldTask, frozen=True):
    result: Any = None


class FailTask(HeldTask, frozen=True):
    error: Reason = ""
    retry: Annotated[
        bool, Meta(description="Back to open, if there are attempts left.")
    ] = False
    retry_after_seconds: (
        Annotated[
            float,
            Meta(ge=0, le=MAX_BACKOFF_SECONDS, description="Instead of the backoff."),
        ]
        | None
    ) = None


class GiveBackTask(HeldTask, frozen=True):
    note: Annotated[Text, Meta(description="For the next holder.")] = ""


class DeclineTask(TaskInput, frozen=True):
    reason: Reason


class CancelTask(TaskInput, frozen=True):
    reason: Reason = ""


class ListTasks(PageInput, frozen=True):
    """`sort`: priority (claim order), age (oldest first) or updated (latest first)."""

    queue: Queue | None = None
    state: Literal["open", "claimed", "done", "failed"] | None = None
    assignee: Handle | None = None
    created_by: Handle | None = None
    parent: UUID | None = None
    labels: Annotated[LabelList, Meta(description="Commas between; all of them.")] = ""
    sort: Literal["priority", "age", "updated"] = "updated"


class PrioritizeTask(TaskInput, frozen=True):
    priority: Priority


class ReorderTask(TaskInput, frozen=True):
    """`before` or `after` another task of its queue, whose priority it takes, or at an
    end (of its own priority)."""

    before: UUID | None = None
    after: UUID | None = None
    position: Literal["top", "bottom"] | None = None


class AssignTask(TaskInput, frozen=True):
    """Null: anybody may take it."""

    assignee: Handle | None
