"""The claims of one worker, one after the other, none of them ever lost."""

import logging
import os
from dataclasses import dataclass, replace

from novum_client.client import Client, Place
from novum_client.errors import NovumError, Refused
from novum_client.pausing import Backoff, later
from novum_client.shapes import Empty, Lease, Renewed

FIRST_PAUSE_SECONDS, LEAST_PAUSE_SECONDS = 0.25, 0.05
LOOK_SECONDS = 5.0
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
        self._lease_seconds = lease_seconds
        self._most_pause = most_pause_seconds
        self._troubles = Backoff()
        self._lulls = Backoff(FIRST_PAUSE_SECONDS, most_pause_seconds)
        # Of a claim that may have been done without our hearing of it.
        self._key = ""

    def claim(self) -> Lease | Wait:
        """Raises Refused for what doesn't pass by waiting."""
        self._key = self._key or os.urandom(16).hex()
        try:
            found = self._ask()
        except NovumError as error:
            return self._trouble(error)
        self._key = ""
        self._troubles.reset()
        if isinstance(found, Lease):
            self._lulls.reset()
            return found
        return Wait(self._pause(found), is_drained=found.reason == "drained")

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

    def _ask(self) -> Lease | Empty:
        found = self._client.claim(
            self._place, key=self._key, lease_seconds=self._lease_seconds
        )
        if isinstance(found, Lease) and found.is_replayed:
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
