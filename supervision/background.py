"""What the worker does on its own for those who supervise."""

from typing import Any

from celery import shared_task
from django.conf import settings

from leases.verbs.letters import adopt
from supervision.bulk.running import run_some
from supervision.verbs.forget import forget_minutes
from supervision.verbs.roll_up import roll_up_all

_ROLL_UP_SECONDS = 5.0
_FORGET_SECONDS = 3600.0
_BULK_SECONDS = 1.0
# A turn is short, so that a worker that is told to end needn't wait.
_BULK_TURN_SECONDS = 5.0
_ADOPT_SECONDS = 60.0

TIMETABLE: dict[str, dict[str, Any]] = {
    "roll-up": {
        "task": "supervision.background.roll_up",
        "schedule": _ROLL_UP_SECONDS,
        "options": {"expires": _ROLL_UP_SECONDS * 2},
    },
    "forget-minutes": {
        "task": "supervision.background.forget",
        "schedule": _FORGET_SECONDS,
        "options": {"expires": _FORGET_SECONDS},
    },
    "bulk-actions": {
        "task": "supervision.background.run_bulk_actions",
        "schedule": _BULK_SECONDS,
        "options": {"expires": _BULK_SECONDS},
    },
    "dead-letters": {
        "task": "supervision.background.adopt_dead_letters",
        "schedule": _ADOPT_SECONDS,
        "options": {"expires": _ADOPT_SECONDS},
    },
}


@shared_task(name="supervision.background.run_bulk_actions")
def run_bulk_actions() -> int:
    return run_some(_BULK_TURN_SECONDS)


@shared_task(name="supervision.background.adopt_dead_letters")
def adopt_dead_letters() -> int:
    return adopt()


@shared_task(name="supervision.background.roll_up")
def roll_up() -> int:
    return roll_up_all()


@shared_task(name="supervision.background.forget")
def forget() -> int:
    return forget_minutes(settings.STATS_RETENTION_DAYS)
