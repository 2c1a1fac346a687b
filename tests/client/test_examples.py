"""The examples and the README's worker, run as they stand."""

import os
import re
import signal
import subprocess
import sys
from shutil import which

import pytest

from boards.models import Card
from leases.models import Lease
from leases.verbs.revoke import revoke
from novum.running.settings import ROOT
from tests.processes.waiting import eventually

EXAMPLES = ROOT / "examples"
needs_jq = pytest.mark.skipif(not which("jq"), reason="the example needs jq")


@pytest.fixture
def run(url, token, world, tmp_path):
    """Starts a command that finds the server; ended by SIGTERM."""
    world.set(queue="reports", max_attempts=2)
    running = []

    def run(*command):
        environment = {
            **os.environ,
            "NOVUM_URL": url,
            "NOVUM_TOKEN": token,
            "PYTHONPATH": str(ROOT),
        }
        process = subprocess.Popen(
            command, env=environment, cwd=tmp_path, start_new_session=True
        )
        running.append(process)
        return process

    yield run
    for process in running:
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
    for process in running:
        try:
            process.wait(1)
        except subprocess.TimeoutExpired:
            # Without grace.
            process.send_signal(signal.SIGTERM)
            process.wait(20)


def outputs():
    return dict(Card.objects.values_list("title", "output"))


def all_ended():
    return not Card.objects.filter(state__in=("open", "claimed")).exists()


def test_the_worker_of_the_readme_is_ten_lines_and_works(run, world, tmp_path):
    section = (ROOT / "README.md").read_text().split("## A worker in ten lines", 1)[1]
    source = re.search(r"```python\n(.*?)```", section, re.DOTALL)[1]
    assert len([line for line in source.splitlines() if line.strip()]) <= 10
    (tmp_path / "worker.py").write_text(source)
    (tmp_path / "q3.csv").write_text("a\nb\nc\n")
    world.add("Good", payload={"file": "q3.csv"})
    world.add("No file", payload={})
    run(sys.executable, "worker.py")
    eventually(all_ended)
    assert outputs() == {"Good": {"rows": 3}, "No file": None}
    assert Lease.objects.get(state="failed").failure == "fatal"


def test_a_command_line_agent_is_a_worker(run, world):
    world.add("Greet", description="Say hello.", payload={"to": "Ann"})
    world.add("Break")
    script = 'read -r first; echo thinking >&2; case "$first" in *Break*) echo no >&2;'
    script += ' exit 3;; esac; cat | wc -l | tr -d " "'
    agent = EXAMPLES / "agent_worker.py"
    run(sys.executable, agent, "reports", "--", "bash", "-c", script)
    eventually(all_ended)
    assert outputs() == {"Greet": {"text": "3"}, "Break": None}
    failed = Lease.objects.filter(state="failed").values_list("reason", flat=True)
    assert set(failed) == {"RuntimeError: thinking\nno"}


def test_a_command_line_agent_ends_with_its_worker(run, world, tmp_path):
    world.set(lease_ttl_seconds=3)
    world.add("Long")
    agent = EXAMPLES / "agent_worker.py"
    script = f"echo $$ > {tmp_path}/pid; echo at it >&2; sleep 60 & wait"
    run(sys.executable, agent, "reports", "--", "bash", "-c", script)
    eventually(lambda: Lease.objects.filter(doing="at it").exists())
    pid = int((tmp_path / "pid").read_text())
    revoke(world.owner, lease_id=Lease.objects.get(state="active").pk)
    eventually(lambda: not is_alive(pid))


def is_alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_the_official_mcp_client_is_a_worker(run, world):
    world.add("Two words")
    world.add("One more time")
    run(sys.executable, EXAMPLES / "mcp_worker.py", "reports")
    eventually(all_ended)
    assert outputs() == {"Two words": {"words": 2}, "One more time": {"words": 3}}


@needs_jq
def test_curl_and_jq_are_a_worker(run, world):
    world.add("Numbers", payload=[1, 2, 3])
    world.add("Text", payload="a")
    world.add("Broken", payload=None)
    command = 'if .payload then .payload | length else error("nothing") end'
    run(EXAMPLES / "worker.sh", "reports", "jq", command)
    eventually(all_ended)
    assert outputs() == {"Numbers": 3, "Text": 1, "Broken": None}
    failed = Lease.objects.filter(state="failed").values_list("reason", flat=True)
    assert len(failed) == 2
    assert all("nothing" in reason for reason in failed)


@needs_jq
def test_the_shell_worker_gives_back_what_it_has_when_it_is_stopped(run, world):
    world.add("Long")
    process = run(EXAMPLES / "worker.sh", "reports", "sleep", "60")
    eventually(lambda: Card.objects.get().state == "claimed")
    process.send_signal(signal.SIGTERM)
    assert process.wait(20) == 0
    assert (Card.objects.get().state, Card.objects.get().attempts) == ("open", 0)
