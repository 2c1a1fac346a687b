"""The loop of a worker: claim while there's room, see every job to its end."""

import logging
import math
import threading

from novum_client.claiming import Claimer, Wait
from novum_client.client import Client
from novum_client.ending import Ending, Tally
from novum_client.errors import Stopped
from novum_client.heart import Heart
from novum_client.hold import Hold
from novum_client.job import Job
from novum_client.shapes import Lease
from novum_client.working import Outcome, Runner

# For work that's asked to stop, before its card is given back over its head.
STOP_SECONDS = 2.0
log = logging.getLogger("novum_client")


class Engine:
    """Runs in a thread of its own; `stop` may come from any."""

    def __init__(
        self,
        client: Client,
        claimer: Claimer,
        runner: Runner,
        *,
        concurrency: int,
        grace_seconds: float,
        until_empty: bool,
    ) -> None:
        self._client, self._claimer, self._runner = client, claimer, runner
        self._concurrency, self._grace = concurrency, grace_seconds
        self._until_empty = until_empty
        self._heart = Heart(client)
        self._ending = Ending(client)
        self._changed = threading.Condition()
        self._holds: set[Hold] = set()
        self._stops = 0

    @property
    def tally(self) -> Tally:
        return self._ending.tally

    def stop(self) -> None:
        """Claim no more, and let the work at hand come to its end within the time of
        grace. Called twice: without grace."""
        with self._changed:
            self._stops += 1
            self._changed.notify_all()
        self._claimer.interrupt()

    def run(self) -> None:
        """Until it's stopped, or nothing is left. Raises Refused."""
        self._heart.start()
        try:
            self._claim_and_work()
        finally:
            self._drain()
            self._ending.hurry()
            self._heart.close()

    def _claim_and_work(self) -> None:
        while self._has_room():
            found = self._claimer.claim(may_wait=not self._until_empty)
            if isinstance(found, Lease):
                self._begin(found)
            elif found.is_drained and self._until_empty and not self._holds:
                return
            else:
                self._rest(found)

    def _has_room(self) -> bool:
        """Waits for it. False when there's to be none."""
        with self._changed:
            self._changed.wait_for(
                lambda: self._stops or len(self._holds) < self._concurrency
            )
            return not self._stops

    def _rest(self, wait: Wait) -> None:
        with self._changed:
            self._changed.wait_for(lambda: self._stops, wait.seconds)

    def _begin(self, lease: Lease) -> None:
        hold = Hold(lease)
        job = Job(hold, self._client, self._heart.nudge)
        with self._changed:
            self._holds.add(hold)
        self._heart.add(hold)
        self._runner.start(hold, job, lambda outcome: self._end(hold, job, outcome))

    def _end(self, hold: Hold, job: Job, outcome: Outcome) -> None:
        try:
            self._ending.end(hold, job, outcome)
        except Exception:
            log.exception("%s: its end went wrong", job.key)
        finally:
            self._heart.remove(hold)
            with self._changed:
                self._holds.discard(hold)
                self._changed.notify_all()

    def _drain(self) -> None:
        if lease := self._claimer.settle():
            self._ending.give_back(lease)
        if self._wait_for_holds(self._grace, stops=2):
            return
        for hold in self._held():
            hold.interrupt(Stopped("The worker ends."))
        if self._wait_for_holds(STOP_SECONDS, stops=math.inf):
            return
        for hold in self._held():
            if hold.take():
                self._ending.give_back(hold.lease)

    def _held(self) -> list[Hold]:
        with self._changed:
            return list(self._holds)

    def _wait_for_holds(self, seconds: float, stops: float) -> bool:
        """Whether all came to their end in this time, before so many calls to stop."""
        with self._changed:
            self._changed.wait_for(
                lambda: not self._holds or self._stops >= stops, seconds
            )
            return not self._holds
