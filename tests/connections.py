"""Second connections: calls in threads of their own, paused where a test wants it."""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass, field
from queue import SimpleQueue
from time import monotonic, sleep
from typing import Any, ClassVar

from django.db import connection, transaction

PATIENCE = 60


class RolledBack(Exception):
    """Ends a transaction that is not to be kept."""


class Worker(threading.Thread):
    """A thread with a connection of its own, which it keeps from call to call."""

    idle: ClassVar[list["Worker"]] = []

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.calls: SimpleQueue[tuple[Future[Any], Callable[[], Any]] | None]
        self.calls = SimpleQueue()
        self.start()

    def run(self) -> None:
        while (given := self.calls.get()) is not None:
            future, call = given
            try:
                result = call()
            except BaseException as error:
                self.idle.append(self)
                future.set_exception(error)
            else:
                self.idle.append(self)
                future.set_result(result)
        connection.close()


def start(call: Callable[[], Any]) -> Future[Any]:
    """Run in a thread with a connection of its own."""
    future: Future[Any] = Future()
    worker = Worker.idle.pop() if Worker.idle else Worker()
    worker.calls.put((future, call))
    return future


def dismiss() -> None:
    """Close the connections of all threads that are done."""
    workers = [Worker.idle.pop() for _ in range(len(Worker.idle))]
    for worker in workers:
        worker.calls.put(None)
    for worker in workers:
        worker.join(PATIENCE)


def together(*calls: Callable[[], Any]) -> list[Any]:
    """All at once, released by a barrier; what each answered or raised."""
    barrier = threading.Barrier(len(calls))

    def released(call: Callable[[], Any]) -> Any:
        connection.ensure_connection()
        barrier.wait(PATIENCE)
        return call()

    return [outcome(f) for f in [start(lambda c=call: released(c)) for call in calls]]


def outcome(future: Future[Any]) -> Any:
    """What it answered, or the error that it raised."""
    error = future.exception(PATIENCE)
    return future.result() if error is None else error


@dataclass
class Open:
    """A transaction that has done its work and is not over yet."""

    result: Any
    pid: int
    end: threading.Event = field(repr=False)
    kept: list[bool] = field(repr=False)
    done: Future[Any] = field(repr=False)

    def commit(self) -> None:
        self._end(kept=True)

    def roll_back(self) -> None:
        self._end(kept=False)

    def _end(self, *, kept: bool) -> None:
        if not self.end.is_set():
            self.kept.append(kept)
            self.end.set()
        if not isinstance(outcome(self.done), RolledBack):
            self.done.result()


@contextmanager
def undone() -> Iterator[None]:
    """Nothing of what happens inside stays. As Django's TestCase marks its own
    transactions: to a verb that must be outside of any, there's none around it."""
    atomic = transaction.atomic()
    atomic._from_testcase = True
    with atomic:
        yield
        transaction.set_rollback(True)


@contextmanager
def held_open(call: Callable[[], Any]) -> Iterator[Open]:
    """`call()` in a transaction on a second connection, which stays open inside the
    `with` and is rolled back at its end unless told to commit before."""
    ready: Future[tuple[Any, int]] = Future()
    end = threading.Event()
    kept: list[bool] = []

    def run() -> None:
        with transaction.atomic():
            ready.set_result((call(), backend()))
            end.wait(PATIENCE)
            if kept != [True]:
                raise RolledBack

    def guarded() -> None:
        try:
            run()
        except BaseException as error:
            if not ready.done():
                ready.set_exception(error)
            raise

    done = start(guarded)
    result, pid = ready.result(PATIENCE)
    held = Open(result, pid, end, kept, done)
    try:
        yield held
    finally:
        held.roll_back()


def backend() -> int:
    """The server process of this thread's connection."""
    connection.ensure_connection()
    pid: int = connection.connection.info.backend_pid
    return pid


def wait_until_blocked(future: Future[Any], by: int) -> bool:
    """True once something waits for a lock of that server process; False when the call
    is over without ever having waited."""
    return _wait(future, "%s = ANY(pg_blocking_pids(pid))", by)


def wait_until_waiting(number: int) -> None:
    """Until so many connections to this database wait for a lock."""
    counted = (
        "(SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
        " AND cardinality(pg_blocking_pids(pid)) > 0) >= %s"
    )
    assert _wait(Future(), counted, number)


def _wait(future: Future[Any], condition: str, value: int) -> bool:
    deadline = monotonic() + PATIENCE
    while monotonic() < deadline:
        if future.done():
            return False
        with connection.cursor() as cursor:
            cursor.execute(
                f"SELECT EXISTS (SELECT FROM pg_stat_activity WHERE {condition})",
                [value],
            )
            if cursor.fetchone()[0]:
                return True
        sleep(0.005)
    raise AssertionError("neither waiting nor over")
