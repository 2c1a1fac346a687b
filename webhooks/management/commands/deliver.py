"""One more delivery worker, without Celery, until it's stopped."""

import signal
import threading
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from webhooks import loop


class Command(BaseCommand):
    help = "Deliver webhooks until stopped; run as many as there is to do."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--seconds", type=float, default=float("inf"))

    def handle(self, *args: Any, **options: Any) -> None:
        stopped = threading.Event()
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_: stopped.set())
        done = loop.run(options["seconds"], stopped.is_set)
        self.stdout.write(f"{done} tries.")
