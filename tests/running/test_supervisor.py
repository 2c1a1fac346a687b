"""The whole of `make up` as a process, in a data folder and on ports of its own."""

import json
import os
import signal
import socket
import stat
import subprocess
import sys
import time
from contextlib import suppress
from http.client import HTTPConnection

import psutil
import psycopg
import pytest

from novum.running.embedded import SERVICES_FILE
from novum.running.settings import ROOT
from tests.processes.waiting import eventually
from tests.running.ports import two_free_ports

pytestmark = pytest.mark.processes

# Generous: only to tell a slow machine from one that hangs.
START_SECONDS = 120
STOP_SECONDS = 60


class Run:
    """One `python -m novum.running`, and what came of it."""

    def __init__(self, data, port, command=(), **environment):
        own = {
            key: value
            for key, value in os.environ.items()
            if key not in {"DATABASE_URL", "REDIS_URL", "SECRET_KEY", "NOVUM_DB_POOL"}
        }
        self.data, self.port = data, port
        self.process = subprocess.Popen(
            command or [sys.executable, "-m", "novum.running"],
            cwd=ROOT,
            env={
                **own,
                "NOVUM_DATA": str(data),
                "NOVUM_PORT": str(port),
                "NOVUM_WEB_WORKERS": "1",
                **environment,
            },
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )

    def wait_for_welcome(self):
        lines = []
        for line in self.process.stdout:
            lines.append(line)
            if "examples/worker.py" in line:
                return "".join(lines)
        raise AssertionError("".join(lines))

    def wait_for_end(self):
        output, _ = self.process.communicate(timeout=STOP_SECONDS)
        return output

    def descendants(self):
        return psutil.Process(self.process.pid).children(recursive=True)

    def find(self, is_it):
        """The first that it is: parents before their children, which come and go."""
        for process in self.descendants():
            with suppress(psutil.NoSuchProcess):
                if is_it(process):
                    return process
        raise AssertionError("nothing found")

    def stop(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
            self.wait_for_end()


@pytest.fixture
def run(tmp_path):
    runs = []

    def start(data=tmp_path / "data", port=None, command=(), **environment):
        one = Run(data, port or two_free_ports(), command, **environment)
        runs.append(one)
        return one

    yield start
    for one in runs:
        one.stop()


@pytest.fixture(scope="module")
def novum(tmp_path_factory):
    """One that runs for all tests that leave it running."""
    novum = Run(tmp_path_factory.mktemp("shared") / "data", two_free_ports())
    novum.wait_for_welcome()
    yield novum
    novum.stop()


def health(port):
    connection = HTTPConnection("127.0.0.1", port, timeout=10)
    try:
        connection.request("GET", "/v1/healthz")
        return connection.getresponse().status
    finally:
        connection.close()


def still_running(processes):
    _, alive = psutil.wait_procs(processes, timeout=STOP_SECONDS)
    return [process for process in alive if process.status() != psutil.STATUS_ZOMBIE]


def database_url(data):
    return json.loads((data / SERVICES_FILE).read_text())["database_url"]


def test_it_starts_says_where_and_stops_without_a_trace(run):
    novum = run()
    welcome = novum.wait_for_welcome()
    demo = json.loads((novum.data / "demo.json").read_text())
    for fact in (str(novum.port), demo["username"], demo["worker_token"]):
        assert fact in welcome
    assert health(novum.port) == 200
    assert health(novum.port + 1) == 200
    assert stat.S_IMODE(novum.data.stat().st_mode) == 0o700
    started = novum.descendants()
    assert len(started) > 5

    novum.process.send_signal(signal.SIGINT)
    novum.wait_for_end()
    assert novum.process.returncode == 0
    assert still_running(started) == []
    assert not (novum.data / SERVICES_FILE).exists()


def test_a_restart_keeps_the_data(run):
    first = run()
    first.wait_for_welcome()
    demo = (first.data / "demo.json").read_text()
    with psycopg.connect(database_url(first.data)) as connection:
        connection.execute("create table kept as select 7 as value")
    first.process.terminate()
    first.wait_for_end()

    second = run(port=first.port)
    second.wait_for_welcome()
    assert (second.data / "demo.json").read_text() == demo
    with psycopg.connect(database_url(second.data)) as connection:
        assert connection.execute("select value from kept").fetchone() == (7,)


def test_kill_9_leaves_no_process_and_the_next_start_recovers(run):
    novum = run()
    novum.wait_for_welcome()
    started = novum.descendants()
    novum.process.kill()
    again = run(port=novum.port)
    assert still_running(started) == []
    again.wait_for_welcome()
    assert health(novum.port) == 200


def test_a_web_process_that_is_killed_comes_back(novum):
    web = novum.find(lambda process: "granian" in process.cmdline())
    family = [web, *web.children(recursive=True)]
    web.kill()
    assert still_running(family) == []
    assert "web ended (signal 9); starting it again" in novum.process.stdout.readline()
    deadline = time.monotonic() + START_SECONDS
    while True:
        try:
            assert health(novum.port) == 200
            break
        except OSError:
            assert time.monotonic() < deadline
            time.sleep(0.1)


def test_a_database_that_is_killed_comes_back(novum):
    server = novum.find(lambda process: process.name() == "postgres")
    server.kill()
    assert "PostgreSQL ended (signal 9)" in novum.process.stdout.readline()
    deadline = time.monotonic() + START_SECONDS
    while True:
        try:
            psycopg.connect(database_url(novum.data)).close()
            break
        except psycopg.OperationalError:
            assert time.monotonic() < deadline
            time.sleep(0.1)


def test_a_second_one_on_the_same_data_is_refused(run, novum):
    second = run(data=novum.data)
    assert f"process {novum.process.pid}" in second.wait_for_end()
    assert second.process.returncode == 1
    # Its database may just have come back.
    eventually(lambda: health(novum.port) == 200)


def test_a_taken_port_is_refused_before_anything_starts(run):
    port = two_free_ports()
    with socket.create_server(("127.0.0.1", port + 1)):
        novum = run(port=port)
        assert f"Port {port + 1} on 127.0.0.1 is taken" in novum.wait_for_end()
    assert novum.process.returncode == 1
    assert not (novum.data / "postgres").exists()


def test_a_data_folder_that_is_none_is_named(run, tmp_path):
    file = tmp_path / "a file"
    file.touch()
    output = run(data=file).wait_for_end()
    assert "NOVUM_DATA must be a folder" in output
    assert str(file) in output
    assert "Traceback" not in output


def test_what_keeps_it_from_starting_is_shown(run):
    novum = run(NOVUM_DB_POOL="many")
    output = novum.wait_for_end()
    assert "prepare failed" in output
    assert "many" in output
    assert novum.process.returncode == 1
    assert not (novum.data / SERVICES_FILE).exists()


def test_it_stops_with_the_process_that_started_it_if_told_to(run):
    shell = [
        *("sh", "-c"),
        f"{sys.executable} -m novum.running --with-parent & wait",
    ]
    novum = run(command=shell)
    novum.wait_for_welcome()
    started = novum.descendants()
    novum.process.kill()
    assert still_running(started) == []


def test_services_of_ones_own_are_used(run, novum):
    services = json.loads((novum.data / SERVICES_FILE).read_text())
    guest = run(
        DATABASE_URL=services["database_url"],
        REDIS_URL=services["redis_url"],
        SECRET_KEY="s" * 50,
    )
    guest.wait_for_welcome()
    assert health(guest.port) == 200
    assert not (guest.data / "postgres").exists()
    assert not (guest.data / "valkey.conf").exists()
