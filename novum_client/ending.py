"""Tell the server how a job ended, as often as it takes."""

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from novum_client.client import Client
from novum_client.errors import Cancelled, LeaseLost, NovumError, Refused, Stopped
from novum_client.hold import Hold
from novum_client.job import Job
from novum_client.pausing import Backoff
from novum_client.shapes import Failure, Lease
from novum_client.texts import clean
from novum_client.working import Outcome, Result

CALL_SECONDS, GIVE_BACK_SECONDS = 10.0, 3.0
MOST_PAUSE_SECONDS = 2.0
# Once the lease has run out on our clock, its end is told for so long, since an earlier
# try may have arrived.
AFTERWARDS_SECONDS = 10.0
# Answers which say that this result will never be taken.
UNFIT = {400, 413, 422}
GONE = {404, 409}
GIVEN_BACK = "The worker was stopped."
log = logging.getLogger("novum_client")


@dataclass
class Tally:
    """How many jobs ended in which way."""

    completed: int = 0
    failed: int = 0
    given_back: int = 0
    cancelled: int = 0
    lost: int = 0


class Ending:
    """For several threads. Every call may be sent again: the same receipt changes
    nothing the second time."""

    def __init__(self, client: Client) -> None:
        self._client, self.tally = client, Tally()
        self._lock, self._hurry = threading.Lock(), threading.Event()

    def end(self, hold: Hold, job: Job, outcome: Outcome) -> None:
        if not hold.take():
            return
        how = self._told(hold, outcome)
        self._count(how)
        log.info("%s: %s", job.key, how.replace("_", " "))

    def give_back(self, lease: Lease) -> None:
        """One try, since a worker that ends has no time; if it fails, it lapses."""
        try:
            self._client.release(lease, GIVEN_BACK, timeout=GIVE_BACK_SECONDS)
        except NovumError as error:
            log.warning("not given back: %s", error)
        else:
            self._count("given_back")

    def hurry(self) -> None:
        """From here on nothing is tried again."""
        self._hurry.set()

    def _count(self, how: str) -> None:
        with self._lock:
            setattr(self.tally, how, getattr(self.tally, how) + 1)

    def _told(self, hold: Hold, outcome: Outcome) -> str:
        why = hold.interruption
        if isinstance(why, LeaseLost):
            return "lost"
        if isinstance(why, Cancelled):
            # This ends the lease at once, with an answer that says so.
            self._release(hold)
            return "cancelled"
        if isinstance(outcome, Result):
            return self._complete(hold, outcome)
        if isinstance(outcome, Failure) and not isinstance(why, Stopped):
            return self._fail(hold, outcome)
        return "given_back" if self._release(hold) else "lost"

    def _complete(self, hold: Hold, result: Result) -> str:
        def call() -> None:
            self._client.complete(hold.lease, result.output, timeout=CALL_SECONDS)

        try:
            return "completed" if self._persist(hold, call) else "lost"
        except (TypeError, ValueError, RecursionError) as error:
            why = f"The result is no JSON: {error}"
        except Refused as error:
            if error.status not in UNFIT:
                raise
            why = f"The result was refused: {error}"
        log.warning("%s", why)
        return self._fail(hold, Failure(clean(why)))

    def _fail(self, hold: Hold, failure: Failure) -> str:
        def call() -> None:
            self._client.fail(hold.lease, failure, timeout=CALL_SECONDS)

        return "failed" if self._persist(hold, call) else "lost"

    def _release(self, hold: Hold) -> bool:
        def call() -> None:
            self._client.release(hold.lease, GIVEN_BACK, timeout=CALL_SECONDS)

        return self._persist(hold, call)

    def _persist(self, hold: Hold, call: Callable[[], None]) -> bool:
        """Whether the server has taken it; False: it's somebody else's by now, or that
        can't be known. Raises Refused for what never passes."""
        backoff = Backoff(most=MOST_PAUSE_SECONDS)
        while True:
            asked = None
            try:
                call()
                return True
            except Refused as error:
                if not error.passes and error.status not in GONE:
                    raise
                why, asked = str(error), error.retry_after_seconds
                is_over = not error.passes
            except NovumError as error:
                why, is_over = str(error), False
            too_late = time.monotonic() > hold.until + AFTERWARDS_SECONDS
            if is_over or too_late or self._hurry.wait(backoff.next(asked)):
                log.info("%s: %s", hold.lease.id, why)
                return False
