"""Claims that wait at the real live process, with and without Redis."""

import json
import socket
import threading
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPConnection
from pathlib import Path
from time import monotonic

import psutil
import pytest
from django.conf import settings
from django.db import connection

from leases.models import Lease
from novum.running import processes
from novum.running.children import Family
from novum.running.settings import RunSettings
from tests.builders import a_world
from tests.doors.http import token_of
from tests.processes.fixtures import database_url
from tests.processes.waiting import eventually
from tests.running.ports import two_free_ports

pytestmark = pytest.mark.processes

NAME = "novum-waiting-test"


@pytest.fixture(scope="module", params=["with Redis", "without Redis"])
def live(request, django_db_setup, tmp_path_factory):
    redis = settings.REDIS_URL if request.param == "with Redis" else ""
    run = RunSettings(
        "127.0.0.1",
        two_free_ports(),
        Path(tmp_path_factory.mktemp("live")),
        database_url(),
        redis,
        web_workers=1,
    )
    child, family = processes.live(run), Family()
    child.environment = {
        **child.environment,
        "DATABASE_URL": database_url(),
        "REDIS_URL": redis,
        "SECRET_KEY": settings.SECRET_KEY,
        "PGAPPNAME": NAME,
    }
    family.start(child)
    family.wait_until_ready(child, 60)
    yield child, ("127.0.0.1", run.live_port)
    family.kill()
    family.close()


@pytest.fixture
def world(transactional_db):
    return a_world()


def wait(address, token, world, seconds=30.0):
    talk = HTTPConnection(*address, timeout=60)
    try:
        path = f"/v1/boards/{world.board}/columns/{world.queue}:claim-next"
        talk.request(
            "POST",
            f"{path}?wait_seconds={seconds}",
            b"{}",
            {"Authorization": f"Bearer {token}", "Content-Type": "application/json"},
        )
        answer = talk.getresponse()
        body = json.loads(answer.read())
        assert answer.status == 200, body
        return body, monotonic()
    finally:
        talk.close()


def asked_and_waiting(number):
    """Until so many calls have come to the point of waiting: no claim is under way."""
    threading.Event().wait(1.0 + number * 0.05)


def connections_of_live():
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE application_name = %s", [NAME]
        )
        return cursor.fetchone()[0]


def test_forty_wait_without_a_thread_or_a_connection_each(live, world):
    child, address = live
    token = token_of(world.worker)
    wait(address, token, world, 0.1)
    with ThreadPoolExecutor(40) as pool:
        calls = [pool.submit(wait, address, token, world, 45) for _ in range(40)]
        asked_and_waiting(40)
        assert not any(call.done() for call in calls)
        assert psutil.Process(child.process.pid).num_threads() < 30
        assert connections_of_live() <= 10
        world.add("Appears")
        eventually(lambda: any(call.done() for call in calls), 40)
        assert Lease.objects.count() == 1
        # The others were woken for nothing and wait on, until there's one for each.
        assert [call.done() for call in calls].count(True) == 1
        world.add_many(39)
        told = [call.result()[0]["card"] for call in calls]
    assert [one["title"] for one in told].count("Appears") == 1
    assert Lease.objects.count() == len({one["id"] for one in told}) == 40


def test_a_card_comes_soon(live, world):
    _, address = live
    token = token_of(world.worker)
    with ThreadPoolExecutor(1) as pool:
        call = pool.submit(wait, address, token, world)
        asked_and_waiting(1)
        world.add("Soon")
        added = monotonic()
        body, at = call.result()
    assert body["card"]["title"] == "Soon"
    # The bench has the figure; here the machine may be busy. The wait is 30 seconds.
    assert at - added < 15


def callers_of(process):
    return [one.raddr.port for one in process.net_connections("tcp") if one.raddr]


def test_who_hangs_up_claims_nothing(live, world):
    child, address = live
    token = token_of(world.worker)
    path = f"/v1/boards/{world.board}/columns/{world.queue}:claim-next"
    body = b'{"wait_seconds": 30}'
    head = (
        f"POST {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    caller = socket.create_connection(address)
    caller.sendall(head.encode() + body)
    asked_and_waiting(1)
    port = caller.getsockname()[1]
    caller.close()
    # Its end of the connection is closed as well: so it knows.
    process = psutil.Process(child.process.pid)
    eventually(lambda: port not in callers_of(process))
    threading.Event().wait(0.5)
    world.add("Nobody's")
    threading.Event().wait(1.5)
    assert not Lease.objects.exists()
    # It's there for the next one.
    assert wait(address, token, world)[0]["card"]["title"] == "Nobody's"
    eventually(lambda: Lease.objects.count() == 1)
