"""A short R8: everything is killed all the time, and in the end nothing is lost, done
twice or stuck.

Workers kill themselves, are killed, fail, and come back too late; the web server is
killed with -9 and started again; database sessions are cut. The history of all of them
is then held against the database.
"""

import random
import time

from django.db import connection

from boards.models import Card
from leases.models import Lease
from tests.processes.history import check

CARDS = 150
WORKERS = 8
TTL = 2
MAX_ATTEMPTS = 30
CHAOS_SECONDS = 14
PATIENCE_SECONDS = 180
ENOUGH_EXPIRED = 5
# What the server's database sessions are called, to know them from others.
SESSIONS = "novum-soak"
HABITS = {
    "keys": True,
    "stays": True,
    "work": 0.02,
    "crash": 0.03,
    "fail": 0.05,
    "zombie": 0.02,
    "zombie_seconds": 1.3 * TTL,
}


def test_nothing_is_lost_or_done_twice_while_everything_is_killed(
    serve, fleet_at, world, queue, tokens
):
    random.seed(8)
    world.set(
        lease_ttl_seconds=TTL,
        max_attempts=MAX_ATTEMPTS,
        concurrency_limit=6,
        backoff_seconds=[0],
    )
    cards = world.add_many(CARDS)
    with serve(PGAPPNAME=SESSIONS) as server:
        fleet = fleet_at(server, 0)
        go(fleet, tokens(WORKERS), queue)
        until = time.monotonic() + CHAOS_SECONDS
        next_server = time.monotonic() + 4
        while time.monotonic() < until or not expired(ENOUGH_EXPIRED):
            assert time.monotonic() < until + PATIENCE_SECONDS
            time.sleep(0.4)
            random.choice(fleet.processes).kill()
            cut_a_session()
            if time.monotonic() > next_server:
                server.kill()
                server.start()
                next_server = time.monotonic() + 5
            refill(fleet, tokens, queue)
        drain(fleet, tokens, queue, cards)
        check(cards, fleet.history(), MAX_ATTEMPTS)
    assert not Lease.objects.filter(state="active").exists()
    assert Card.objects.filter(state="done").count() == CARDS


def expired(number):
    return Lease.objects.filter(state="expired").count() > number


def go(fleet, tokens, queue, **habits):
    for process in fleet.start(tokens):
        process.tell("drain", queue=queue, **(HABITS | habits))


def refill(fleet, tokens, queue, **habits):
    """The dead are replaced."""
    for process in list(fleet.processes):
        if not process.is_alive():
            fleet.processes.remove(process)
            process.close()
    go(fleet, tokens(WORKERS - len(fleet.processes)), queue, **habits)


def cut_a_session():
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE application_name = %s ORDER BY random() LIMIT 1",
            [SESSIONS],
        )


def drain(fleet, tokens, queue, cards):
    """No more chaos: what is left is worked on by workers that behave."""
    for process in fleet.processes:
        process.kill()
    behaved = {"crash": 0.0, "fail": 0.0, "zombie": 0.0}
    refill(fleet, tokens, queue, **behaved)
    until = time.monotonic() + PATIENCE_SECONDS
    while Card.objects.filter(pk__in=cards, state__in=("open", "claimed")).exists():
        assert time.monotonic() < until, "stuck"
        time.sleep(0.1)
    for process in fleet.processes:
        process.kill()
