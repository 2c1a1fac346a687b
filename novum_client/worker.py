"""A function made into a worker."""

import asyncio
import inspect
import signal
import threading
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from queue import SimpleQueue
from typing import Any

from novum_client.claiming import Claimer
from novum_client.client import Client, Place
from novum_client.ending import Tally
from novum_client.engine import Engine
from novum_client.job import Job
from novum_client.working import Runner, Tasks, Threads

Work = Callable[[Job], Any] | Callable[[Job], Awaitable[Any]]
SIGNALS = (signal.SIGTERM, signal.SIGINT)


@dataclass(frozen=True)
class Options:
    """How a worker works. Times are seconds.

    `concurrency`: jobs at once. `lease_seconds`: instead of the contract's.
    `grace_seconds`: after SIGTERM, for the work at hand to come to its end; what isn't
    done by then is given back. `most_pause_seconds`: between two looks at an empty
    queue.
    """

    place: Place
    concurrency: int = 1
    lease_seconds: int | None = None
    grace_seconds: float = 20.0
    most_pause_seconds: float = 3.0


class Worker:
    """Called, it's the function itself (for tests); `run` makes it work."""

    def __init__(
        self, function: Work, options: Options, client: Client | None = None
    ) -> None:
        if options.concurrency < 1:
            raise ValueError("concurrency is at least 1.")
        self._function, self._options, self._client = function, options, client
        self._engines: list[Engine] = []
        self.__doc__ = function.__doc__
        self.__name__ = getattr(function, "__name__", "worker")

    def __call__(self, job: Job) -> Any:
        return self._function(job)

    def run(self, *, until_empty: bool = False, signals: bool = True) -> Tally:
        """Work until SIGTERM or SIGINT (where `signals` and in the main thread) or
        `stop`; with `until_empty`, until the queue has nothing more.

        Raises Refused when the server says no to claims (a revoked token, an unknown
        queue), once the work at hand has come to its end.
        """
        if inspect.iscoroutinefunction(self._function):
            return asyncio.run(self.serve(until_empty=until_empty, signals=signals))
        engine = self._engine(Threads(self._function), until_empty)
        # A signal's handler may come anywhere: this queue is made for that.
        calls: SimpleQueue[bool] = SimpleQueue()
        running = _Running(engine, lambda: calls.put(False))
        with _handled(lambda: calls.put(True), signals):
            running.start()
            try:
                while calls.get():
                    engine.stop()
            finally:
                self._forget(engine)
        return running.result()

    async def serve(self, *, until_empty: bool = False, signals: bool = True) -> Tally:
        """The same on the running event loop; an async function's jobs are its tasks.
        Cancelled, it comes to its end first."""
        loop, over = asyncio.get_running_loop(), asyncio.Event()
        runner: Runner = Threads(self._function)
        if inspect.iscoroutinefunction(self._function):
            runner = Tasks(self._function, loop)
        engine = self._engine(runner, until_empty)
        running = _Running(engine, lambda: loop.call_soon_threadsafe(over.set))
        with _handled(lambda: loop.call_soon_threadsafe(engine.stop), signals):
            running.start()
            try:
                await over.wait()
            except asyncio.CancelledError:
                engine.stop()
                await over.wait()
                raise
            finally:
                self._forget(engine)
                runner.close()
        return running.result()

    def stop(self) -> None:
        """Claim no more; see the work at hand to its end. From any thread."""
        for engine in list(self._engines):
            engine.stop()

    def _engine(self, runner: Runner, until_empty: bool) -> Engine:
        options = self._options
        client = self._client or Client()
        claimer = Claimer(
            client,
            options.place,
            lease_seconds=options.lease_seconds,
            most_pause_seconds=options.most_pause_seconds,
        )
        engine = Engine(
            client,
            claimer,
            runner,
            concurrency=options.concurrency,
            grace_seconds=options.grace_seconds,
            until_empty=until_empty,
        )
        self._engines.append(engine)
        return engine

    def _forget(self, engine: Engine) -> None:
        engine.stop()
        self._engines.remove(engine)


class _Running(threading.Thread):
    """An engine at work, and what came of it."""

    def __init__(self, engine: Engine, when_over: Callable[[], object]) -> None:
        super().__init__(name="novum-worker", daemon=True)
        self._engine, self._when_over = engine, when_over
        self._error: BaseException | None = None

    def run(self) -> None:
        try:
            self._engine.run()
        except BaseException as error:
            self._error = error
        finally:
            self._when_over()

    def result(self) -> Tally:
        self.join()
        if self._error:
            raise self._error
        return self._engine.tally


@contextmanager
def _handled(stop: Callable[[], object], wanted: bool) -> Iterator[None]:
    """These signals mean `stop` meanwhile, where that can be."""
    if not wanted or threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.getsignal(number) for number in SIGNALS}
    # What is ignored (by nohup, or in a shell's background) stays so.
    heeded = [one for one in SIGNALS if before[one] != signal.SIG_IGN]
    for number in heeded:
        signal.signal(number, lambda *_: stop())
    try:
        yield
    finally:
        for number in heeded:
            signal.signal(number, before[number])


def worker(
    *,
    queue: str | Sequence[str] = "",
    board_id: str = "",
    column_id: str = "",
    concurrency: int = 1,
    lease_seconds: int | None = None,
    grace_seconds: float = 20.0,
    most_pause_seconds: float = 3.0,
    client: Client | None = None,
) -> Callable[[Work], Worker]:
    """Make a function of a Job, sync or async, a worker of a queue (or of a column, by
    board_id and column_id). What it returns is the output, JSON; what it raises fails
    the attempt: see Retry, WaitUntil, Fatal. The rest are Options."""
    options = Options(
        Place(queue=queue, board_id=board_id, column_id=column_id),
        concurrency=concurrency,
        lease_seconds=lease_seconds,
        grace_seconds=grace_seconds,
        most_pause_seconds=most_pause_seconds,
    )
    return lambda function: Worker(function, options, client)
