"""Somebody who has read `/llms.txt` and nothing else drains the queues."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from boards.models import Card
from leases.models import Lease
from tests.builders import a_world
from tests.doors.http import token_of

pytestmark = pytest.mark.processes


def run(server, token) -> list[str]:
    host, port = server.address
    script = Path(__file__).with_name("stranger.py")
    command = [sys.executable, "-I", "-S", script, f"http://{host}:{port}", token]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    asked: list[str] = json.loads(done.stdout)
    return asked


def test_a_stranger_drains_the_queues_at_the_first_try(server, transactional_db):
    world = a_world(max_attempts=2, backoff_seconds=[])
    later = world.column("Later")
    cards = world.add_many(25)
    waiting = world.add("Not a job", column=later)
    bad = world.add("Impossible")
    asked = run(server, token_of(world.worker, ["read", "work"]))
    for card in Card.objects.filter(pk__in=cards):
        assert (card.state, card.column_id) == ("done", world.done)
        assert card.output == {"did": card.title}
    assert Card.objects.get(pk=bad).state == "failed"
    assert Card.objects.get(pk=bad).column_id == world.failed
    assert Card.objects.get(pk=waiting).column_id == later
    assert set(Lease.objects.values_list("state", flat=True)) == {"completed", "failed"}
    assert asked[0].endswith("/llms.txt")
    assert not [one for one in asked[1:] if "openapi" in one or ".md" in one]
