"""What tests.client.program runs: a worker with habits, without Django."""

import asyncio
import json
import os
import random
import signal
import sys
import time

from novum_client import Client, Interrupted, worker

path, text = sys.argv[1:]
habits = json.loads(text)
log = open(path, "a", buffering=1)  # noqa: SIM115


def note(what, **facts):
    log.write(json.dumps({"what": what, "by": habits["name"], **facts}) + "\n")


def work(job):
    note("began", card=job.id, attempt=job.attempt)
    if random.random() < habits.get("crash", 0):
        os.kill(os.getpid(), signal.SIGKILL)
    try:
        while "until" in habits and not os.path.exists(habits["until"]):
            time.sleep(0.02)
        until = time.monotonic() + habits.get("work", 0.0)
        while time.monotonic() < until:
            time.sleep(0.02)
            if not habits.get("is_deaf"):
                job.check()
    except Interrupted as why:
        note("interrupted", why=type(why).__name__)
        raise
    if random.random() < habits.get("crash", 0):
        os.kill(os.getpid(), signal.SIGKILL)
    note("returned", card=job.id)
    return {"by": habits["name"], "attempt": job.attempt}


async def work_async(job):
    note("began", card=job.id, attempt=job.attempt)
    try:
        while "until" in habits and not os.path.exists(habits["until"]):
            await asyncio.sleep(0.02)
        await asyncio.sleep(habits.get("work", 0.0))
    except asyncio.CancelledError:
        note("interrupted", why="CancelledError")
        raise
    note("returned", card=job.id)
    return {"by": habits["name"]}


assert not any(name.startswith("django") for name in sys.modules)
made = worker(
    board_id=habits["board_id"],
    column_id=habits["column_id"],
    concurrency=habits.get("concurrency", 1),
    grace_seconds=habits.get("grace", 5.0),
    most_pause_seconds=0.3,
    client=Client(habits["url"], habits["token"]),
)(work_async if habits.get("is_async") else work)
tally = made.run()
note("ended", **vars(tally))
