"""A second start: from the command to the welcome, and to the first answer.

What is started is all of `make up`, in a data folder of its own that a first start, which
nobody waits for twice, has filled. The stage's own processes idle meanwhile.
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from http.client import HTTPConnection
from pathlib import Path
from time import perf_counter

from bench.load import LoadError
from bench.processes import own_seconds
from bench.report import Figure, middle, spread
from bench.seeding import World
from bench.sizes import Sizes
from bench.stage import Stage, free_port
from novum.running.processes import HEALTH_PATH
from novum.running.settings import ROOT, RunSettings

GOAL_SECONDS = 5.0
WELCOME = "Novum runs at"
STOP_SECONDS = 60.0


def measure(stage: Stage, world: World, sizes: Sizes) -> list[Figure]:
    with tempfile.TemporaryDirectory(prefix="novum-bench-start-") as folder:
        settings = replace(stage.settings, data=Path(folder), port=free_port())
        _start(settings)
        began = own_seconds()
        times = [_start(settings) for _ in range(sizes.rounds)]
        spent = (own_seconds() - began) / sizes.rounds
    welcomes, answers = zip(*times, strict=True)
    return [
        _figure("the welcome", welcomes),
        _figure("its first answer", answers),
        # Tells a slow start from one on a machine with much else to do.
        Figure("start", "seconds of processor time, to its end", spent),
    ]


def _figure(what: str, seconds: tuple[float, ...]) -> Figure:
    return Figure(
        "start",
        f"seconds of a second start, to {what}",
        middle(seconds),
        GOAL_SECONDS,
        at_most=True,
        note=spread(seconds),
    )


def _start(settings: RunSettings) -> tuple[float, float]:
    """Seconds to the welcome, and until the web server answers; it's stopped again."""
    began = perf_counter()
    with _running(settings) as process:
        assert process.stdout
        if not any(WELCOME in line for line in process.stdout):
            raise LoadError(f"It didn't start, it ended with {process.wait()}.")
        welcomed = perf_counter()
        _ask(settings)
        return welcomed - began, perf_counter() - began


def _ask(settings: RunSettings) -> None:
    """Raises LoadError where it says that it runs, and doesn't answer."""
    connection = HTTPConnection(settings.local_host, settings.port, timeout=60)
    connection.request("GET", HEALTH_PATH)
    if (status := connection.getresponse().status) != 200:
        raise LoadError(f"It runs, and {HEALTH_PATH} answers {status}.")
    connection.close()


@contextmanager
def _running(settings: RunSettings) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        [sys.executable, "-m", "novum.running"],
        cwd=ROOT,
        env={**os.environ, **settings.environment()},
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        yield process
    finally:
        process.terminate()
        process.communicate(timeout=STOP_SECONDS)
