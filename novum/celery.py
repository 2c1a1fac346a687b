"""The Celery app and its timetable. Celery only runs loops; rows are the truth."""

import os
from typing import Any

from celery import Celery
from celery.signals import import_modules, setup_logging

from novum.timetable import ours, timetable

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "novum.settings")

app = Celery("novum")
app.config_from_object("django.conf:settings", namespace="CELERY")
# Celery's own word "tasks" is left to the product: a task is a card in a queue.
app.autodiscover_tasks(related_name="background")
app.conf.beat_schedule = ours()


@import_modules.connect(sender=app)
def add_parts(**_: Any) -> None:
    """What has to wait until Django has loaded the apps: the jobs that they bring, and
    that each job says when it ran."""
    from novum import heartbeats

    app.conf.beat_schedule.update(timetable())
    heartbeats.listen()


@setup_logging.connect
def keep_logging(**_: Any) -> None:
    """Lines look as Django's settings say, not as Celery would have them."""
