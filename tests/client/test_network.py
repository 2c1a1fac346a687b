"""The network cuts, stalls and loses; the server restarts. Nothing is done twice."""

import threading
import time
from contextlib import contextmanager

import pytest

from boards.models import Card
from leases.models import Lease
from novum_client import Client, LeaseLost
from tests.processes.waiting import eventually


@pytest.fixture
def far(network, token):
    """A client behind the network."""
    client = Client(network.url, token, timeout=5.0)
    yield client
    client.close()


def leases():
    return list(Lease.objects.order_by("acquired_at").values_list("state", flat=True))


@contextmanager
def running(made):
    """In the background, until the test is through with it."""
    thread = threading.Thread(target=made.run, kwargs={"signals": False})
    thread.start()
    try:
        yield
    finally:
        made.stop()
        thread.join(60)
        assert not thread.is_alive()


def test_a_claim_whose_answer_was_lost_is_made_once(working, world, network, far):
    world.add_many(2)
    network.lose(":claim-next", times=2)
    tally = working(client=far)(lambda job: job.title).run(until_empty=True)
    assert tally.completed == 2
    assert leases() == ["completed", "completed"]
    assert network.count(":claim-next") >= 4


@pytest.mark.parametrize("by_name", [False, True])
def test_a_claim_that_is_answered_too_late_is_not_worked_on(
    working, world, network, far, by_name
):
    """The lease of the lost answer has lapsed meanwhile, and another one has the card."""
    world.set(lease_ttl_seconds=1, queue="reports")
    world.add()
    place = {"queue": "reports", "board_id": "", "column_id": ""} if by_name else {}
    began, through = [], threading.Event()

    @working(client=far, **place)
    def late(job):
        began.append("late")

    @working()
    def successor(job):
        began.append("successor")
        through.wait(60)

    claim = "tasks:claim" if by_name else ":claim-next"
    network.lose(claim)
    with running(late):
        eventually(lambda: Lease.objects.exists())
        network.cut()
        with running(successor):
            eventually(lambda: began)
            asked = network.count(claim)
            network.mend()
            eventually(lambda: network.count(claim) >= asked + 2)
            assert began == ["successor"]
            through.set()
    assert leases() == ["expired", "completed"]


def test_a_completion_whose_answer_was_lost_is_told_again(working, world, network, far):
    world.add()
    network.lose(":complete", times=2)
    tally = working(client=far)(lambda job: "result").run(until_empty=True)
    assert (tally.completed, tally.lost) == (1, 0)
    assert leases() == ["completed"]
    assert network.count(":complete") == 3


def test_a_cut_during_the_work_costs_nothing(working, world, network, far):
    world.set(lease_ttl_seconds=6)
    world.add()

    @working(client=far)
    def slow(job):
        network.cut()
        job.progress("said in vain at first")
        time.sleep(2.5)
        network.mend()
        time.sleep(4)
        return Lease.objects.get().doing

    tally = slow.run(until_empty=True)
    assert (tally.completed, leases()) == (1, ["completed"])
    assert Card.objects.get().output == "said in vain at first"


def test_a_cut_at_the_end_of_the_work_keeps_the_result(working, world, network, far):
    world.set(lease_ttl_seconds=10)
    world.add()

    @working(client=far)
    def quick(job):
        network.cut()
        threading.Timer(1.5, network.mend).start()
        return "kept"

    tally = quick.run(until_empty=True)
    assert (tally.completed, leases()) == (1, ["completed"])
    assert Card.objects.get().output == "kept"


def test_a_stalled_network_costs_nothing_either(working, world, network, far):
    """No byte comes through for a while, and nobody says so."""
    world.set(lease_ttl_seconds=6)
    world.add()

    @working(client=far)
    def slow(job):
        network.stall()
        time.sleep(2.5)
        network.mend()
        time.sleep(4)
        return "whole"

    tally = slow.run(until_empty=True)
    assert (tally.completed, leases()) == (1, ["completed"])


@pytest.mark.parametrize("trouble", ["cut", "stall"])
def test_a_worker_that_is_cut_off_for_too_long_stops_before_another_one_begins(
    working, world, network, far, trouble
):
    world.set(lease_ttl_seconds=1)
    world.add()
    # When it could still go on, and whether it has stopped.
    went_on_at, stopped = [0.0], []

    @working(client=far)
    def lonely(job):
        getattr(network, trouble)()
        try:
            while True:
                time.sleep(0.02)
                asked_at = time.time()
                job.check()
                went_on_at.append(asked_at)
        except LeaseLost:
            stopped.append("lost")
            raise

    began_at = []

    @working()
    def successor(job):
        began_at.append(time.time())

    with running(lonely):
        eventually(lambda: Lease.objects.exists())
        with running(successor):
            eventually(lambda: began_at and stopped)
        # What was held up in the network is gone with its connections.
        network.cut()
        network.mend()
    assert went_on_at[-1] <= began_at[0]
    assert leases() == ["expired", "completed"]


def test_a_claim_that_hangs_when_the_worker_is_stopped_is_given_back(
    working, world, network, far
):
    """The server has made the lease; the answer comes at last, and nobody works."""
    world.add()
    network.lose(":claim-next")
    made = working(client=far)(lambda job: pytest.fail("no work after the end"))
    thread = threading.Thread(target=made.run, kwargs={"signals": False})
    real = far.claim

    def claim(*arguments, **options):
        try:
            return real(*arguments, **options)
        finally:
            made.stop()

    far.claim = claim
    thread.start()
    thread.join(60)
    assert not thread.is_alive()
    assert leases() == ["released"]
    assert Card.objects.get().attempts == 0


def test_a_restart_of_the_server_in_the_middle_is_invisible(
    serve, token, working, world
):
    """Three seconds without a server: claims, heartbeats and results wait for it."""
    world.set(lease_ttl_seconds=20)
    world.add_many(40)
    began = []

    with serve() as server:
        host, port = server.address
        client = Client(f"http://{host}:{port}", token)

        @working(client=client, concurrency=4)
        def steady(job):
            began.append(job.id)
            time.sleep(0.2)
            return job.title

        with running(steady):
            eventually(lambda: len(began) >= 8)
            server.kill()
            time.sleep(3)
            server.start()
            eventually(lambda: Card.objects.filter(state="done").count() == 40)
    assert leases() == ["completed"] * 40
    assert len(began) == len(set(began)) == 40
