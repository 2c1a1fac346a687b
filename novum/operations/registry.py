"""All operations, in the order in which the document shows them."""

from novum.operations import (
    agents,
    boards,
    cards,
    columns,
    comments,
    dead_letters,
    events,
    findings,
    fleet,
    leases,
    me,
    messages,
    needs,
    people,
    queues,
    tasks,
    transfer,
    workspaces,
)
from novum.operations.operation import Operation
from novum.parts import parts

OPERATIONS: tuple[Operation, ...] = (
    *leases.OPERATIONS,
    *cards.OPERATIONS,
    *comments.OPERATIONS,
    *boards.OPERATIONS,
    *columns.OPERATIONS,
    *agents.OPERATIONS,
    *events.OPERATIONS,
    *needs.OPERATIONS,
    *fleet.OPERATIONS,
    *queues.OPERATIONS,
    *dead_letters.OPERATIONS,
    *tasks.OPERATIONS,
    *messages.OPERATIONS,
    *me.OPERATIONS,
    *people.OPERATIONS,
    *workspaces.OPERATIONS,
    *findings.OPERATIONS,
    *transfer.OPERATIONS,
    *(one for part in parts("operations") for one in part.OPERATIONS),
)
