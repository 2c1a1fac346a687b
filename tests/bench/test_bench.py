"""A very small run of every part: it works, and prints and keeps its figures.

How fast anything is isn't asked here: that depends on what else the machine does.
"""

import json
import os
import subprocess
import sys

import pytest

from novum.running.settings import ROOT

pytestmark = [pytest.mark.processes, pytest.mark.timeout(900)]

SMALL = {
    "--rounds": 1,
    "--slice-seconds": 1,
    "--cards": 300,
    "--deep-cards": 2_000,
    "--cards-in-front": 200,
    "--sustained-seconds": 3,
    "--requests": 300,
    "--pages": 10,
    "--board-cards": 200,
    "--viewers": 8,
    "--change-seconds": 2,
    "--grace-seconds": 2,
    "--waiters": 20,
    "--idle-seconds": 2,
    "--webhook-events": 60,
    "--feed-events": 400,
    "--dead-letters": 300,
    "--finished-leases": 600,
}
FIGURES = {
    "start": ["to the welcome", "to its first answer"],
    "redis": ["with Redis silent : with", "with Redis refusing : with"],
    "floor": ["claim + complete by pgbench"],
    "cycle": ["REST cycles/s : floor", "REST cycles/s : Procrastinate"],
    "batch": ["cards/s, ten a call : one a call"],
    "limit": ["cycles/s with a limit : without", "seen in", "clocks"],
    "depth": [
        "p50, 2,000 cards : 1,000",
        "p99, 2,000",
        "p50, behind 440",
        "p99, behind",
    ],
    "sustained": [
        "last 0.5 s : first, alone",
        "last 0.5 s : first, with an old snapshot",
    ],
    "memory": ["MB of the largest web process", "MB more after 300 requests"],
    "mcp": ["MCP cycles/s : REST", "processor time of a REST cycle"],
    "pages": ["queries of the page, 200", "queries more", "ms of a page", "MB of the"],
    "supervision": ["for their roll-up", "ms of /queues,", "queries of /queues"],
    "live": ["ms from a change to 2 pages", "of 8 pages wrong", "connections of live"],
    "waiting": ["MB more for 20", "% of a core", "from a card to its claim"],
    "webhooks": [
        "deliveries/s",
        "with 5 endpoints",
        "from commit to receipt",
        "missed",
        "told twice",
    ],
    "bulk": [
        "ms of processor time a card",
        "seconds to retry 300",
        "claims' rate meanwhile",
    ],
}


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    data = tmp_path_factory.mktemp("bench")
    options = [str(part) for pair in SMALL.items() for part in pair]
    done = subprocess.run(
        [sys.executable, "-m", "bench", *FIGURES, *options],
        cwd=ROOT,
        env={**os.environ, "NOVUM_DATA": str(data)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    kept = (data / "bench" / "results.jsonl").read_text().splitlines()
    return done.stdout.splitlines(), [json.loads(line) for line in kept]


@pytest.mark.parametrize(
    ("part", "name"),
    [(part, name) for part, names in FIGURES.items() for name in names],
)
def test_each_part_prints_and_keeps_its_figures(run, part, name):
    lines, kept = run
    assert any(line.startswith(part) and name in line for line in lines)
    named = [one for one in kept if one["part"] == part and name in one["name"]]
    # The name of one page may begin another's.
    figure = min(named, key=lambda one: len(one["name"]))
    # Some are best at nothing.
    assert (
        part in ("memory", "pages", "live", "waiting", "webhooks")
        or figure["value"] > 0
    )


def test_every_goal_stands_beside_its_figure(run):
    lines, kept = run
    goals = [one for one in kept if one["goal"] is not None]
    assert len(goals) >= 14
    for figure in goals:
        (line,) = [one for one in lines if f" {figure['name']} " in f" {one} "]
        assert f"{figure['goal']:g}" in line
        assert ("MISSED" in line) != figure["met"]


def test_the_limit_is_never_passed(run):
    _, kept = run
    seen, held = [one["value"] for one in kept if "leases at once of 5" in one["name"]]
    # So short a run on a busy machine needn't come up to it.
    assert 1 < seen <= 5
    assert 1 < held <= 5


def test_an_unknown_part_is_refused():
    done = subprocess.run(
        [sys.executable, "-m", "bench", "speed"],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 2
    assert "there is no part speed" in done.stderr
