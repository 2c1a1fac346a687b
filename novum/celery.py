"""The Celery app and its timetable. Celery only runs loops; rows are the truth."""

import os
from typing import Any

from celery import Celery
from celery.signals import import_modules
from django.conf import settings

from novum.parts import parts

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "novum.settings")

app = Celery("novum")
app.config_from_object("django.conf:settings", namespace="CELERY")
# Celery's own word "tasks" is left to the product: a task is a card in a queue.
app.autodiscover_tasks(related_name="background")
app.conf.beat_schedule = {
    "reap": {
        "task": "leases.background.reap",
        "schedule": settings.REAP_SECONDS,
        # A stalled worker must not find a heap of stale reaps when it comes back.
        "options": {"expires": settings.REAP_SECONDS * 2},
    },
    "housekeeping": {
        "task": "novum.background.housekeeping",
        "schedule": settings.HOUSEKEEPING_SECONDS,
        "options": {"expires": settings.HOUSEKEEPING_SECONDS},
    },
}


@import_modules.connect(sender=app)
def add_parts(**_: Any) -> None:
    """The jobs that installed apps bring along, once Django has loaded them."""
    for part in parts("timetable"):
        app.conf.beat_schedule.update(part.TIMETABLE)
