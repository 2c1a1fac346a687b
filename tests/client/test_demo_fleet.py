"""`examples/worker.py`: what it prints is what happened, and how it ends."""

import json
import os
import re
import signal
import subprocess
import sys
from collections import Counter

import pytest

from boards.models import Card
from leases.models import DeadLetter, Lease
from novum.running.settings import ROOT

WORKERS, CARDS = 5, 40
LINE = re.compile(r"(\w[\w -]*?) +(\d+)")
# Instead of luck: each worker completes a card, fails with the next and dies with the one
# after it. (`random` asks twice a card, whether to crash and whether to fail, but for the
# card that it dies with.)
FATES = """
import itertools, random
random.random = itertools.cycle((0.9, 0.9, 0.9, 0.0, 0.0)).__next__
"""


@pytest.fixture
def fleet(url, token, world, tmp_path):
    """Starts the example on the world's queue; killed in the end, with its workers."""
    demo = {
        "url": url,
        "worker_token": token,
        "boards": [
            {
                "id": str(world.board),
                "columns": [{"id": str(world.queue), "name": "Drafting"}],
            }
        ],
    }
    (tmp_path / "demo.json").write_text(json.dumps(demo))
    # Python runs it at the start of every process.
    (tmp_path / "sitecustomize.py").write_text(FATES)
    started = []

    def fleet(*options):
        started.append(
            subprocess.Popen(
                [sys.executable, ROOT / "examples" / "worker.py", *map(str, options)],
                env={
                    **os.environ,
                    "NOVUM_DATA": str(tmp_path),
                    "PYTHONPATH": str(tmp_path),
                },
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                start_new_session=True,
            )
        )
        return started[-1]

    yield fleet
    for one in started:
        if one.poll() is None:
            os.killpg(one.pid, signal.SIGKILL)
        one.wait(60)


def counts(line):
    return {name: int(number) for name, number in LINE.findall(line)}


def ended():
    """What became of the leases, and of the cards."""
    return Counter(Lease.objects.values_list("state", flat=True)) + Counter(
        Lease.objects.exclude(outcome="").values_list("outcome", flat=True)
    )


def test_its_report_is_what_the_server_counts(fleet, world):
    world.set(max_attempts=2, on_success_column_id=world.done)
    world.add_many(CARDS)
    process = fleet(
        *("--workers", WORKERS, "--crash", 0.5, "--fail", 0.5),
        *("--work", 0.02, "--lease", 1),
    )
    printed, errors = process.communicate()
    assert (process.returncode, errors) == (0, "")
    *progress, completed, requeued, dead, superseded, twice = printed.splitlines()
    report = counts("  ".join((completed, requeued, dead, superseded, twice)))
    held = ended()
    assert report == {
        "completed": held["completed"],
        "requeued": held["requeued"],
        "dead-lettered": held["dead_lettered"],
        "superseded": held["expired"],
        "done twice": 0,
    }
    # Nobody completes more than one card for two that they fail or die with, so some
    # of all these happened.
    assert min(list(report.values())[:-1]) > 0
    assert report["completed"] + report["dead-lettered"] == CARDS
    cards = Counter(Card.objects.values_list("column_id", "state"))
    assert cards == {
        (world.done, "done"): report["completed"],
        (world.failed, "failed"): report["dead-lettered"],
    }
    assert DeadLetter.objects.count() == report["dead-lettered"]
    check_progress([counts(line) for line in progress], held)


def check_progress(lines, held):
    """One line a second, of figures that only rise; the last one has them all."""
    assert len(lines) > 1
    for name in lines[0]:
        figures = [line[name] for line in lines]
        assert figures == sorted(figures), name
    last = lines[-1]
    assert last.pop("killed") > 0
    assert last == {
        "claimed": Lease.objects.count(),
        "completed": held["completed"],
        "failed": held["failed"],
        "expired": held["expired"],
    }
