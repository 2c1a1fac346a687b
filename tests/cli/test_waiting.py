"""`novum work` with nothing to do waits at the live process instead of asking on."""

import threading
import time

import pytest
from django.db import connection

from leases.models import Lease
from novum.cli.jobs import Cards, Empty
from novum.cli.options import Given
from novum.cli.places import Server
from novum.cli.session import Session
from novum.running import processes
from novum.running.settings import RunSettings
from tests.doors.http import token_of
from tests.running.ports import two_free_ports

pytestmark = pytest.mark.processes


@pytest.fixture
def live(server, family, tmp_path):
    """The live process beside the web server of the other tests, and able to answer
    everything."""
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
def jobs(live, a_lasting_world, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    world = a_lasting_world
    # Its ordinary connections and the waiting ones lead to the same process here.
    session = Session(Given(), Server(live, token_of(world.worker)))
    where = {"board_id": str(world.board), "column_id": str(world.queue)}
    found = Cards(session, where)
    yield found
    found.close()
    session.transport.close()


def test_it_waits_and_gets_the_card_that_comes(jobs, world):
    first = jobs.claim(may_wait=True)
    assert isinstance(first, Empty)
    assert not first.has_waited
    added = threading.Timer(1.0, in_own_connection, [world.add])
    began = time.monotonic()
    added.start()
    job = jobs.claim(may_wait=True)
    assert time.monotonic() - began >= 1.0
    added.join()
    assert job.title == "Card"
    assert job.until > time.monotonic()
    assert Lease.objects.count() == 1


def test_nothing_comes_and_it_says_that_it_has_waited(jobs):
    jobs.claim(may_wait=True)
    began = time.monotonic()
    found = jobs.claim(may_wait=True)
    assert isinstance(found, Empty)
    assert found.has_waited
    assert 4.5 <= time.monotonic() - began < 60


def in_own_connection(function):
    try:
        function()
    finally:
        connection.close()
