"""A worker dies with a card in its hands: the card comes back, in time and not before,
whether or not a reaper runs; and one that always kills its worker is put aside.
"""

import sys
import time
from contextlib import contextmanager
from datetime import timedelta

import pytest

from boards.models import Card
from leases.models import Lease
from novum.running.children import Child
from tests.processes.waiting import eventually

TTL = 1
# Pollers ask every 50 ms; the rest is for a busy machine.
LATE = timedelta(seconds=15)


@pytest.fixture
def reaper(family, server, tmp_path):
    """The Celery worker with beat, as `make up` runs it, only more often."""

    @contextmanager
    def reaper(seconds: float):
        schedule = tmp_path / "beat"
        child = Child(
            name="worker",
            command=[
                *(sys.executable, "-m", "celery", "-A", "novum.celery", "worker"),
                *("--beat", "--schedule", schedule, "--concurrency", "1"),
                *("--without-gossip", "--without-mingle", "--loglevel", "WARNING"),
            ],
            log=tmp_path / "celery.log",
            environment={
                "DJANGO_SETTINGS_MODULE": "novum.settings",
                **server.environment,
                "NOVUM_REAP_SECONDS": str(seconds),
            },
        )
        family.start(child)
        yield
        family.bury(child)

    return reaper


def in_turn(world, number=2) -> list[Lease]:
    found = list(Lease.objects.order_by("acquired_at"))
    assert len(found) == number
    return found


def test_without_a_reaper_a_dead_workers_card_goes_to_a_poller_in_time(
    fleet, world, queue
):
    """rails/solid_queue#546: a killed worker's slot stayed taken for ever."""
    world.set(lease_ttl_seconds=TTL, concurrency_limit=1)
    world.add()
    dying, *pollers = fleet(6).processes
    dying.tell("drain", queue=queue, crash=1.0)
    assert dying.hear() is None
    for poller in pollers:
        poller.tell("drain", queue=queue, stays=True)
    eventually(lambda: Card.objects.filter(state="done").exists())
    first, second = in_turn(world)
    assert first.state == "expired"
    assert first.ended_at >= first.expires_at
    assert timedelta() <= second.acquired_at - first.expires_at < LATE
    assert (second.attempt, second.slot) == (2, 1)


def test_with_a_reaper_a_dead_workers_card_comes_back_while_nobody_asks(
    fleet, world, queue, reaper
):
    world.set(lease_ttl_seconds=TTL)
    world.add()
    with reaper(0.3):
        (dying,) = fleet(1).processes
        dying.tell("drain", queue=queue, crash=1.0)
        assert dying.hear() is None
        eventually(lambda: Lease.objects.filter(state="expired").exists())
    (lease,) = in_turn(world, 1)
    assert lease.ended_at >= lease.expires_at
    assert (lease.reason, lease.outcome) == ("lease_expired", "requeued")
    assert Card.objects.get().state == "open"


def test_a_heartbeat_keeps_a_card_however_hard_others_ask(fleet, world, queue, reaper):
    """janbjorge/pgqueuer#323: renewal had the period of recovery, and live work was
    taken. Here a lease of four seconds is held for nine, with a reaper and pollers."""
    world.set(lease_ttl_seconds=4)
    world.add()
    holder, *pollers = fleet(4).processes
    holder.tell("ask", path=f"{queue}:claim-next")
    held = holder.hear()["body"]
    before = Card.objects.get()
    with reaper(0.1):
        for poller in pollers:
            poller.tell("drain", queue=queue, stays=True)
        until = time.monotonic() + 9
        renewals = 0
        while time.monotonic() < until:
            time.sleep(0.5)
            holder.tell(
                "ask",
                path=f"/v1/leases/{held['lease']['id']}:renew",
                body={"lease_token": held["lease_token"]},
            )
            answer = holder.hear()
            assert answer["status"] == 200
            assert answer["body"]["expires_at"] > answer["body"]["server_time"]
            renewals += 1
    (lease,) = in_turn(world, 1)
    assert (lease.state, lease.renewals) == ("active", renewals)
    after = Card.objects.get()
    assert (after.version, after.sequence) == (before.version, before.sequence)


def test_a_card_that_kills_its_workers_is_put_aside_after_its_attempts(
    fleet, world, queue
):
    """oban-bg/oban#137: a job that crashed its machine ran 32 times with a maximum of
    one, since attempts counted clean failures only."""
    world.set(lease_ttl_seconds=TTL, max_attempts=3)
    card = world.add("Poison")
    world.add("Good")
    workers = fleet(5)
    for process in workers.processes:
        process.tell("drain", queue=queue, poison=["Poison"], stays=True)
    eventually(lambda: Card.objects.get(pk=card).state == "failed")
    poison = Card.objects.get(pk=card)
    assert poison.column_id == world.failed
    leases = list(Lease.objects.filter(card_id=card).order_by("acquired_at"))
    assert [lease.attempt for lease in leases] == [1, 2, 3]
    assert {lease.state for lease in leases} == {"expired"}
    assert poison.attempts == 3
    eventually(lambda: sum(p.is_alive() for p in workers.processes) == 2)
    eventually(lambda: Card.objects.filter(state="done").count() == 1)


@pytest.mark.parametrize("verb", ["complete", "fail", "release", "renew"])
def test_a_worker_that_comes_back_too_late_changes_nothing(fleet, world, queue, verb):
    """OptimalBits/bull#1416: the zombie's failure was written on to the job that
    another worker held by then."""
    world.set(lease_ttl_seconds=TTL, backoff_seconds=[7])
    world.add()
    zombie, successor = fleet(2).processes
    zombie.tell("ask", path=f"{queue}:claim-next")
    late = zombie.hear()["body"]
    # The successor's lease is not to end before the test does.
    world.set(lease_ttl_seconds=300)
    held = {"lease": None}
    while not held["lease"]:
        successor.tell("ask", path=f"{queue}:claim-next")
        held = successor.hear()["body"]
    before = (Card.objects.values().get(), list(Lease.objects.values()))
    zombie.tell(
        "ask",
        path=f"/v1/leases/{late['lease']['id']}:{verb}",
        body={"lease_token": late["lease_token"]},
    )
    answer = zombie.hear()
    assert (answer["status"], answer["body"]["code"]) == (409, "lease_lost")
    assert answer["body"]["current"]["held_by_another"] is True
    assert (Card.objects.values().get(), list(Lease.objects.values())) == before
    successor.tell(
        "ask",
        path=f"/v1/leases/{held['lease']['id']}:complete",
        body={"lease_token": held["lease_token"]},
    )
    assert successor.hear()["status"] == 200
