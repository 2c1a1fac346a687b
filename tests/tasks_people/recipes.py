"""Calls of the operations on tasks and messages that work (see tests/doors/recipes)."""

from typing import Any

from accounts.callers import Caller
from leases.models import Contract
from tasks_people.verbs.messages import send
from tests.builders import World


def _queue(world: World) -> str:
    name: str = Contract.objects.values_list("queue", flat=True).get(pk=world.queue)
    return name


def _task(world: World, by: Caller | None) -> dict[str, Any]:
    return {"id": world.add()}


def _held(world: World, by: Caller | None) -> dict[str, Any]:
    world.add()
    held = world.claim()
    return {"id": held.card.id, "lease_token": held.lease_token}


def _ready(world: World, by: Caller | None) -> dict[str, Any]:
    world.add()
    return {"queue": _queue(world)}


def _nothing(world: World, by: Caller | None) -> dict[str, Any]:
    return {}


def _told(world: World, by: Caller | None) -> dict[str, Any]:
    """Somebody has told them something, wherever they are."""
    for number in range(2 if by else 0):
        send(by, to=by.handle, topic="plans", payload=number)
    return {}


def _message(world: World, by: Caller | None) -> dict[str, Any]:
    return {"to": (by or world.owner).handle, "topic": "plans"}


RECIPES = {
    "tasks.create": lambda world, by: {"title": "New", "queue": "people"},
    "tasks.claim": _ready,
    "tasks.heartbeat": _held,
    "tasks.complete": _held,
    "tasks.fail": _held,
    "tasks.give_back": _held,
    "tasks.get": _task,
    "tasks.list": _nothing,
    "tasks.prioritize": lambda world, by: {**_task(world, by), "priority": 1},
    "tasks.reorder": lambda world, by: {**_task(world, by), "position": "top"},
    "tasks.assign": lambda world, by: {
        **_task(world, by),
        "assignee": world.worker.handle,
    },
    "tasks.start": _task,
    "tasks.decline": lambda world, by: {**_task(world, by), "reason": "No time."},
    "tasks.cancel": _task,
    "tasks.queues": _nothing,
    # So that there's something left for a second one.
    "msg.pull": lambda world, by: {**_told(world, by), "limit": 1},
    "msg.send": _message,
    "msg.topics": _nothing,
    "msg.list": _nothing,
    "msg.mark_read": _told,
    "msg.mail": _nothing,
    "msg.set_mail": lambda world, by: {"muted": ["mentioned"]},
}
