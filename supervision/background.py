"""What the worker does on its own for those who supervise."""

from typing import Any

from celery import shared_task
from django.conf import settings

from supervision.verbs.forget import forget_minutes
from supervision.verbs.roll_up import roll_up_all

_ROLL_UP_SECONDS = 5.0
_FORGET_SECONDS = 3600.0

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
}


@shared_task(name="supervision.background.roll_up")
def roll_up() -> int:
    return roll_up_all()


@shared_task(name="supervision.background.forget")
def forget() -> int:
    return forget_minutes(settings.STATS_RETENTION_DAYS)
