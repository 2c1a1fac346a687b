"""SIGTERM and SIGKILL: a worker ends with its work done, or given back, or taken over."""

import time

import pytest

from boards.models import Card
from leases.models import Lease
from tests.processes.waiting import eventually


@pytest.mark.parametrize("is_async", [False, True])
def test_after_sigterm_the_work_at_hand_comes_to_its_end(
    start, token, world, is_async, tmp_path
):
    world.add_many(3)
    told = tmp_path / "told"
    # It goes on for a while after it was told to stop.
    program = start(token, until=str(told), work=1.0, grace=60, is_async=is_async)
    eventually(lambda: program.saw("began"))
    program.terminate()
    told.touch()
    assert program.ends() == 0
    (ended,) = program.saw("ended")
    assert (ended["completed"], ended["given_back"]) == (1, 0)
    assert sorted(Card.objects.values_list("state", flat=True)) == [
        "done",
        *["open"] * 2,
    ]


@pytest.mark.parametrize("is_async", [False, True])
def test_what_takes_longer_than_the_grace_is_interrupted_and_given_back(
    start, token, world, is_async
):
    world.add()
    program = start(token, work=60, grace=0.5, is_async=is_async)
    eventually(lambda: program.saw("began"))
    program.terminate()
    began = time.monotonic()
    assert program.ends() == 0
    assert time.monotonic() - began < 30
    (interrupted,) = program.saw("interrupted")
    assert interrupted["why"] == ("CancelledError" if is_async else "Stopped")
    check_given_back()


def check_given_back():
    """Open at once for others, the attempt not counted."""
    card, lease = Card.objects.get(), Lease.objects.get()
    assert (card.state, card.attempts, card.available_at) == ("open", 0, None)
    assert lease.state == "released"


def test_work_that_does_not_listen_is_given_back_over_its_head(start, token, world):
    world.add()
    program = start(token, work=60, grace=0.2, is_deaf=True)
    eventually(lambda: program.saw("began"))
    program.terminate()
    assert program.ends() == 0
    assert program.saw("interrupted") == []
    check_given_back()


def test_a_second_sigterm_ends_the_grace(start, token, world):
    world.add()
    program = start(token, work=60, grace=60)
    eventually(lambda: program.saw("began"))
    program.terminate()
    time.sleep(0.5)
    assert program.is_alive()
    program.terminate()
    assert program.ends(30) == 0
    check_given_back()


def test_an_idle_worker_ends_at_once(start, token, world):
    program = start(token)
    world.add()
    eventually(lambda: program.saw("returned"))
    time.sleep(0.3)
    program.terminate()
    began = time.monotonic()
    assert program.ends() == 0
    assert time.monotonic() - began < 15


def test_a_killed_workers_card_goes_to_another_one_when_its_lease_lapses(
    start, token, world
):
    world.set(lease_ttl_seconds=1)
    world.add()
    killed = start(token, work=60)
    eventually(lambda: killed.saw("began"))
    killed.kill()
    other = start(token)
    eventually(lambda: Card.objects.get().state == "done")
    assert other.saw("began")[0]["attempt"] == 2
    states = Lease.objects.order_by("attempt").values_list("state", flat=True)
    assert list(states) == ["expired", "completed"]
