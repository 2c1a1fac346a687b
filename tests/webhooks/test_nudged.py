"""What wakes the loop of deliveries, and that it wakes without it, too."""

import threading

import pytest

from tests.webhooks.conftest import delivering, listen, settled, until
from tests.webhooks.receivers import receiving
from webhooks import conf

# Events are told once no older transaction is open anywhere in the cluster.
pytestmark = pytest.mark.processes

SOON_SECONDS = 1.5


def test_a_nudge_wakes_a_loop_that_would_sleep_for_an_hour(world, monkeypatch):
    monkeypatch.setattr(conf, "SWEEP_SECONDS", 3600.0)
    monkeypatch.setattr(conf, "SOON_SECONDS", SOON_SECONDS)
    with receiving() as receiver:
        listener = listen(world, receiver, types=["card.created"])
        with delivering():
            for number in range(1, 3):
                world.add("A card")
                # What came while it still looked on wakes nobody.
                until(lambda number=number: len(receiver.got) == number)
                until(lambda: settled(listener))
                threading.Event().wait(2 * SOON_SECONDS)
            # So that it wakes, and soon sees that it's over.
            monkeypatch.setattr(conf, "SWEEP_SECONDS", 0.1)
            world.add("Last")


def test_without_redis_it_looks_now_and_then(world, monkeypatch, settings):
    settings.REDIS_URL = ""
    monkeypatch.setattr(conf, "SWEEP_SECONDS", 0.2)
    monkeypatch.setattr(conf, "SOON_SECONDS", 0.0)
    with receiving() as receiver:
        listener = listen(world, receiver, types=["card.created"])
        with delivering():
            for number in range(1, 3):
                world.add("A card")
                until(lambda number=number: len(receiver.got) == number)
                until(lambda: settled(listener))
