import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from time import monotonic, sleep
from typing import Any

import pytest

from tests.builders import World, a_world
from tests.processes.waiting import wait_until_told
from tests.webhooks.receivers import Receiver
from webhooks import conf, loop
from webhooks.models import Delivery, Endpoint
from webhooks.verbs.endpoints import create_endpoint

PATIENCE = 60


@pytest.fixture(autouse=True)
def _quick(monkeypatch):
    """Receivers on loopback are let in, and nobody waits for real minutes."""
    monkeypatch.setattr(conf, "ALLOWED_HOSTS", frozenset({"127.0.0.1"}))
    monkeypatch.setattr(conf, "SCHEDULE", [0.0, 0.2, 0.4, 0.8, 1.6])
    monkeypatch.setattr(conf, "LOOK_SECONDS", 0.05)


@pytest.fixture
def impatient(monkeypatch):
    """Where receivers are to be too slow."""
    monkeypatch.setattr(conf, "CONNECT_SECONDS", 0.5)
    monkeypatch.setattr(conf, "TOTAL_SECONDS", 1.0)


@pytest.fixture
def world(transactional_db) -> World:
    """Committed, because deliveries go out over other connections."""
    return a_world()


@dataclass
class Listener:
    """An endpoint with its secret and the receiver behind it."""

    endpoint: Any
    secret: str
    receiver: Receiver

    def bodies(self) -> list[dict[str, Any]]:
        """All that came, each verified by the public library."""
        return [one.verified(self.secret) for one in self.receiver.got]

    def types(self) -> list[str]:
        return [body["type"] for body in self.bodies()]

    def ids(self) -> list[str]:
        return [one.id for one in self.receiver.got]

    def row(self) -> Endpoint:
        return Endpoint.objects.get(pk=self.endpoint)

    def deliveries(self) -> list[Delivery]:
        rows = Delivery.objects.filter(endpoint_id=self.endpoint)
        return list(rows.order_by("event_id"))


def listen(world: World, receiver: Receiver, **fields: Any) -> Listener:
    given = {"url": receiver.url, "types": ["*"], **fields}
    # It gets what the feed has from now on.
    wait_until_told()
    endpoint_id, secret = create_endpoint(world.owner, **given)
    return Listener(endpoint_id, secret, receiver)


@contextmanager
def delivering(workers: int = 1) -> Iterator[None]:
    """The delivery loop runs meanwhile."""
    over = threading.Event()
    threads = [
        threading.Thread(target=loop.run, args=(PATIENCE * 4, over.is_set))
        for _ in range(workers)
    ]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        over.set()
        for thread in threads:
            thread.join(PATIENCE)


def until(holds: Callable[[], object], seconds: float = PATIENCE) -> None:
    deadline = monotonic() + seconds
    while not holds():
        assert monotonic() < deadline, "that never came"
        sleep(0.02)


def settled(*listeners: Listener) -> bool:
    """Nothing is on its way to them any more."""
    return not any(
        one.state == Delivery.State.PENDING
        for listener in listeners
        for one in listener.deliveries()
    )
