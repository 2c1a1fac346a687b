"""The claims of one worker, one after the other, none of them ever lost."""

import logging
import os
import time
from dataclasses import dataclass, replace

from novum_client.client import Client, Place
from novum_client.errors import NovumError, Refused
from novum_client.pausing import Backoff, later
from novum_client.shapes import Empty, Lease, Renewed
from novum_client.waiting import WAIT_SECONDS, Waiting

FIRST_PAUSE_SECONDS, LEAST_PAUSE_SECONDS = 0.25, 0.05
LOOK_SECONDS = 5.0
# An empty answer after less was no wait: too many did so already.
WAITED_SECONDS = 0.5
log = logging.getLogger("novum_client")


@dataclass(frozen=True)
class Wait:
    """Ask again after so many seconds. `is_drained`: there was nothing left."""

    seconds: float
    is_drained: bool = False


class Claimer:
    """For one thread."""

    def __init__(
        self,
        client: Client,
        place: Place,
        *,
        lease_seconds: int | None,
        most_pause_seconds: float,
    ) -> None:
        self._client, self._place = client, place
        self._waiting, self._is_lull = Waiting(client), False
        self._lease_seconds = lease_seconds
        self._most_pause = most_pause_seconds
        self._troubles = Backoff()
        self._lulls = Backoff(FIRST_PAUSE_SECONDS, most_pause_seconds)
        # Of a claim that may have been done without our hearing of it.
        self._key = ""

    def claim(self, *, may_wait: bool = False) -> Lease | Wait:
        """With `may_wait`, after an empty answer, it waits at the server where that can
        be. Raises Refused for what doesn't pass by waiting."""
        self._key = self._key or os.urandom(16).hex()
        door = self._waiting.door() if may_wait and self._is_lull else None
        began = time.monotonic()
        try:
            found = self._ask(door)
        except NovumError as error:
            if door:
                self._waiting.fail()
            self._is_lull = False
            return self._trouble(error)
        self._key = ""
        self._troubles.reset()
        self._is_lull = isinstance(found, Empty)
        if isinstance(found, Lease):
            self._lulls.reset()
            return found
        if door and time.monotonic() - began >= WAITED_SECONDS:
            return Wait(0.0, is_drained=found.reason == "drained")
        if may_wait and not door and self._waiting.door():
            # It was a first look; the next one waits.
            return Wait(0.0, is_drained=found.reason == "drained")
        return Wait(self._pause(found), is_drained=found.reason == "drained")

    def interrupt(self) -> None:
        """Waits no more. From any thread."""
        self._waiting.interrupt()

    def settle(self) -> Lease | None:
        """At the end: the lease of a claim whose answer is missing, if there's one."""
        if not self._key:
            return None
        try:
            found = self._ask()
        except NovumError:
            # It will lapse.
            return None
        return found if isinstance(found, Lease) else None

    def _ask(self, door: Client | None = None) -> Lease | Empty:
        began = time.monotonic()
        found = (door or self._client).claim(
            self._place,
            key=self._key,
            lease_seconds=self._lease_seconds,
            wait_seconds=WAIT_SECONDS if door else 0.0,
        )
        has_waited = door and time.monotonic() - began >= WAITED_SECONDS
        # When within the wait it was made can't be told: a heartbeat says until when.
        if isinstance(found, Lease) and (found.is_replayed or has_waited):
            return self._still_held(found)
        return found

    def _still_held(self, lease: Lease) -> Lease | Empty:
        """Time has gone by since it was made: somebody else may have the card."""
        receipt = {lease.id: (lease.token, None)}
        renewed = self._client.renew(receipt, timeout=LOOK_SECONDS)[lease.id]
        if not isinstance(renewed, Renewed) or renewed.cancel is not None:
            return Empty("lost", 0.0)
        return replace(lease, until=renewed.until)

    def _trouble(self, error: NovumError) -> Wait:
        asked = None
        if isinstance(error, Refused):
            # A conflict (no queue now, too many cards held) may pass, too.
            if not error.passes and error.status != 409:
                raise error
            if not error.passes:
                self._key = ""
            asked = error.retry_after_seconds
        # Once for each trouble, not for each try.
        level = logging.WARNING if self._troubles.is_fresh else logging.DEBUG
        log.log(level, "no claim, trying on: %s", error)
        return Wait(self._troubles.next(asked))

    def _pause(self, empty: Empty) -> float:
        """When the next card is due, but not much later: one may come before."""
        lull = self._lulls.next()
        if empty.retry_after_seconds is None:
            return lull
        due = max(later(empty.retry_after_seconds), LEAST_PAUSE_SECONDS)
        return min(due, self._most_pause)
