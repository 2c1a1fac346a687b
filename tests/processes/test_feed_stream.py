"""The feed as a stream from the real *live* process: many readers, few resources."""

import json
import socket
from contextlib import suppress
from pathlib import Path

import pytest
from django.conf import settings

from novum.running import processes
from novum.running.settings import RunSettings
from tests.doors.http import token_of
from tests.processes.fixtures import START_SECONDS, database_url
from tests.processes.waiting import eventually
from tests.running.ports import two_free_ports

READERS = 40


@pytest.fixture
def live(world, family, tmp_path):
    yield from running(family, tmp_path, database_url())


def running(family, folder, database, **environment):
    """The process and where it listens."""
    run = RunSettings(
        *("127.0.0.1", two_free_ports(), folder, database, settings.REDIS_URL),
        web_workers=1,
    )
    child = processes.live(run)
    child.environment = {
        **child.environment,
        "DATABASE_URL": database,
        "REDIS_URL": settings.REDIS_URL,
        "SECRET_KEY": settings.SECRET_KEY,
        "NOVUM_DB_POOL": "4",
        **environment,
    }
    family.start(child)
    family.wait_until_ready(child, START_SECONDS)
    yield child, (run.local_host, run.live_port)
    family.bury(child)


class Reader:
    def __init__(self, address, token):
        self.socket = socket.create_connection(address, 30)
        self.socket.settimeout(0.02)
        self.text = b""
        self.socket.sendall(
            b"GET /v1/events?types=card.created HTTP/1.1\r\nHost: 127.0.0.1\r\n"
            b"Accept: text/event-stream\r\nAuthorization: Bearer %b\r\n\r\n"
            % token.encode()
        )

    def read(self):
        with suppress(TimeoutError):
            self.text += self.socket.recv(65536)
        return self.text

    def titles(self):
        whole, _, _ = self.read().decode().rpartition("\n\n")
        lines = whole.splitlines()
        told = [line[6:] for line in lines if line.startswith("data: ")]
        return [json.loads(one)["data"]["title"] for one in told]


def threads(child):
    return len(list(Path(f"/proc/{child.process.pid}/task").iterdir()))


def test_many_streams_hold_no_threads_and_all_hear_the_same(world, live):
    child, address = live
    token = token_of(world.owner)
    first = Reader(address, token)
    eventually(lambda: b"retry:" in first.read())
    before = threads(child)
    readers = [first, *(Reader(address, token) for _ in range(READERS - 1))]
    eventually(lambda: all(b"retry:" in reader.read() for reader in readers))
    assert threads(child) <= before + READERS // 4
    assert b"text/event-stream" in first.text
    for number in range(3):
        world.add(f"No. {number}")
    wanted = [f"No. {number}" for number in range(3)]
    eventually(lambda: all(reader.titles() == wanted for reader in readers))
    for reader in readers:
        reader.socket.close()
