"""`manage.py reap`: what the Celery worker does every two seconds, once."""

from typing import Any

from django.core.management.base import BaseCommand

from leases.verbs.reap import reap
from supervision import loops


class Command(BaseCommand):
    help = "End lapsed leases, open the waiting cards that are due, judge new cards."

    def handle(self, *args: Any, **options: Any) -> None:
        changed = reap()
        loops.ran("reap")
        self.stdout.write(f"{changed} cards changed or were judged.")
