"""The loops' shells for Celery. `manage.py deliver` does the same without it.

One run of the delivery loop at a time and deployment (or as many as
NOVUM_WEBHOOK_LOOPS says): beat asks each second, and who finds all turns taken goes
home (webhooks.one_at_a_time).
"""

import multiprocessing
from collections.abc import Callable
from functools import partial
from typing import Any

from celery import shared_task
from celery.signals import worker_shutting_down

from supervision import loops
from webhooks import conf, loop
from webhooks.models import Endpoint
from webhooks.one_at_a_time import turn
from webhooks.verbs.forget import forget as forget_once
from webhooks.verbs.switch_off import switch_off_orphaned

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
        with turn(number) as is_lost:
            if is_lost:
                return loop.run(conf.RUN_SECONDS, partial(_is_over, is_lost))
    return 0


def _is_over(is_lost: Callable[[], bool]) -> bool:
    return _ending.is_set() or is_lost()


@shared_task(name="webhooks.background.look_after")
def look_after() -> None:
    switch_off_orphaned()
    forget_once()
