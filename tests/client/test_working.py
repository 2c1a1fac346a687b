"""What a function returns and raises, and what becomes of the card."""

import threading
import time
from datetime import UTC, datetime, timedelta

import pytest

from boards.models import Card
from boards.verbs.comments import add_comment
from leases.models import Lease
from leases.verbs.cancel import request_cancel
from leases.verbs.revoke import revoke
from novum_client import (
    Cancelled,
    Client,
    Fatal,
    LeaseLost,
    Refused,
    Retry,
    WaitUntil,
    worker,
)
from tests.processes.waiting import eventually


def later(hours: float) -> WaitUntil:
    """Reckoned when the test runs: it may have been read long before."""
    return WaitUntil(datetime.now(UTC) + timedelta(hours=hours), "quota")


def card() -> Card:
    return Card.objects.get()


def run_once(made):
    """Until the first job is over, however it ended."""
    thread = threading.Thread(target=made.run, kwargs={"signals": False})
    thread.start()
    eventually(lambda: Lease.objects.exclude(ended_at=None).exists())
    made.stop()
    thread.join(60)
    assert not thread.is_alive()


def test_what_a_function_returns_is_the_output_and_the_card_moves_on(working, world):
    world.add("Write", payload={"files": ["a", "b"]}, description="Two files")

    @working()
    def count(job):
        """Counts."""
        assert (job.title, job.description, job.attempt) == ("Write", "Two files", 1)
        return {"files": len(job.payload["files"])}

    assert count.run(until_empty=True).completed == 1
    assert (card().output, card().column_id) == ({"files": 2}, world.done)
    assert count.__doc__ == "Counts."


def test_a_queue_is_worked_on_by_its_name(client, world):
    world.set(queue="reports")
    world.add_many(3, payload=2)

    @worker(queue="reports", client=client, lease_seconds=30)
    def double(job):
        return job.payload * 2

    assert double.run(until_empty=True).completed == 3
    assert set(Card.objects.values_list("state", "output")) == {("done", 4)}
    assert {one.seconds for one in Lease.objects.all()} == {30}


def test_jobs_run_at_the_same_time_up_to_the_number_asked_for(working, world):
    world.add_many(12)
    all_four = threading.Barrier(4)

    @working(concurrency=4)
    def together(job):
        all_four.wait(20)

    assert together.run(until_empty=True).completed == 12


def test_any_exception_fails_the_attempt_and_another_one_follows(working, world):
    world.set(max_attempts=2)
    world.add()

    @working()
    def broken(job):
        raise KeyError(job.attempt)

    assert broken.run(until_empty=True).failed == 2
    assert card().state == "failed"
    reasons = Lease.objects.order_by("attempt").values_list("reason", flat=True)
    assert list(reasons) == ["KeyError: 1", "KeyError: 2"]


@pytest.mark.parametrize(
    ("made", "kind", "attempts", "seconds"),
    [
        (lambda: Retry("later", after_seconds=100), "retry", 1, 100),
        (lambda: later(hours=9), "wait_until", 0, 9 * 3600),
        (lambda: later(hours=365 * 24), "wait_until", 0, 7 * 86_400),
        (lambda: Fatal("no such file"), "fatal", 1, None),
    ],
)
def test_each_kind_of_failure_has_its_consequence(
    working, world, made, kind, attempts, seconds
):
    world.set(max_attempts=3)
    world.add()
    error = made()

    @working()
    def failing(job):
        raise error

    run_once(failing)
    lease = Lease.objects.get()
    assert (lease.failure, lease.reason) == (kind, str(error))
    assert (card().attempts, card().state) == (
        attempts,
        "open" if seconds else "failed",
    )
    if seconds:
        left = card().available_at - lease.ended_at
        assert seconds * 0.9 < left.total_seconds() <= seconds + 1


def test_a_result_that_is_no_json_or_is_refused_fails_the_attempt(working, world):
    world.set(max_attempts=2, output_schema={"type": "integer"})
    world.add()
    results = [{1, 2}, "seven"]

    @working()
    def wrong(job):
        return results[job.attempt - 1]

    assert wrong.run(until_empty=True).failed == 2
    first, second = Lease.objects.order_by("attempt")
    assert "no JSON" in first.reason
    assert "output_rejected" in second.reason


def test_reasons_that_no_database_takes_arrive_cleaned(working, world):
    world.set(max_attempts=1)
    world.add()

    @working()
    def odd(job):
        raise ValueError("a\0b\ud800" + "c" * 5000)

    assert odd.run(until_empty=True).failed == 1
    assert Lease.objects.get().reason.startswith(
        "ValueError: a\N{REPLACEMENT CHARACTER}b"
    )


def test_heartbeats_keep_a_card_for_longer_than_its_lease(working, world):
    world.set(lease_ttl_seconds=6)
    world.add()

    @working()
    def slow(job):
        held = Lease.objects.get()
        eventually(lambda: Lease.objects.get().renewals >= 2)
        eventually(lambda: datetime.now(UTC) > held.expires_at)

    assert slow.run(until_empty=True).completed == 1
    lease = Lease.objects.get()
    held_for = (lease.ended_at - lease.acquired_at).total_seconds()
    # Each at 0.8 to 1.0 thirds of six seconds, and later on a busy machine.
    assert 2 <= lease.renewals <= held_for / 1.6


def test_progress_is_shown_and_remarks_come_back(working, world):
    world.add()

    @working()
    def talking(job):
        job.progress("reading\0 the   figures " + "x" * 300)
        eventually(lambda: Lease.objects.get().doing)
        add_comment(world.owner, card_id=card().pk, text="In euros, please.")
        time.sleep(1)
        job.progress("counting")
        eventually(lambda: job.comments)
        return [job.comments[0].text, Lease.objects.get().doing]

    assert talking.run(until_empty=True).completed == 1
    assert card().output == ["In euros, please.", "counting"]


def test_a_card_that_is_called_off_stops_the_work(working, world):
    world.set(lease_ttl_seconds=6)
    world.add()
    seen = []

    @working()
    def patient(job):
        request_cancel(world.owner, card_id=card().pk, reason="not needed")
        try:
            while True:
                time.sleep(0.05)
                job.check()
        except Cancelled as why:
            seen.append((str(why), job.cancelled, job.lost))
            raise

    tally = patient.run(until_empty=True)
    assert tally.cancelled == 1
    assert len(seen) == 1
    assert "not needed" in seen[0][0]
    assert seen[0][1:] == (True, False)
    assert (card().state, Lease.objects.get().outcome) == ("failed", "cancelled")


def test_a_lost_lease_stops_the_work_and_its_result_is_dropped(working, world):
    world.set(lease_ttl_seconds=2)
    world.add()

    @working()
    def robbed(job):
        if job.attempt == 1 and Lease.objects.count() == 1:
            revoke(world.owner, lease_id=Lease.objects.get().pk)
            while True:
                try:
                    time.sleep(0.05)
                    job.check()
                except Exception:
                    return "never raised here"
                except LeaseLost:
                    assert job.lost
                    return "dropped"
        return "kept"

    tally = robbed.run(until_empty=True)
    assert (tally.lost, tally.completed) == (1, 1)
    assert card().output == "kept"


def test_a_token_that_is_refused_ends_the_worker_with_the_reason(url, world):
    made = worker(queue="any", client=Client(url, "nvma_" + "0" * 49))(print)
    with pytest.raises(Refused) as refused:
        made.run()
    assert refused.value.status == 401


def test_a_queue_that_does_not_exist_is_an_error(client, world):
    with pytest.raises(Refused) as refused:
        worker(queue="nowhere", client=client)(print).run()
    assert refused.value.code == "unknown_queue"


def test_a_queue_that_is_none_for_a_while_is_waited_for(working, world):
    world.set(enabled=False)
    world.add()
    made = working()(lambda job: "done")
    thread = threading.Thread(target=made.run, kwargs={"signals": False})
    thread.start()
    time.sleep(0.5)
    assert thread.is_alive()
    world.set(enabled=True)
    eventually(lambda: card().output == "done")
    made.stop()
    thread.join(60)


def test_a_worker_can_be_called_as_the_function_that_it_is(working):
    @working()
    def echo(job):
        return job

    assert echo("job") == "job"
