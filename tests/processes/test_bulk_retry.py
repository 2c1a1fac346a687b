"""Thousands of dead letters are retried while sixteen workers claim: nobody meets a
deadlock, and a runner that is killed leaves nothing half done or done twice."""

import os
import subprocess
import sys
from contextlib import ExitStack

import pytest
from django.conf import settings
from django.db import connection

from boards.models import Card, Event
from leases.models import Lease
from supervision.models import BulkAction, BulkItem
from tests.processes.fixtures import database_url
from tests.processes.waiting import eventually
from tests.supervision.dead import SCHEMA, many_dead_letters

WORKERS = 16
CARDS = int(os.environ.get("NOVUM_BULK_CARDS", "1000"))
RUNNER = """
import django
django.setup()
from supervision.bulk import running
print("ready", flush=True)
while running.run_some(60):
    pass
"""


@pytest.fixture
def runner():
    """`runner()` starts one more process that does what the worker does."""
    with ExitStack() as stack:

        def start():
            process = subprocess.Popen(
                [sys.executable, "-c", RUNNER],
                cwd=settings.BASE_DIR,
                env={
                    **os.environ,
                    "DATABASE_URL": database_url(),
                    "REDIS_URL": settings.REDIS_URL,
                    "SECRET_KEY": settings.SECRET_KEY,
                    "NOVUM_DB_POOL": "0",
                },
                stdout=subprocess.PIPE,
                text=True,
            )
            stack.callback(process.wait)
            stack.callback(process.kill)
            return process

        yield start


def deadlocks():
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_stat_clear_snapshot(), deadlocks FROM pg_stat_database"
            " WHERE datname = current_database()"
        )
        return cursor.fetchone()[1]


def test_many_are_retried_while_workers_claim_and_a_runner_is_killed(
    fleet, world, queue, owner, runner
):
    world.set(input_schema=SCHEMA)
    many_dead_letters(world, CARDS, payload={"url": "u"})
    before = deadlocks()
    workers = fleet(WORKERS)
    for process in workers.processes:
        process.tell("drain", queue=queue, stays=True)
    wanted = {"filter": {}, "dry_run": False}
    begun = owner.post("/v1/dead-letters:retry", wanted).json()
    assert begun["plan"]["will"] == CARDS
    action = BulkAction.objects.get(pk=begun["action"]["id"])

    first = runner()
    eventually(lambda: refreshed(action).done > 0)
    first.kill()
    first.wait()
    runner(), runner()
    eventually(lambda: refreshed(action).state == "finished", 300)
    done = Card.objects.filter(column_id=world.done, state="done")
    eventually(lambda: done.count() == CARDS, 300)
    history = workers.history()
    workers.close()

    assert (action.done, action.refused) == (CARDS, 0)
    assert not BulkItem.objects.exclude(state="done").exists()
    # Once each: one more event and one more attempt, and what was before is there.
    requeued = Event.objects.filter(type="card.requeued")
    assert requeued.count() == requeued.distinct("card_id").count() == CARDS
    assert Lease.objects.filter(state="failed").count() == CARDS
    assert Lease.objects.filter(state="completed", attempt=1).count() == CARDS
    assert deadlocks() == before
    assert {one.outcome for one in history if one.kind == "complete"} == {"ok"}


def refreshed(action):
    action.refresh_from_db()
    return action
