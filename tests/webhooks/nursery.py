"""Delivery workers that begin at once: a process that has loaded everything forks one
for each line that it is told, and says its process id."""

import os
import signal
import sys

import django

django.setup()

from webhooks import loop  # noqa: E402

signal.signal(signal.SIGCHLD, signal.SIG_IGN)


def say(what: object) -> None:
    sys.stdout.write(f"{what}\n")
    sys.stdout.flush()


say("ready")
for _ in sys.stdin:
    worker = os.fork()
    if worker == 0:
        loop.run(float("inf"))
        os._exit(0)
    say(worker)
