"""novum work queue=NAME -- COMMAND …: the command, once for each task."""

import shutil
import signal
import threading
from collections.abc import Callable

from novum.cli import output
from novum.cli.doing import Doing, End, Stop
from novum.cli.errors import DONE, NOTHING, SERVER, Failure, Refused, Unreached, Usage
from novum.cli.jobs import Cards, Empty, Jobs, Tasks
from novum.cli.options import Given
from novum.cli.session import Session
from novum.running.guard import Guard

LEAST_PAUSE_SECONDS, MOST_PAUSE_SECONDS = 0.25, 3.0
MOST_WORKERS = 64
SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


class Plan:
    """What the command line asks for. Raises Usage."""

    def __init__(self, given: Given) -> None:
        given.allow("--concurrency", "--once", "--until-empty", "--retry")
        if not given.rest:
            raise Usage("Say what to run: novum work queue=NAME -- COMMAND …")
        self.command = given.rest
        self.once = given.flag("--once")
        self.until_empty = given.flag("--until-empty") or self.once
        self.retry = given.flag("--retry")
        self.workers = 1 if self.once else given.options.get("--concurrency", 1)
        if self.workers > MOST_WORKERS:
            raise Usage(f"--concurrency is at most {MOST_WORKERS}.")
        if not shutil.which(self.command[0]):
            raise Usage(f"There is no command {self.command[0]!r}.")


def run(given: Given) -> int:
    plan, session = Plan(given), Session(given)
    session.require_token()
    make = _jobs(session, given.words[1:])
    stop = Stop()
    for number in SIGNALS:
        # What is ignored (by nohup, or in a shell's background) stays so.
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, lambda *_: stop.ask())
    guard = Guard()
    workers = [
        Worker(make(), plan, session.server.url, guard, stop)
        for _ in range(plan.workers)
    ]
    try:
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
    finally:
        guard.close()
    for worker in workers:
        if worker.failure:
            raise worker.failure
    return NOTHING if plan.once and workers[0].ends == [End.FAILED] else DONE


def _jobs(session: Session, words: list[str]) -> Callable[[], Jobs]:
    kind: type[Jobs] = Tasks
    if any(word.startswith("column_id=") for word in words):
        kind = Cards
    _, values = session.read(kind.claim_name, words)
    return lambda: kind(session, values)


class Worker(threading.Thread):
    """One job after the other."""

    def __init__(
        self, jobs: Jobs, plan: Plan, url: str, guard: Guard, stop: Stop
    ) -> None:
        super().__init__()
        self._jobs, self._plan, self._stop = jobs, plan, stop
        self._doing = Doing(jobs, plan.command, url, guard, stop)
        self.failure: Failure | None = None
        self.ends: list[End] = []

    def run(self) -> None:
        try:
            self._work()
        except Failure as error:
            self.failure = error
        except Exception as error:
            # A fault of our own must not leave the others at work unseen.
            self.failure = Failure(f"{type(error).__name__}: {error}")
        finally:
            self._jobs.close()
            if self.failure:
                self._stop.ask()

    def _work(self) -> None:
        pause, is_told = 0.0, False
        while not self._stop.event.wait(pause):
            try:
                found = self._jobs.claim(may_wait=not self._plan.until_empty)
            except (Refused, Unreached) as error:
                if isinstance(error, Refused) and not _passes(error):
                    raise
                if not is_told:
                    output.say(f"{error.text} Trying on.")
                pause, is_told = MOST_PAUSE_SECONDS, True
                continue
            is_told = False
            if isinstance(found, Empty):
                if self._plan.until_empty and _is_last(found, self._plan):
                    return
                pause = _pause(pause, found)
                continue
            self.ends.append(self._doing.do(found, retry=self._plan.retry))
            if self._plan.once:
                return
            pause = 0.0


def _passes(error: Refused) -> bool:
    """Whether the same call may be answered better later."""
    return error.code == SERVER or error.problem.get("code") in PASSING


PASSING = ("idempotency_key_in_use",)


def _is_last(found: Empty, plan: Plan) -> bool:
    """What waits for its time, or for a place to become free, is still to be done."""
    return plan.once or found.reason in ("drained", "")


def _pause(before: float, found: Empty) -> float:
    if found.has_waited:
        return 0.0
    longer = min(max(before * 1.5, LEAST_PAUSE_SECONDS), MOST_PAUSE_SECONDS)
    asked = found.retry_after_seconds
    return min(asked, MOST_PAUSE_SECONDS) if asked else longer
