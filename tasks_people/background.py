"""The loops' shells for Celery. Whoever pulls their messages gathers for themselves."""

from typing import Any

from celery import shared_task
from django.conf import settings

from tasks_people.verbs.digest import send_digests
from tasks_people.verbs.gather import gather_all
from tasks_people.verbs.housekeeping import forget_messages

_GATHER_SECONDS = 2.0
_LOOK_AFTER_SECONDS = 60.0

TIMETABLE: dict[str, dict[str, Any]] = {
    "gather-messages": {
        "task": "tasks_people.background.gather",
        "schedule": _GATHER_SECONDS,
        "options": {"expires": _GATHER_SECONDS * 2},
    },
    "look-after-messages": {
        "task": "tasks_people.background.look_after",
        "schedule": _LOOK_AFTER_SECONDS,
        "options": {"expires": _LOOK_AFTER_SECONDS},
    },
}


@shared_task(name="tasks_people.background.gather")
def gather() -> int:
    return gather_all()


@shared_task(name="tasks_people.background.look_after")
def look_after() -> None:
    send_digests()
    forget_messages(settings.MESSAGE_RETENTION_DAYS)
