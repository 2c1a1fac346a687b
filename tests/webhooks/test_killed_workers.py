"""Three delivery workers, one of them killed with -9 every second."""

import os
import random
import signal
import subprocess
import sys
import threading
from collections import Counter
from contextlib import ExitStack
from pathlib import Path

import pytest
from django.conf import settings

from tests.builders import a_world
from tests.processes.fixtures import database_url
from tests.webhooks import receivers
from tests.webhooks.conftest import listen, until
from tests.webhooks.receivers import receiving
from webhooks.models import Attempt, Delivery

pytestmark = pytest.mark.processes
EVENTS, RECEIVERS, WORKERS, KILLS = 1000, 5, 3, 6
ENVIRONMENT = {
    "NOVUM_DB_POOL": "0",
    "NOVUM_WEBHOOK_ALLOWED_HOSTS": "127.0.0.1",
    "NOVUM_WEBHOOK_SCHEDULE": ",".join(["0", *["0.3"] * 40]),
    "NOVUM_WEBHOOK_TOTAL_SECONDS": "2",
    "NOVUM_WEBHOOK_SPARE_SECONDS": "2",
    "NOVUM_WEBHOOK_LOOK_SECONDS": "0.05",
}


@pytest.fixture
def world(transactional_db):
    return a_world()


class Workers:
    """Three at any time: whoever is killed has a successor at once."""

    def __init__(self) -> None:
        environment = {
            **os.environ,
            **ENVIRONMENT,
            "DATABASE_URL": database_url(),
            "REDIS_URL": settings.REDIS_URL,
            "SECRET_KEY": settings.SECRET_KEY,
        }
        self.nursery = subprocess.Popen(
            [sys.executable, Path(__file__).with_name("nursery.py")],
            cwd=settings.BASE_DIR,
            env={**environment, "PYTHONPATH": str(settings.BASE_DIR)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self.hear() == "ready"
        self.pids = [self.begin() for _ in range(WORKERS)]
        self.killed = 0
        self.over = threading.Event()
        self.killer = threading.Thread(target=self.kill_each_second)
        self.killer.start()

    def hear(self) -> str:
        return self.nursery.stdout.readline().strip()

    def begin(self) -> int:
        self.nursery.stdin.write("\n")
        self.nursery.stdin.flush()
        return int(self.hear())

    def kill_each_second(self) -> None:
        while not self.over.wait(1.0):
            number = random.randrange(WORKERS)
            os.kill(self.pids[number], signal.SIGKILL)
            self.killed += 1
            self.pids[number] = self.begin()

    def close(self) -> None:
        self.over.set()
        self.killer.join()
        for pid in self.pids:
            os.kill(pid, signal.SIGKILL)
        self.nursery.kill()
        self.nursery.wait()


def sometimes_500(handler):
    """The first try of one in five."""
    unlucky = int(handler.headers["webhook-id"][-2:], 16) % 5 == 0
    handler.answer(500 if unlucky and handler.count() == 1 else 200)


def test_each_event_is_received_and_repeats_are_those_of_unknown_outcome(world):
    with ExitStack() as stack:
        behaviours = [receivers.fast] * (RECEIVERS - 1) + [sometimes_500]
        listeners = [
            listen(world, stack.enter_context(receiving(one)), types=["card.created"])
            for one in behaviours
        ]
        workers = Workers()
        stack.callback(workers.close)
        for done in range(EVENTS // 50):
            world.add_many(50)
            # However fast they are, somebody is killed now and then.
            until(lambda done=done: workers.killed >= done * 50 * KILLS // EVENTS)
        until(
            lambda: (
                Delivery.objects.filter(state="delivered").count() == EVENTS * RECEIVERS
            ),
            200,
        )
    assert workers.killed >= KILLS
    for listener in listeners:
        assert len(set(listener.ids())) == EVENTS
        check_repeats(listener)
    # Each is verified: a sample of the work that takes longest in Python.
    for listener in listeners:
        for got in listener.receiver.got:
            got.verified(listener.secret)


def check_repeats(listener) -> None:
    received = Counter(listener.ids())
    # Interrupted, or without an answer in time: it may have been received all the same.
    unanswered = Counter(
        Attempt.objects.filter(
            delivery__endpoint_id=listener.endpoint, status__isnull=True
        ).values_list("delivery__event_id", flat=True)
    )
    answered = Counter(
        Attempt.objects.filter(
            delivery__endpoint_id=listener.endpoint, status__isnull=False
        ).values_list("delivery__event_id", flat=True)
    )
    for delivery in listener.deliveries():
        times = received[f"msg_{delivery.event_id.hex}"]
        known, unknown = answered[delivery.event_id], unanswered[delivery.event_id]
        assert known <= times <= known + unknown
