"""Wait a while for something to come, in a process that has few threads."""

from collections.abc import Callable
from threading import BoundedSemaphore
from time import monotonic, sleep

MAX_WAIT_SECONDS = 50
LOOK_EVERY_SECONDS = 0.5
# The web processes have four threads each. Whoever comes when so many wait already is
# answered at once, and asks again.
_places = BoundedSemaphore(2)


def until_some[T](look: Callable[[], list[T]], seconds: float) -> list[T]:
    """What `look` finds, as soon as it finds something; empty after `seconds`."""
    found = look()
    if found or seconds <= 0 or not _places.acquire(blocking=False):
        return found
    try:
        until = monotonic() + seconds
        while not found and (left := until - monotonic()) > 0:
            sleep(min(LOOK_EVERY_SECONDS, left))
            found = look()
        return found
    finally:
        _places.release()
