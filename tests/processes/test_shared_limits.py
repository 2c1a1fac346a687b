"""Rate limits over many processes, and what happens when Redis doesn't answer.

encode/django-rest-framework#5181: counting was reading and then writing, so parallel
calls passed; each process counted for itself; and a header could start a new count.
"""

import socket
import time
from collections import Counter

import pytest

from novum.limits import WINDOW_SECONDS
from tests.processes.fixtures import PATIENT

LIMIT = 60
WORKERS = 10
CALLS = 20


@pytest.fixture
def limited(serve):
    with serve(
        PATIENT,
        NOVUM_RATE_LIMIT=str(LIMIT),
        NOVUM_RATE_LIMIT_FINISH=str(LIMIT),
        NOVUM_RATE_LIMIT_GUESS=str(LIMIT),
    ) as server:
        yield server


def fresh_window(seconds=10):
    """So that the calls of a test are all counted in one, if the machine has the time."""
    left = WINDOW_SECONDS - time.time() % WINDOW_SECONDS
    if left < seconds:
        time.sleep(left + 0.1)
    return time.time() // WINDOW_SECONDS


def most_since(window):
    """How many may have been let in, in that one and those that came after it."""
    return LIMIT * 1.05 * (time.time() // WINDOW_SECONDS - window + 1)


def test_parallel_calls_through_many_processes_are_counted_together(
    limited, fleet_at, world, queue, tokens
):
    (token,) = tokens(1)
    fleet = fleet_at(limited, 0)
    fleet.start([token] * WORKERS)
    window = fresh_window()
    world.add()
    holder = fleet.processes[0]
    holder.tell("ask", path=f"{queue}:claim-next")
    held = holder.hear()["body"]
    answers = fleet.all(
        "ask_often", times=CALLS, path=f"{queue}:claim-next", spoof=True
    )
    counted = Counter(status for one in answers for status in one["statuses"])
    assert set(counted) == {200, 429}
    assert LIMIT * 0.9 <= counted[200] + 1 <= most_since(window)
    assert counted.total() == WORKERS * CALLS
    # Heartbeats are counted apart, and the fleet's polling takes nothing from them.
    receipt = {"lease_token": held["lease_token"]}
    for verb in ("renew", "renew", "complete"):
        holder.tell(
            "ask", path=f"/v1/leases/{held['lease']['id']}:{verb}", body=receipt
        )
        assert holder.hear()["status"] == 200


def test_guesses_at_tokens_are_counted_together(limited, fleet_at, world):
    fleet = fleet_at(limited, 0)
    fleet.start(["nvma_" + "0" * 49] * WORKERS)
    window = fresh_window()
    answers = fleet.all(
        "ask_often", times=CALLS, path="/v1/me", method="GET", spoof=True
    )
    counted = Counter(status for one in answers for status in one["statuses"])
    assert set(counted) == {401, 429}
    assert counted[401] <= most_since(window)


@pytest.fixture
def black_hole():
    """Takes connections and says nothing."""
    with socket.create_server(("127.0.0.1", 0), backlog=100) as listener:
        yield f"redis://127.0.0.1:{listener.getsockname()[1]}/0"


def test_a_whole_shift_is_worked_without_redis_and_as_fast(
    serve, fleet_at, world, queue, black_hole
):
    """Every verb, with Redis not answering and no Celery: the rows are the truth."""
    cards = world.add_many(60)
    with serve(REDIS_URL=black_hole) as server:
        fleet = fleet_at(server, 4)
        completed = fleet.all("drain", queue=queue, fail=0.1)
        assert sum(completed) == len(cards)
        answers = fleet.all("ask_often", times=20, path="/v1/me", method="GET")
    assert {status for one in answers for status in one["statuses"]} == {200}
    # Nobody waits for it until they lose their patience.
    assert max(one["longest"] for one in answers) < 10.0
