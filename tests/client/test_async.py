"""Async functions: their jobs are tasks of one loop, and a lost job is a cancelled one."""

import asyncio
import threading
import time

import pytest

from boards.models import Card
from leases.models import Lease
from leases.verbs.revoke import revoke
from novum_client import Retry
from tests.client.conftest import closing


def test_async_jobs_run_as_tasks_of_one_loop(working, world):
    world.add_many(10)
    at_once, most, together = 0, 0, asyncio.Event()

    @working(concurrency=5)
    async def overlapping(job):
        nonlocal at_once, most
        at_once += 1
        most = max(most, at_once)
        if most == 5:
            together.set()
        # Nobody ends before so many are there; and no more come, however long it takes.
        await asyncio.wait_for(together.wait(), 30)
        await asyncio.sleep(0.3)
        at_once -= 1
        return job.title

    assert overlapping.run(until_empty=True).completed == 10
    assert most == 5
    assert {one.output for one in Card.objects.all()} == {
        f"Card {i}" for i in range(10)
    }


def test_a_blocked_loop_loses_no_lease(working, world):
    world.set(lease_ttl_seconds=6)
    world.add()

    @working()
    async def blocking(job):
        time.sleep(7)
        return "kept"

    assert blocking.run(until_empty=True).completed == 1
    assert Lease.objects.get().renewals >= 2


def test_a_lost_lease_cancels_the_task(working, world):
    world.set(lease_ttl_seconds=2)
    world.add()
    seen = []

    @working()
    async def robbed(job):
        if not seen:
            seen.append("begun")
            await asyncio.to_thread(lose)
            try:
                await asyncio.sleep(30)
            except asyncio.CancelledError:
                seen.append(job.lost)
                raise
        return "kept"

    @closing
    def lose():
        revoke(world.owner, lease_id=Lease.objects.get().pk)

    tally = robbed.run(until_empty=True)
    assert (tally.lost, tally.completed) == (1, 1)
    assert seen == ["begun", True]


def test_what_an_async_function_raises_means_the_same(working, world):
    world.set(max_attempts=3)
    world.add()
    errors = [Retry("not now"), asyncio.CancelledError()]

    @working()
    async def failing(job):
        if job.attempt <= len(errors):
            raise errors[job.attempt - 1]
        return "third"

    tally = failing.run(until_empty=True)
    assert (tally.failed, tally.completed) == (2, 1)
    first, second, _ = Lease.objects.order_by("attempt")
    assert first.reason == "not now"
    assert second.reason.startswith("CancelledError")


def test_an_async_function_makes_calls_of_its_own(working, world):
    """A pipeline: each job makes the next card, once, however often it's said."""
    world.set(queue="reports")
    world.add("First")

    @working()
    async def planning(job):
        if job.title == "First":
            new = {"queue": "reports", "title": "Second", "parent": job.id}
            made = [
                await job.client.call_async("POST", "/tasks", new, key=job.id)
                for _ in range(2)
            ]
            return made[0]["task"]["id"] == made[1]["task"]["id"]
        return job.title

    assert planning.run(until_empty=True).completed == 2
    outputs = dict(Card.objects.values_list("title", "output"))
    assert outputs == {"First": True, "Second": "Second"}


def test_a_served_worker_that_is_cancelled_ends_its_work_first(working, world):
    world.add()
    begun = asyncio.Event()

    @working()
    async def short(job):
        # The lease alone is no sign: its answer may still be on its way.
        begun.set()
        await asyncio.sleep(0.5)
        return "whole"

    async def run():
        task = asyncio.create_task(short.serve())
        await asyncio.wait_for(begun.wait(), 30)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(run())
    assert Card.objects.get().output == "whole"


def test_a_sync_function_is_served_beside_other_tasks(working, world):
    world.add_many(2)
    begun, ticked = [threading.Event() for _ in range(2)], threading.Event()

    @working()
    def sync(job):
        begun[len([one for one in begun if one.is_set()])].set()
        # Only the other task lets it end.
        assert ticked.wait(30)
        ticked.clear()

    async def run():
        task = asyncio.create_task(sync.serve(until_empty=True))
        for each in begun:
            while not each.is_set() and not task.done():
                await asyncio.sleep(0.01)
            ticked.set()
        return (await task).completed

    assert asyncio.run(run()) == 2
