"""The races again, with PgBouncer in transaction mode between Novum and PostgreSQL.

Each transaction gets another session, so whatever was kept in one is missed or found by
somebody else.
"""

import os
import subprocess
import sys

import pytest
from django.conf import settings
from django.db import connection

from tests.pooled.bouncer import SESSIONS
from tests.processes import (
    test_claim_race,
    test_double_finish,
    test_expiry,
    test_feed_stream,
    test_idempotent_claims,
    test_limit,
)
from tests.processes.waiting import eventually
from tests.webhooks.conftest import listen, settled
from tests.webhooks.receivers import receiving
from webhooks import conf

# The fixtures of the races over who ends a lease.
by_us = test_double_finish.by_us


@pytest.fixture
def race(by_us):
    return by_us


test_a_queue_is_emptied = (
    test_claim_race.test_many_workers_empty_a_queue_and_no_card_is_done_twice
)
test_one_card_goes_to_one = (
    test_claim_race.test_one_card_goes_to_one_of_many_that_ask_at_the_same_instant
)
test_one_completion_counts = (
    test_double_finish.test_of_many_equal_completions_one_counts_and_all_hear_the_same
)
test_one_end_wins = test_double_finish.test_of_complete_and_fail_and_release_one_wins
test_a_dead_workers_card_goes_on = (
    test_expiry.test_without_a_reaper_a_dead_workers_card_goes_to_a_poller_in_time
)
test_it_comes_back_by_the_reaper = (
    test_expiry.test_with_a_reaper_a_dead_workers_card_comes_back_while_nobody_asks
)
test_one_key_is_one_claim = (
    test_idempotent_claims.test_another_workers_equal_key_is_its_own
)
test_a_limit_is_kept = test_limit.test_a_limit_is_kept_and_reached
test_streams_hear_all = (
    test_feed_stream.test_many_streams_hold_no_threads_and_all_hear_the_same
)


def test_all_goes_through_a_few_sessions(fleet, world, queue, bouncer):
    before = bouncer.transactions()
    world.add_many(20)
    assert sum(fleet(12).all("drain", queue=queue)) == 20
    assert bouncer.transactions() - before >= 40
    assert 1 <= bouncer.sessions() <= SESSIONS


def test_a_worker_delivers_webhooks_and_keeps_no_lock(
    world, reaper, monkeypatch, server
):
    monkeypatch.setattr(conf, "ALLOWED_HOSTS", frozenset({"127.0.0.1"}))
    local = {"NOVUM_WEBHOOK_ALLOWED_HOSTS": "127.0.0.1"}
    monkeypatch.setattr(server, "environment", {**server.environment, **local})
    with receiving() as receiver:
        listener = listen(world, receiver, types=["card.created"])
        with reaper(1.0):
            for number in range(3):
                world.add()
                eventually(lambda number=number: len(receiver.got) > number, 60)
            eventually(lambda: settled(listener))
            # Those of a transaction go with it; one of a session would stay.
            eventually(lambda: not advisory_locks(), 30)


def advisory_locks():
    with connection.cursor() as cursor:
        cursor.execute("SELECT pid FROM pg_locks WHERE locktype = 'advisory'")
        return cursor.fetchall()


CHECK = [
    *(sys.executable, "manage.py", "check"),
    *("--database", "default", "--fail-level", "WARNING"),
]


def checked(bouncer, **environment):
    """What `check` says, and how it ends."""
    done = subprocess.run(
        CHECK,
        cwd=settings.BASE_DIR,
        env={**os.environ, "DATABASE_URL": bouncer.url, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


def test_a_session_that_is_not_as_wanted_is_told(bouncer):
    pooled = {"NOVUM_DATABASE_POOLER": "transaction"}
    assert checked(bouncer, **pooled)[0] == 0
    code, said = checked(bouncer, **pooled, NOVUM_LOCK_TIMEOUT_MS="777")
    assert code == 1
    assert "lock_timeout = 10000, not 777" in said
    assert "SET lock_timeout = '777'" in said


def test_a_pooler_that_is_not_known_is_refused(bouncer):
    code, said = checked(bouncer, NOVUM_DATABASE_POOLER="session")
    assert code == 1
    assert "NOVUM_DATABASE_POOLER is 'transaction' or empty" in said
