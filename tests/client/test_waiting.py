"""A worker with nothing to do waits at the live process instead of asking on."""

import threading
import time

import pytest
from django.db import connection

from leases.models import Lease
from novum.running import processes
from novum.running.settings import RunSettings
from novum_client import Client, claiming
from novum_client.claiming import Claimer, Wait
from novum_client.client import Place
from novum_client.waiting import Waiting
from tests.processes.waiting import eventually
from tests.running.ports import two_free_ports


@pytest.fixture
def live(server, family, tmp_path):
    """The live process beside the web server of the other tests."""
    run = RunSettings(
        "127.0.0.1",
        two_free_ports(),
        tmp_path,
        server.settings.database_url,
        server.settings.redis_url,
        web_workers=1,
    )
    child = processes.live(run)
    child.environment = {**child.environment, **server.environment}
    family.start(child)
    family.wait_until_ready(child, 60)
    yield f"http://127.0.0.1:{run.live_port}"
    family.bury(child)


@pytest.fixture
def at_live(live, token, monkeypatch):
    """A client whose server tells of that process."""
    client = Client(live, token)
    call = client.call

    def told(method, path, *given, **more):
        value = call(method, path, *given, **more)
        return {**value, "waiting_url": live} if path == "/me" else value

    monkeypatch.setattr(client, "call", told)
    yield client
    client.close()


def test_it_waits_and_gets_the_card_that_comes(at_live, world):
    place = Place(board_id=str(world.board), column_id=str(world.queue))
    claimer = Claimer(at_live, place, lease_seconds=30, most_pause_seconds=0.2)
    first = claimer.claim(may_wait=True)
    assert isinstance(first, Wait)
    assert first.seconds == 0
    added = threading.Timer(1.0, in_own_connection, [world.add])
    began = time.monotonic()
    added.start()
    lease = claimer.claim(may_wait=True)
    assert time.monotonic() - began >= 1.0
    added.join()
    assert lease.card["title"] == "Card"
    assert lease.until - time.monotonic() > 20
    assert Lease.objects.count() == 1


def test_a_stop_ends_the_wait_at_once(at_live, world, working, monkeypatch):
    monkeypatch.setattr(claiming, "WAIT_SECONDS", 50.0)
    worker = working(client=at_live)(lambda job: None)
    running = threading.Thread(target=worker.run, kwargs={"signals": False})
    running.start()
    eventually(lambda: _waits(worker))
    time.sleep(0.3)
    worker.stop()
    # Long before the wait would have ended.
    running.join(30)
    assert not running.is_alive()
    assert not Lease.objects.exists()


def test_where_the_other_address_leads_nowhere_it_asks_on(client):
    assert Waiting(client).door() is None


def _waits(worker):
    return any(
        engine._claimer._waiting._door and engine._claimer._waiting._door._wire._busy
        for engine in worker._engines
    )


def in_own_connection(function):
    try:
        function()
    finally:
        connection.close()
