"""Where claims may wait, by the server's own word: instead of asking again and again."""

import logging
import math
import threading
import time

from novum_client.client import Client
from novum_client.errors import NovumError

# A quarter of a minute is short for those on the way who cut what is quiet.
WAIT_SECONDS = 15.0
ME_TIMEOUT_SECONDS = 5.0
# After a failure: whatever it was, it may have passed by then.
AGAIN_SECONDS = 60.0
log = logging.getLogger("novum_client")


class Waiting:
    """For one thread, but for `interrupt`."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._door: Client | None = None
        self._looked_at = -math.inf
        self._is_over = False
        self._lock = threading.Lock()

    def door(self) -> Client | None:
        """None where no claim can wait: an older server, one that can't be reached at
        its other address, a token that may not read."""
        if self._door is None and time.monotonic() - self._looked_at > AGAIN_SECONDS:
            self._looked_at = time.monotonic()
            self._look()
        return None if self._is_over else self._door

    def fail(self) -> None:
        """It was no good: not for a while."""
        if self._door:
            self._door.close()
        self._door, self._looked_at = None, time.monotonic()

    def interrupt(self) -> None:
        """A wait under way ends with Unreached; there'll be none any more. From any
        thread."""
        with self._lock:
            self._is_over = True
            door = self._door
        if door:
            door.interrupt()

    def _look(self) -> None:
        try:
            me = self._client.call("GET", "/me", timeout=ME_TIMEOUT_SECONDS)
            door = self._client.elsewhere(me["waiting_url"])
            door.call("GET", "/healthz", timeout=ME_TIMEOUT_SECONDS)
        except (NovumError, KeyError, TypeError, ValueError) as error:
            log.debug("no claim waits: %s", error)
            return
        with self._lock:
            self._door = door
