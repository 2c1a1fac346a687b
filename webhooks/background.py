"""The loops' shells for Celery. `manage.py deliver` does the same without it.

One run of the delivery loop at a time and deployment (or as many as
NOVUM_WEBHOOK_LOOPS says): beat asks each second, and who finds the lock taken goes
home. The lock is the database session's, so it ends with a killed worker.
"""

import multiprocessing
from typing import Any

from celery import shared_task
from celery.signals import worker_shutting_down
from django.db import connection

from supervision import loops
from webhooks import conf, loop
from webhooks.models import Endpoint
from webhooks.verbs.forget import forget as forget_once
from webhooks.verbs.switch_off import switch_off_orphaned

LOCK = 0x6E6F7675  # "novu": any number that nobody else takes

TIMETABLE: dict[str, dict[str, Any]] = {
    loop.NAME: {
        "task": "webhooks.background.deliver",
        "schedule": 1.0,
        "options": {"expires": 1.0},
    },
    "webhooks-look-after": {
        "task": "webhooks.background.look_after",
        "schedule": 60.0,
        "options": {"expires": 60.0},
    },
}

# The job that finds another at it goes home, which says nothing of the loop.
TELL_THEMSELVES = (loop.NAME,)

# Made before Celery forks, so that its children hear of the end.
_ending = multiprocessing.get_context("fork").Event()


@worker_shutting_down.connect
def _end(**_: Any) -> None:
    _ending.set()


@shared_task(name="webhooks.background.deliver")
def deliver() -> int:
    """How many tries were finished; 0 where there's nothing to do or another is at it."""
    if not Endpoint.objects.filter(enabled=True).exists():
        loops.ran(loop.NAME)
        return 0
    for number in range(conf.LOOPS):
        if _locked(number):
            try:
                return loop.run(conf.RUN_SECONDS, _ending.is_set)
            finally:
                _unlock(number)
    return 0


@shared_task(name="webhooks.background.look_after")
def look_after() -> None:
    switch_off_orphaned()
    forget_once()


def _locked(number: int) -> bool:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_lock(%s, %s)", [LOCK, number])
        return bool(cursor.fetchone()[0])


def _unlock(number: int) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_unlock(%s, %s)", [LOCK, number])
