"""How fast to go: claims come first where the processors don't suffice for both.

The loop's thread has a lower priority than all others (loop.give_way). Where it still
waits longer for a processor than it runs, somebody needs what deliveries take, their
part in PostgreSQL and in receivers on the same machine included. Then no more than so
many a second are taken up; the others are late. Linux tells (proc(5), `schedstat`);
elsewhere it goes as fast as it can.
"""

from dataclasses import dataclass
from pathlib import Path
from time import monotonic

from webhooks import conf

# Over so long the waiting is measured, and so much of it in all time is too much.
MEASURE_SECONDS, TOO_MUCH = 0.5, 0.5
# From one round to the next: with more to do, without, and while others are in need.
ROUND_SECONDS, IDLE_ROUND_SECONDS, CONTENDED_ROUND_SECONDS = 0.02, 0.2, 0.06
_FILE = Path("/proc/thread-self/schedstat")


@dataclass(eq=False)
class Pace:
    """Belongs to one thread, in which it's asked."""

    is_contended: bool = False
    _measured_at: float = 0.0
    _ran: int = 0
    _waited: int = 0
    _paced_at: float = 0.0
    _left: float = 0.0

    def round_seconds(self, *, busy: bool) -> float:
        """From one round to the next, at least: what ends meanwhile is written at once."""
        if self.is_contended:
            return CONTENDED_ROUND_SECONDS
        return ROUND_SECONDS if busy else IDLE_ROUND_SECONDS

    def room(self, most: int) -> int:
        """How many may be taken up now."""
        now = monotonic()
        self._measure(now)
        if not self.is_contended or not conf.BUSY_PER_SECOND:
            self._paced_at, self._left = now, 0.0
            return most
        earned = (now - self._paced_at) * conf.BUSY_PER_SECOND
        # Nobody saves up for more than a second.
        self._left = min(self._left + earned, float(conf.BUSY_PER_SECOND))
        self._paced_at = now
        return min(most, int(self._left))

    def took(self, number: int) -> None:
        self._left -= number

    def _measure(self, now: float) -> None:
        if now - self._measured_at < MEASURE_SECONDS:
            return
        self._measured_at = now
        ran, waited = _ran_and_waited()
        more, longer = ran - self._ran, waited - self._waited
        self._ran, self._waited = ran, waited
        self.is_contended = longer > TOO_MUCH * (more + longer)


def _ran_and_waited() -> tuple[int, int]:
    """Of this thread, in nanoseconds since its start."""
    try:
        ran, waited, _ = _FILE.read_text().split()
    except (OSError, ValueError):
        return 0, 0
    return int(ran), int(waited)
