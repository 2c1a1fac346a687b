"""The reaper, as a Celery shell. `manage.py reap` does the same without Celery."""

from celery import shared_task

from leases.verbs.reap import reap as reap_once


@shared_task(name="leases.background.reap")
def reap() -> int:
    return reap_once()
