"""Wait a while for something to come.

Who waits in a web process holds one of its threads, so only some may. The *live*
process holds none for those who wait (novum.waiting): there a call that would wait says
so and answers at once.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from threading import BoundedSemaphore, Event
from time import monotonic
from typing import Any

import msgspec

from accounts.callers import Caller
from accounts.credentials import caller_now
from leases.lookout import LOOKOUT, Waiter, Wanted
from novum.turns import set_aside

MAX_WAIT_SECONDS = 50
# The web processes have 36 threads each (novum.running.processes), and four of them are
# for those who don't wait. Whoever comes when so many wait already is answered at
# once, and asks again.
MOST_WAITING = 32
_places = BoundedSemaphore(MOST_WAITING)
RETRY_SECONDS = 1.0


# Given what wakes somebody, it begins to, and returns what ends it.
type Ring = Callable[[Callable[[], None]], Callable[[], None]]


@dataclass
class Desk:
    """Where a call leaves word that it would wait for so long: for a card that is
    `wanted`, or for what `ring` tells of. `has_due`: by the end of the wait its answer
    may be another one."""

    seconds: float = 0.0
    wanted: Wanted | None = None
    ring: Ring | None = None
    has_due: bool = False


_desk: ContextVar[Desk | None] = ContextVar("desk", default=None)


@contextmanager
def at_desk() -> Iterator[Desk]:
    """Calls inside of it wait for nothing, but say that they would."""
    desk = Desk()
    before = _desk.set(desk)
    try:
        yield desk
    finally:
        _desk.reset(before)


def until_some[T](look: Callable[[], list[T]], seconds: float, ring: Ring) -> list[T]:
    """What `look` finds, as soon as it finds something; empty after `seconds`."""
    found = look()
    if found or seconds <= 0:
        return found
    if desk := _desk.get():
        desk.seconds, desk.ring = seconds, ring
        return found
    if not _places.acquire(blocking=False):
        return found
    rung = Event()
    leave = ring(rung.set)
    try:
        until = monotonic() + seconds
        while not found and _is_rung(rung, until):
            rung.clear()
            found = look()
        return found
    finally:
        leave()
        _places.release()


def until_claimed(
    claim: Callable[[Caller], Any],
    caller: Caller,
    seconds: float,
    *,
    is_empty: Callable[[Any], bool],
    wanted: Callable[[], Wanted],
) -> Any:
    """What `claim` answers, as soon as it gets a card, or after `seconds`. Where too
    many wait already, its empty answer at once, with when to ask again.

    Raises what `claim` raises; Unauthenticated for a token that is revoked meanwhile.
    """
    found = claim(caller)
    if not is_empty(found):
        return found
    if desk := _desk.get():
        desk.seconds, desk.wanted = seconds, wanted()
        desk.has_due = isinstance(found.retry_after_seconds, float)
        return found
    if not _places.acquire(blocking=False):
        return come_again(found)
    try:
        return _waited(claim, caller, found, seconds, is_empty, wanted())
    finally:
        _places.release()


def _is_rung(rung: Event, until: float) -> bool:
    with set_aside():
        return rung.wait(max(0.0, until - monotonic()))


def come_again(found: Any) -> Any:
    """An empty answer for whom there's no place to wait."""
    if isinstance(found.retry_after_seconds, float):
        return found
    return msgspec.structs.replace(found, retry_after_seconds=RETRY_SECONDS)


def _waited(
    claim: Callable[[Caller], Any],
    caller: Caller,
    found: Any,
    seconds: float,
    is_empty: Callable[[Any], bool],
    wanted: Wanted,
) -> Any:
    until, rung = monotonic() + seconds, Event()
    waiter, has_claimed = Waiter(wanted, rung.set), False
    LOOKOUT.join(waiter)
    try:
        while _is_rung(rung, until):
            rung.clear()
            found = claim(caller_now(caller))
            has_claimed = not is_empty(found)
            if has_claimed:
                return found
            LOOKOUT.tried(waiter)
    finally:
        LOOKOUT.leave(waiter, has_claimed=has_claimed)
    if isinstance(found.retry_after_seconds, float):
        # By now it's due sooner, or there.
        return claim(caller_now(caller))
    return found
