"""Do one job: run the command, keep the lease alive, tell how it ended."""

import threading
import time
from contextlib import suppress
from enum import Enum

from novum.cli import output
from novum.cli.child import Child, result_of
from novum.cli.errors import CONFLICT, NOT_FOUND, Failure, Refused, Unreached
from novum.cli.jobs import Job, Jobs
from novum.running.guard import Guard

# sysexits.h: the user is invited to try again.
TRY_AGAIN = 75
LOOK_SECONDS = 0.2
LOST_PATIENCE_SECONDS, STOP_PATIENCE_SECONDS = 2.0, 10.0
MOST_SECONDS_BETWEEN_BEATS, MOST_SECONDS_FOR_A_BEAT = 60.0, 10.0


class End(Enum):
    DONE = "done"
    FAILED = "failed"
    GIVEN_BACK = "given back"
    CANCELLED = "cancelled"
    LOST = "lost"


class Interrupted(Exception):
    """The command has to stop before its end."""


class Cancelled(Interrupted):
    """Somebody has called the task off; the lease ends with our next word."""


class Lost(Interrupted):
    """Somebody else may have the task by now."""


class Stop:
    """Asked for by a signal; asked for twice, without patience."""

    def __init__(self) -> None:
        self.event, self.is_urgent = threading.Event(), False

    def ask(self) -> None:
        self.is_urgent = self.event.is_set()
        self.event.set()


class Doing:
    def __init__(
        self, jobs: Jobs, command: list[str], url: str, guard: Guard, stop: Stop
    ) -> None:
        self._jobs, self._command, self._url = jobs, command, url
        self._guard, self._stop = guard, stop
        self._until = 0.0

    def do(self, job: Job, *, retry: bool) -> End:
        """Raises Failure only where the server says that nothing more can come."""
        started = time.monotonic()
        try:
            end = self._end(job, retry)
        except (Refused, Unreached) as error:
            if isinstance(error, Refused) and error.code not in (CONFLICT, NOT_FOUND):
                raise
            output.say(f"{job.key}: {error.text}")
            end = End.LOST
        seconds = time.monotonic() - started
        output.say(f"{job.key} {end.value} after {seconds:.1f} s: {job.title}")
        return end

    def _end(self, job: Job, retry: bool) -> End:
        if self._stop.event.is_set():
            self._jobs.give_back(job, "Stopped before it began.")
            return End.GIVEN_BACK
        try:
            child = Child(self._command, job, self._url, self._guard)
        except OSError as error:
            self._jobs.give_back(job, f"The command can't be started: {error}")
            raise Failure(f"{self._command[0]}: {error.strerror or error}.") from None
        try:
            code = self._watch(child, job)
        except Lost as lost:
            child.stop(LOST_PATIENCE_SECONDS, self._is_urgent)
            output.say(f"{job.key}: {lost}")
            return End.LOST
        except Cancelled as note:
            child.stop(LOST_PATIENCE_SECONDS, self._is_urgent)
            with suppress(Refused):
                self._jobs.give_back(job, str(note))
            return End.CANCELLED
        except Interrupted as note:
            # While there's still time to give it back.
            left = (self._until - time.monotonic()) / 2
            child.stop(min(STOP_PATIENCE_SECONDS, left), self._is_urgent)
            self._jobs.give_back(job, str(note))
            return End.GIVEN_BACK
        child.close()
        if code == 0:
            return self._complete(job, child)
        self._jobs.fail(job, _error(code, child), retry=retry or code == TRY_AGAIN)
        return End.FAILED

    def _watch(self, child: Child, job: Job) -> int:
        """The exit code. Raises Interrupted, Lost."""
        pause = min(job.seconds / 3, MOST_SECONDS_BETWEEN_BEATS)
        self._until, beat_at = job.until, time.monotonic() + pause
        while (code := child.wait(LOOK_SECONDS)) is None:
            now = time.monotonic()
            if self._stop.event.is_set():
                raise Interrupted("The worker was stopped.")
            if now >= self._until:
                raise Lost("the lease ran out, because no heartbeat came through.")
            if now >= beat_at:
                was_heard = self._beat(job, self._until - now)
                beat_at = time.monotonic() + (pause if was_heard else pause / 4)
        return code

    def _beat(self, job: Job, left: float) -> bool:
        """Whether an answer came. Raises Interrupted, Lost."""
        seconds = max(min(left / 2, MOST_SECONDS_FOR_A_BEAT), 0.1)
        try:
            self._until, cancel = self._jobs.heartbeat(job, seconds)
        except Unreached:
            return False
        except Refused as error:
            if error.code in (CONFLICT, NOT_FOUND):
                raise Lost(error.text) from None
            return False
        if cancel:
            raise Cancelled("Cancelled while it was being worked on.")
        return True

    def _is_urgent(self) -> bool:
        return self._stop.is_urgent

    def _complete(self, job: Job, child: Child) -> End:
        written = child.output()
        if written is None:
            self._jobs.fail(job, "The result is too large.", retry=False)
            return End.FAILED
        try:
            self._jobs.complete(job, result_of(written))
        except Refused as error:
            if error.status not in (400, 413, 422):
                raise
            output.say(f"{job.key}: {error.text}")
            reason = f"The result was refused: {error.text}"
            self._jobs.fail(job, reason[:2000], retry=False)
            return End.FAILED
        return End.DONE


def _error(code: int, child: Child) -> str:
    how = f"signal {-code}" if code < 0 else f"exit code {code}"
    return child.last_words()[:2000] or f"The command ended with {how}."
