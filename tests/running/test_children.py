import os
import signal
import subprocess
import sys
import time

import psutil
import pytest

from novum.running.children import Child, Family, bound, rotate
from novum.running.errors import Interrupted, StartError
from novum.running.keeper import Keeper

FOREVER = "import time; time.sleep(600)"
STUBBORN = f"import signal; signal.signal(15, signal.SIG_IGN); print('up', flush=True); {FOREVER}"
# As Granian's workers and Celery's beat: nobody tells it that its parent is gone.
WITH_GRANDCHILD = (
    "import os, time\n"
    "child = os.fork()\n"
    "if child: print(child, flush=True)\n"
    "time.sleep(600)\n"
)


@pytest.fixture
def family():
    family = Family()
    yield family
    family.close()


@pytest.fixture
def make(tmp_path):
    def make(code, **more):
        log = rotate(tmp_path / "child.log")
        return Child("child", [sys.executable, "-c", code], log, **more)

    return make


def wait_for_output(child, seconds=60):
    deadline = time.monotonic() + seconds
    while not child.log.read_text().endswith("\n"):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    return child.log.read_text().strip()


def is_running(pid):
    """Zombies have ended: somebody only has to notice."""
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def wait_for_end(pid, seconds=60):
    deadline = time.monotonic() + seconds
    while is_running(pid):
        assert time.monotonic() < deadline, f"{pid} still runs"
        time.sleep(0.05)


def test_a_child_that_will_not_stop_is_killed(family, make):
    child = make(STUBBORN, patience_seconds=0.3)
    family.start(child)
    wait_for_output(child)
    pid = child.process.pid
    family.stop(child)
    assert not is_running(pid)


def test_what_an_ended_child_left_behind_is_ended_too(family, make):
    child = make(WITH_GRANDCHILD)
    family.start(child)
    grandchild = int(wait_for_output(child))
    child.process.kill()
    child.process.wait()
    assert is_running(grandchild)
    family.bury(child)
    wait_for_end(grandchild)


def test_the_end_of_the_log_says_why_a_child_did_not_start(family, make):
    child = make("raise SystemExit('no such thing')", is_ready=lambda: False)
    family.start(child)
    with pytest.raises(StartError, match="no such thing"):
        family.wait_until_ready(child)


def test_a_program_that_does_not_exist_is_a_start_error(family, tmp_path):
    child = Child("nothing", [tmp_path / "nothing"], tmp_path / "log")
    with pytest.raises(StartError, match="nothing cannot be started"):
        family.start(child)


def test_waiting_for_a_child_ends_when_everything_is_to_stop(family, make):
    child = make(FOREVER, is_ready=lambda: False)
    family.start(child)
    family.interrupt()
    with pytest.raises(Interrupted):
        family.wait_until_ready(child)
    family.stop(child)


def test_a_command_that_fails_is_a_start_error_with_its_last_lines(family, make):
    with pytest.raises(StartError, match="bad news"):
        family.run(make("raise SystemExit('bad news')"), seconds=30)


def test_impatience_kills_what_is_being_waited_for(family, make):
    child = make(STUBBORN, patience_seconds=600)
    family.start(child)
    wait_for_output(child)
    family.kill()
    family.stop(child)
    assert child.process is None


SUPERVISOR = """
import sys, time
from pathlib import Path
from novum.running.children import Child, Family
family = Family()
child = Child("child", [sys.executable, "-c", sys.argv[2]], Path(sys.argv[1]))
family.start(child)
print(child.process.pid, flush=True)
time.sleep(600)
"""


@pytest.mark.parametrize(
    "code", [WITH_GRANDCHILD, STUBBORN], ids=["family", "stubborn"]
)
def test_no_child_outlives_a_supervisor_that_is_killed(make, tmp_path, code):
    log = tmp_path / "orphan.log"
    supervisor = subprocess.Popen(
        [sys.executable, "-c", SUPERVISOR, log, code], stdout=subprocess.PIPE
    )
    pids = [int(supervisor.stdout.readline())]
    while not log.exists() or not log.read_text().endswith("\n"):
        time.sleep(0.02)
    if code == WITH_GRANDCHILD:
        pids.append(int(log.read_text()))
    supervisor.kill()
    supervisor.communicate()
    for pid in pids:
        wait_for_end(pid)


def test_a_child_that_ended_is_started_again_ever_more_slowly(family, make, capsys):
    keeper = Keeper(make("raise SystemExit(3)"), delay_seconds=0.05)
    keeper.start(family)
    deadline = time.monotonic() + 60
    while keeper.delay_seconds < 0.35:
        keeper.look(family)
        assert time.monotonic() < deadline
        time.sleep(0.01)
    family.stop(keeper.child)
    assert capsys.readouterr().out.count("child ended (exit code 3)") == 3


def test_a_child_that_lived_long_is_started_again_quickly(family, make):
    keeper = Keeper(make(FOREVER), delay_seconds=30)
    keeper.start(family)
    keeper.started_at -= 3600
    os.killpg(keeper.child.process.pid, signal.SIGKILL)
    keeper.child.process.wait()
    keeper.look(family)
    assert keeper.due_at - time.monotonic() <= 1


def test_a_log_is_bounded_while_it_is_written_to(tmp_path):
    log = tmp_path / "a.log"
    with log.open("ab", buffering=0) as writer:
        writer.write(b"x" * 2000)
        bound(log, limit_bytes=1000)
        writer.write(b"after")
    assert log.read_bytes() == b"after"
    assert (tmp_path / "a.log.1").stat().st_size == 2000
