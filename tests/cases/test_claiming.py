"""Public reports about claiming, leases, limits and retries, tried on Novum.

Each test names the thread it comes from (github.com/<repository>/issues/<number>);
symptoms in our own words. Tried elsewhere, with more processes or in more detail:

- gastownhall/beads#3570, "show next" and "claim" were two steps:
  tests/processes/test_claim_race.py
- janbjorge/pgqueuer#761, two workers both saw free room; rails/solid_queue#546 and
  #735, slots kept by the dead or skipped by a retry: tests/processes/test_limit.py
  and test_expiry.py
- janbjorge/pgqueuer#323 (first half), OptimalBits/bull#1416, oban-bg/oban#137:
  tests/processes/test_expiry.py
- hatchet-dev/hatchet#1022, both runs went on: tests/processes/test_double_finish.py
- jcagarcia/grape-idempotency#10, one key ran twice:
  tests/processes/test_idempotent_claims.py and tests/doors/test_idempotency.py
"""

import time
from contextlib import contextmanager
from datetime import datetime, timedelta
from itertools import pairwise
from uuid import UUID

import psycopg
import pytest
from django.db import connection

from boards.models import Card, Event
from leases.contract import HIGHEST_MAX_ATTEMPTS, MAX_BACKOFF_SECONDS
from leases.models import Lease
from tests.builders import event_types, make_due
from tests.doors.http import door_of
from tests.processes.fixtures import SKEWED
from tests.processes.history import check
from tests.processes.waiting import eventually


@contextmanager
def locked(lease, card):
    """Somebody else's transaction holds both rows."""
    connection.ensure_connection()
    info = connection.connection.info
    with psycopg.connect(info.dsn, password=info.password or None) as other:
        other.execute("SELECT FROM leases_lease WHERE id = %s FOR UPDATE", [lease])
        other.execute("SELECT FROM boards_card WHERE id = %s FOR UPDATE", [card])
        yield
        other.rollback()


@pytest.mark.processes
@pytest.mark.parametrize("verb", ["renew", "complete", "fail", "release"])
def test_a_call_that_waits_for_a_lock_past_the_expiry_is_too_late(
    fleet, world, queue, verb
):
    """janbjorge/pgqueuer#323: a renewal that waited across the expiry reported success
    with an expiry in the past, since the clock was read before the wait."""
    world.set(lease_ttl_seconds=1)
    card = world.add()
    (worker,) = fleet(1).processes
    worker.tell("ask", path=f"{queue}:claim-next")
    held = worker.hear()["body"]
    with locked(held["lease"]["id"], card):
        worker.tell(
            "ask",
            path=f"/v1/leases/{held['lease']['id']}:{verb}",
            body={"lease_token": held["lease_token"]},
        )
        time.sleep(1.5)
    answer = worker.hear()
    assert (answer["status"], answer["body"]["code"]) == (409, "lease_lost")
    assert event_types(card) == ["card.created", "card.lease.claimed"]
    assert Lease.objects.get().state == "active"


@pytest.mark.processes
def test_a_dead_card_requeued_twice_at_once_is_requeued_once(
    fleet_at, server, world, owner
):
    """oban-bg/oban#309: a manual retry kept old attempts and times, so the job died
    again or waited wrongly."""
    world.set(max_attempts=2, backoff_seconds=[5, 500])
    card = world.add()
    world.fail_card()
    make_due(card)
    world.fail_card()
    dead = Card.objects.get(pk=card)
    assert (dead.state, dead.attempts) == ("failed", 2)
    people = fleet_at(server, 0)
    people.start([owner.token] * 2)
    answers = people.at_once(f"/v1/cards/{card}:requeue")
    assert {one["status"] for one in answers} == {200}
    assert event_types(card).count("card.requeued") == 1
    fresh = Card.objects.get(pk=card)
    assert (fresh.state, fresh.attempts) == ("open", 0)
    assert (fresh.column_id, fresh.available_at) == (world.queue, None)
    held = world.claim()
    assert held.lease.attempt == 1
    assert [one.state for one in held.card.previous_attempts] == ["failed", "failed"]
    failed = door_of(world.worker).post(
        f"/v1/leases/{held.lease.id}:fail", {"lease_token": held.lease_token}
    )
    assert gap(failed.json()["lease"]) == pytest.approx(5, abs=0.01)
    assert Lease.objects.filter(card_id=card).count() == 3


def test_a_card_somebody_works_on_is_not_requeued(world, owner):
    """oban-bg/oban#309 once more."""
    world.add()
    held = world.claim()
    refused = owner.post(f"/v1/cards/{held.card.id}:requeue")
    assert (refused.status_code, refused.json()["code"]) == (409, "card_held")
    assert Lease.objects.get().state == "active"


def test_cards_that_cannot_be_had_yet_hold_up_none_behind_them(world, queue):
    """procrastinate-org/procrastinate#1599: a job for tomorrow stalled every ready one
    behind it."""
    world.set(
        input_schema={"required": ["payload"], "properties": {"payload": {"const": 1}}},
        backoff_seconds=[3600],
    )
    world.add("Waits", payload=1)
    world.fail_card()
    world.add("Doesn't fit", payload=2)
    ready = world.add("Ready", payload=1)
    claimed = door_of(world.worker).post(f"{queue}:claim-next").json()
    assert claimed["card"]["id"] == str(ready)


@pytest.mark.processes
def test_many_workers_pass_by_what_cannot_be_had_and_meet_no_unique_violation(
    fleet, world, queue, server
):
    """procrastinate-org/procrastinate#1599: a first repair raised a unique violation
    66 times in 300 jobs with 12 workers."""
    world.set(input_schema={"properties": {"payload": {"type": "integer"}}})
    world.add_many(20, payload="no integer")
    cards = world.add_many(300, payload=1)
    known = len(server.log())
    workers = fleet(12)
    assert sum(workers.all("drain", queue=queue)) == 300
    check(cards, workers.history(), max_attempts=5)
    log = server.log()[known:].lower()
    assert "unique" not in log
    assert "duplicate" not in log
    assert Card.objects.filter(state="open", fits=False).count() == 20


@pytest.mark.parametrize("attempts", [34, 35, 65, 310, 998])
@pytest.mark.parametrize(
    "steps", [[], [0], [7], [1, 2, 4], [0, 0, MAX_BACKOFF_SECONDS]]
)
def test_a_pause_stays_within_its_list_however_many_attempts_there_were(
    world, attempts, steps
):
    """temporalio/temporal#11225: the pause overflowed to zero near attempt 35, and a
    failing job ran in a hot loop."""
    world.set(max_attempts=HIGHEST_MAX_ATTEMPTS, backoff_seconds=steps)
    card = world.add()
    Card.objects.filter(pk=card).update(attempts=attempts)
    held = world.claim()
    assert held.lease.attempt == attempts + 1
    answer = door_of(world.worker).post(
        f"/v1/leases/{held.lease.id}:fail", {"lease_token": held.lease_token}
    )
    assert gap(answer.json()["lease"]) == pytest.approx(steps[-1] if steps else 0)


@pytest.mark.parametrize("attempts", [1_000, 10**6, 2**31 - 1])
def test_a_card_beyond_all_attempts_is_put_aside_and_the_next_one_given(
    world, attempts
):
    """temporalio/temporal#11225 and decision D5."""
    worn = world.add()
    good = world.add()
    Card.objects.filter(pk=worn).update(attempts=attempts)
    assert world.claim().card.id == good
    assert Card.objects.get(pk=worn).state == "failed"


@pytest.mark.parametrize(
    "steps",
    [[1.5], [-1], [MAX_BACKOFF_SECONDS + 1], [5, 4], [True], ["1"], [None], [1] * 51],
)
def test_a_list_of_pauses_that_makes_no_sense_is_refused(owner, queue, steps):
    """temporalio/temporal#11225."""
    refused = owner.put(
        f"{queue}/contract", {"enabled": True, "backoff_seconds": steps}
    )
    assert refused.status_code == 422
    assert refused.json()["errors"][0]["pointer"].startswith("/backoff_seconds")


@pytest.mark.processes
def test_pauses_are_as_long_as_promised(fleet, world, queue):
    """temporalio/temporal#11219 and riverqueue/river#698: the pause was computed and
    never applied. Failed twice under hard polling, and measured."""
    world.set(backoff_seconds=[1, 2])
    card = world.add()
    (worker,) = fleet(1).processes
    worker.tell("drain", queue=queue, fail=1.0, poll=0.05, stays=True)
    eventually(lambda: Lease.objects.filter(attempt=3).exists())
    worker.kill()
    leases = list(Lease.objects.filter(card_id=card).order_by("acquired_at")[:3])
    pauses = [
        (later.acquired_at - earlier.ended_at).total_seconds()
        for earlier, later in pairwise(leases)
    ]
    # Not much longer either, which on a busy machine is not to be told by tenths.
    assert 1.0 <= pauses[0] <= 11.0
    assert 2.0 <= pauses[1] <= 12.0


@pytest.mark.processes
@pytest.mark.parametrize("seconds", [600, -600, 86_400])
def test_only_the_databases_clock_counts(
    serve, server, fleet_at, world, queue, seconds
):
    """Krzysztof318/MailFathom#1989: leases were judged by each replica's clock, so one
    that ran ahead took live leases. Two servers, one of them wrong by minutes or a day
    and in another time zone; everything goes through both by turns."""
    world.set(lease_ttl_seconds=60)
    world.add_many(6)
    skew = {"NOVUM_SKEW": str(seconds), "TZ": "Asia/Kathmandu"}
    with serve(SKEWED, **skew) as wrong:
        workers = [fleet_at(one, 1).processes[0] for one in (server, wrong)]
        for turn in range(4):
            claimer, other = workers[turn % 2], workers[(turn + 1) % 2]
            held = ask(claimer, f"{queue}:claim-next")["body"]
            assert near(held["server_time"])
            assert made_at(held["lease"]["id"]) == pytest.approx(
                time.time() + (seconds if claimer is workers[1] else 0), abs=60
            )
            assert gap_of(held["server_time"], held["lease"]["expires_at"]) == 60
            empty = ask(other, f"{queue}:claim-next", {"count": 50})["body"]
            others = {one["card"]["id"] for one in empty["claims"]}
            assert held["card"]["id"] not in others
            for one in empty["claims"]:
                release(other, one)
            for verb in ("renew", "complete"):
                receipt = {"lease_token": held["lease_token"]}
                path = f"/v1/leases/{held['lease']['id']}:{verb}"
                assert ask(other, path, receipt)["status"] == 200
    assert Lease.objects.filter(state="completed").count() == 4
    assert not Lease.objects.filter(state="expired").exists()
    stamps = Event.objects.values_list("created_at", flat=True)
    assert all(near(stamp.isoformat()) for stamp in stamps)


@pytest.mark.processes
def test_history_is_told_in_the_databases_order(serve, fleet_at, server, world, queue):
    """Krzysztof318/MailFathom#1989: what a server with a fast clock did comes before
    what another one does later."""
    world.add()
    key = {"Idempotency-Key": "again"}
    with serve(SKEWED, NOVUM_SKEW="600") as fast:
        early, late = (fleet_at(one, 1).processes[0] for one in (fast, server))
        first = ask(early, f"{queue}:claim-next")["body"]
        path = f"/v1/leases/{first['lease']['id']}:fail"
        receipt = {"lease_token": first["lease_token"], "reason": "Early."}
        assert ask(early, path, receipt)["status"] == 200
    for _ in range(2):
        second = ask(late, f"{queue}:claim-next", headers=key)["body"]
        reasons = [one["reason"] for one in second["card"]["previous_attempts"]]
        assert reasons == ["Early."]


def ask(process, path, body=None, **more):
    process.tell("ask", path=path, body=body or {}, **more)
    return process.hear()


def made_at(lease: str) -> float:
    """When the server that made the id thought it was (RFC 9562)."""
    return (UUID(lease).int >> 80) / 1000


def release(process, claim):
    path = f"/v1/leases/{claim['lease']['id']}:release"
    assert ask(process, path, {"lease_token": claim["lease_token"]})["status"] == 200


def near(moment: str) -> bool:
    away = datetime.fromisoformat(moment).timestamp() - time.time()
    return abs(away) < 60


def gap(lease) -> float:
    """From the end of the lease to when its card may be had again, in seconds."""
    if lease["next_due"] is None:
        return 0.0
    return gap_of(lease["ended_at"], lease["next_due"])


def gap_of(earlier: str, later: str) -> float:
    between = datetime.fromisoformat(later) - datetime.fromisoformat(earlier)
    return between / timedelta(seconds=1)
