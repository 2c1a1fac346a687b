"""All operations, in the order in which the document shows them."""

from novum.operations import agents, boards, cards, columns, events, leases, me, tasks
from novum.operations.operation import Operation

OPERATIONS: tuple[Operation, ...] = (
    *leases.OPERATIONS,
    *cards.OPERATIONS,
    *boards.OPERATIONS,
    *columns.OPERATIONS,
    *agents.OPERATIONS,
    *events.OPERATIONS,
    *tasks.OPERATIONS,
    *me.OPERATIONS,
)
