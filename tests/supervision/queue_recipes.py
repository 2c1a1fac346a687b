"""Calls of the operations on queues that work (see tests/doors/recipes)."""

from typing import Any

from accounts.callers import Caller
from leases.models import Contract
from tests.builders import World


def _queue(world: World, by: Caller | None) -> dict[str, Any]:
    names = Contract.objects.values_list("queue", flat=True)
    return {"queue": names.get(pk=world.queue)}


RECIPES = {
    "list_queue_stats": lambda world, by: {},
    "get_queue_stats": _queue,
    "pause_queue": lambda world, by: {**_queue(world, by), "reason": "Later."},
    "resume_queue": _queue,
}
