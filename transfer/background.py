"""Large imports and housekeeping, as shells for Celery."""

from typing import Any

from celery import shared_task

from transfer.verbs.carry_out import carry_out_next
from transfer.verbs.imports import forget_files

_LOOK_SECONDS, _FORGET_SECONDS = 2.0, 600.0

TIMETABLE: dict[str, dict[str, Any]] = {
    "carry-out-imports": {
        "task": "transfer.background.carry_out",
        "schedule": _LOOK_SECONDS,
        "options": {"expires": _LOOK_SECONDS * 2},
    },
    "forget-files": {
        "task": "transfer.background.forget",
        "schedule": _FORGET_SECONDS,
        "options": {"expires": _FORGET_SECONDS},
    },
}


@shared_task(name="transfer.background.carry_out")
def carry_out() -> bool:
    return carry_out_next()


@shared_task(name="transfer.background.forget")
def forget() -> None:
    forget_files()
