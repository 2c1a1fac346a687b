"""The heartbeats of all that a worker holds: one thread, one call for those due.

A thread of its own, so that neither busy work nor a blocked event loop loses a lease.
"""

import logging
import math
import threading
import time

from novum_client.client import MOST_LEASES_PER_CALL, Client
from novum_client.errors import Cancelled, LeaseLost, NovumError, Refused
from novum_client.hold import RAN_OUT, Hold
from novum_client.pausing import sooner
from novum_client.shapes import Renewed

# A lease that never lapses still wants to hear that it's called off.
MOST_SECONDS_BETWEEN, MOST_SECONDS_FOR_ONE = 60.0, 10.0
# Lines of progress come no faster.
SECONDS_BETWEEN_LINES = 1.0
log = logging.getLogger("novum_client")


class Heart(threading.Thread):
    def __init__(self, client: Client) -> None:
        super().__init__(name="novum-heart", daemon=True)
        self._client = client
        self._wake = threading.Condition()
        # When the next beat of each is due, and the latest was.
        self._next: dict[Hold, float] = {}
        self._latest: dict[Hold, float] = {}
        self._is_closed = self._is_troubled = False

    def add(self, hold: Hold) -> None:
        with self._wake:
            self._next[hold] = time.monotonic() + _pause(hold)
            self._latest[hold] = -math.inf
            self._wake.notify()

    def remove(self, hold: Hold) -> None:
        with self._wake:
            self._next.pop(hold, None)
            self._latest.pop(hold, None)

    def nudge(self) -> None:
        """Somebody has something to say."""
        with self._wake:
            self._wake.notify()

    def close(self) -> None:
        with self._wake:
            self._is_closed = True
            self._wake.notify()

    def run(self) -> None:
        while due := self._wait():
            try:
                self._beat(due)
            except Exception:
                # A fault of our own must not end all heartbeats.
                log.exception("a heartbeat went wrong")
                self._postpone(due)

    def _wait(self) -> list[Hold]:
        """Those due, as soon as there are any; none when all is over."""
        with self._wake:
            while not self._is_closed:
                now = time.monotonic()
                for hold in [one for one in self._next if now >= one.until]:
                    self._lose(hold, None)
                times = [min(self._due_at(one), one.until) for one in self._next]
                if times and min(times) <= now:
                    return self._due_soon(now)[:MOST_LEASES_PER_CALL]
                self._wake.wait(min(times) - now if times else None)
        return []

    def _due_soon(self, now: float) -> list[Hold]:
        """Those that would be due a little later come along, the most urgent first."""
        soon = [one for one in self._next if now >= self._due_at(one) - _pause(one) / 4]
        return sorted(soon, key=self._due_at)

    def _due_at(self, hold: Hold) -> float:
        if hold.has_to_say:
            said_at = self._latest[hold] + SECONDS_BETWEEN_LINES
            return min(self._next[hold], said_at)
        return self._next[hold]

    def _beat(self, due: list[Hold]) -> None:
        now = time.monotonic()
        said = {hold.lease.id: hold.unsaid() for hold in due}
        receipts = {
            hold.lease.id: (hold.lease.token, said[hold.lease.id]) for hold in due
        }
        # Time for another try must be left when this one hangs.
        left = min(hold.until for hold in due) - now
        timeout = max(min(left / 3, MOST_SECONDS_FOR_ONE), 0.1)
        try:
            answers = self._client.renew(receipts, timeout=timeout)
        except NovumError as error:
            # Once for each trouble, not for each try.
            level = logging.DEBUG if self._is_troubled else logging.WARNING
            log.log(level, "no heartbeat, trying on: %s", error)
            self._is_troubled = True
            self._postpone(due)
            if not isinstance(error, Refused) or error.passes:
                for hold in due:
                    hold.say_again(said[hold.lease.id])
            return
        self._is_troubled = False
        for hold in due:
            self._heard(hold, answers.get(hold.lease.id))

    def _heard(self, hold: Hold, answer: Renewed | str | None) -> None:
        if not isinstance(answer, Renewed):
            self._lose(hold, answer)
            return
        hold.renewed(answer)
        if answer.cancel is not None:
            # The next call would end the lease; the work ends first.
            self.remove(hold)
            hold.interrupt(Cancelled(answer.cancel))
            return
        with self._wake:
            if hold in self._next:
                now = time.monotonic()
                self._next[hold], self._latest[hold] = now + _pause(hold), now

    def _postpone(self, due: list[Hold]) -> None:
        with self._wake:
            now = time.monotonic()
            for hold in due:
                if hold in self._next:
                    self._next[hold] = now + max(_pause(hold) / 8, 0.05)
                    self._latest[hold] = now

    def _lose(self, hold: Hold, why: str | None) -> None:
        self.remove(hold)
        hold.interrupt(LeaseLost(why or RAN_OUT))


def _pause(hold: Hold) -> float:
    return sooner(min(hold.lease.seconds / 3, MOST_SECONDS_BETWEEN))
