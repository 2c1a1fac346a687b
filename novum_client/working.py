"""Run a worker's function on one job: in a thread, or as a task of an event loop."""

import asyncio
import concurrent.futures
import logging
import threading
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Protocol

from novum_client.errors import Fatal, Interrupted, Retry, WaitUntil
from novum_client.hold import Hold
from novum_client.job import Job
from novum_client.shapes import Failure
from novum_client.texts import clean

# Ends are told to the server from threads, so that the event loop goes on meanwhile.
MOST_ENDINGS_AT_ONCE = 16
log = logging.getLogger("novum_client")


@dataclass(frozen=True)
class Result:
    output: Any


class Interruption:
    """The work was put down."""


Outcome = Result | Failure | Interruption
Ended = Callable[[Outcome], None]


class Runner(Protocol):
    def start(self, hold: Hold, job: Job, ended: Ended) -> None:
        """Begin; `ended` is called once, in some thread, and may take its time."""

    def close(self) -> None:
        """Nothing is started any more."""


class Threads:
    """For sync functions."""

    def __init__(self, function: Callable[[Job], Any]) -> None:
        self._function = function

    def start(self, hold: Hold, job: Job, ended: Ended) -> None:
        def work() -> None:
            ended(self._outcome(hold, job))

        # Daemonic: what doesn't stop when asked must not keep the process.
        threading.Thread(target=work, name=f"novum-{job.key}", daemon=True).start()

    def close(self) -> None:
        """Its threads end by themselves."""

    def _outcome(self, hold: Hold, job: Job) -> Outcome:
        try:
            return Result(self._function(job))
        except Interrupted:
            return Interruption()
        except BaseException as error:
            return failure_of(error, job)
        finally:
            hold.work_is_over()


class Tasks:
    """For async functions, on a loop that runs in another thread than the worker's."""

    def __init__(
        self, function: Callable[[Job], Awaitable[Any]], loop: asyncio.AbstractEventLoop
    ) -> None:
        self._function, self._loop = function, loop
        self._endings = concurrent.futures.ThreadPoolExecutor(
            MOST_ENDINGS_AT_ONCE, "novum-ending"
        )

    def start(self, hold: Hold, job: Job, ended: Ended) -> None:
        asyncio.run_coroutine_threadsafe(self._attend(hold, job, ended), self._loop)

    def close(self) -> None:
        self._endings.shutdown(wait=False)

    async def _attend(self, hold: Hold, job: Job, ended: Ended) -> None:
        task = asyncio.ensure_future(self._function(job))
        hold.when_interrupted(lambda: self._loop.call_soon_threadsafe(task.cancel))
        outcome = await self._outcome(hold, job, task)
        await self._loop.run_in_executor(self._endings, ended, outcome)

    async def _outcome(
        self, hold: Hold, job: Job, task: asyncio.Future[Any]
    ) -> Outcome:
        try:
            return Result(await task)
        except Interrupted:
            return Interruption()
        except asyncio.CancelledError as error:
            if hold.interruption:
                return Interruption()
            return failure_of(error, job)
        except Exception as error:
            return failure_of(error, job)
        finally:
            hold.work_is_over()


def failure_of(error: BaseException, job: Job) -> Failure:
    """What an exception of the work means for the card."""
    reason = clean(str(error))
    match error:
        case Retry():
            return Failure(reason, after_seconds=error.after_seconds)
        case WaitUntil():
            return Failure(reason, "wait_until", until=error.until)
        case Fatal():
            return Failure(reason, "fatal")
    log.warning("%s failed", job.key, exc_info=error)
    return Failure(clean(f"{type(error).__name__}: {error}"))
