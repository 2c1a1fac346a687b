"""`make up`: everything Novum needs, started, kept going and stopped as one thing."""

import fcntl
import json
import os
import signal
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

from novum.running import processes
from novum.running.children import Family
from novum.running.embedded import SERVICES_FILE, running_services
from novum.running.errors import Interrupted, StartError
from novum.running.guard import PATIENCE_SECONDS
from novum.running.keeper import Keeper
from novum.running.settings import RunSettings, check_ports, from_environment

LOOK_SECONDS = 0.2
NEXT_STEP = "python3 examples/worker.py --workers 20 --crash 0.05 --fail 0.1"
# A first start makes every table; a later release may rewrite a big one.
PREPARE_SECONDS = 3600.0


def run(environment: Mapping[str, str], parent: int | None = None) -> None:
    """Runs Novum until SIGINT, SIGTERM or SIGHUP; a second one stops it the hard way.

    With `parent`, it stops as well when that process is no longer its parent. Raises
    StartError where it cannot start.
    """
    settings = from_environment(environment)
    make_folder(settings.data)
    with only_one(settings.data):
        was_killed = (settings.data / SERVICES_FILE).exists()
        check_ports(settings, 2 * PATIENCE_SECONDS if was_killed else 0.0)
        family = Family()
        _listen_to_signals(family)
        try:
            _run(family, settings, parent)
        except Interrupted:
            return
        finally:
            family.close()


def _run(family: Family, settings: RunSettings, parent: int | None) -> None:
    with running_services(
        family, settings.data, settings.database_url, settings.redis_url
    ) as services:
        family.run(processes.prepare(settings), PREPARE_SECONDS)
        ours = [make(settings) for make in processes.IN_ORDER]
        keepers = [Keeper(child) for child in (*services.children, *ours)]
        try:
            for child in ours:
                family.start(child)
            for child in ours:
                family.wait_until_ready(child)
            print(_welcome(settings), flush=True)
            while not family.is_interrupted and parent in (None, os.getppid()):
                for keeper in keepers:
                    keeper.look(family)
                family.keep_guard()
                time.sleep(LOOK_SECONDS)
        finally:
            for child in ours:
                family.stop(child)


def _listen_to_signals(family: Family) -> None:
    def stop(number: int, frame: FrameType | None) -> None:
        if family.is_interrupted:
            family.kill()
        family.interrupt()

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, stop)
    # Under nohup the end of the terminal is nobody's business.
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
        signal.signal(signal.SIGHUP, stop)


def make_folder(data: Path) -> None:
    """Raises StartError where it can't be written to."""
    try:
        data.mkdir(mode=0o700, parents=True, exist_ok=True)
        (data / "lock").touch()
    except OSError as error:
        raise StartError(
            f"NOVUM_DATA must be a folder that can be written to: {error}"
        ) from error


@contextmanager
def only_one(data: Path) -> Iterator[None]:
    """Holds the data folder's lock, which dies with this process.

    Raises StartError where somebody else has it.
    """
    with (data / "lock").open("a+") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            lock.seek(0)
            raise StartError(
                f"Novum already runs on {data} (process {lock.read().strip()}). "
                "Stop it, or set NOVUM_DATA to another folder."
            ) from error
        lock.truncate(0)
        lock.write(str(os.getpid()))
        lock.flush()
        yield


def _welcome(settings: RunSettings) -> str:
    lines = [f"Novum runs at {settings.url} (Ctrl-C stops it)."]
    demo = settings.data / "demo.json"
    if demo.exists():
        facts = json.loads(demo.read_text())
        lines += [
            f"  board         {settings.url}{facts['boards'][0]['page']}",
            f"  sign in       {facts['username']}, password {facts['password']}",
            f"  worker token  {facts['worker_token']}",
            f"  the API       {settings.url}/v1/docs",
            f"  next          {NEXT_STEP}",
        ]
    return "\n".join(lines)
