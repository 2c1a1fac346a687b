"""Procrastinate, a queue library on PostgreSQL, at the same work: fetch and finish.

`python -m bench.peer URL SECONDS` is one worker process; it prints the no-op jobs that
it did a second, after a warm-up.
"""

import asyncio
import logging
import os
import subprocess
import sys
from time import perf_counter

import procrastinate
import psycopg
from procrastinate.schema import SchemaManager

PROCESSES, JOBS_AT_ONCE = 2, 8
# More than all rounds can do, so that no worker ever waits for one.
JOBS = 100_000
WARM_UP_SECONDS = 1.5
_SEARCH_PATH = "-c search_path=procrastinate"
_FILL = """
INSERT INTO procrastinate_jobs (queue_name, task_name, args)
SELECT 'bench', 'nothing', jsonb_build_object('number', g)
FROM generate_series(1, {jobs}) g
"""


class Peer:
    """Made once in a database, in a schema of its own; `measure` as often as needed."""

    def __init__(self, database_url: str) -> None:
        self._url = database_url
        with psycopg.connect(
            database_url, autocommit=True, options=_SEARCH_PATH
        ) as connection:
            connection.execute("DROP SCHEMA IF EXISTS procrastinate CASCADE")
            connection.execute("CREATE SCHEMA procrastinate")
            connection.execute(SchemaManager.get_schema().encode())
            # Jobs that are there from the start need no event and no NOTIFY each.
            connection.execute("SET session_replication_role = replica")
            connection.execute(_FILL.format(jobs=JOBS).encode())
            connection.execute("VACUUM ANALYZE procrastinate_jobs")

    def measure(self, seconds: float) -> float:
        """Jobs a second of all processes."""
        command = [sys.executable, "-m", "bench.peer", self._url, str(seconds)]
        workers = [
            subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
            for _ in range(PROCESSES)
        ]
        return sum(float(worker.communicate()[0]) for worker in workers)


async def _work(url: str, seconds: float) -> float:
    connector = procrastinate.PsycopgConnector(
        conninfo=url, min_size=4, max_size=20, kwargs={"options": _SEARCH_PATH}
    )
    app = procrastinate.App(connector=connector)
    done = 0

    @app.task(name="nothing", queue="bench")
    async def nothing(number: int) -> None:
        nonlocal done
        done += 1

    async with app.open_async():
        worker = asyncio.create_task(
            app.run_worker_async(
                concurrency=JOBS_AT_ONCE,
                listen_notify=False,
                install_signal_handlers=False,
            )
        )
        await asyncio.sleep(WARM_UP_SECONDS)
        before, started = done, perf_counter()
        await asyncio.sleep(seconds)
        rate = (done - before) / (perf_counter() - started)
        worker.cancel()
        await asyncio.wait([worker], timeout=5)
    return rate


if __name__ == "__main__":
    logging.disable(logging.CRITICAL)
    print(asyncio.run(_work(sys.argv[1], float(sys.argv[2]))), flush=True)
    os._exit(0)
