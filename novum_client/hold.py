"""One lease in force: what the heart keeps alive, and what the work asks about."""

import threading
import time
from collections.abc import Callable

from novum_client.errors import Interrupted, LeaseLost
from novum_client.shapes import Comment, Lease, Renewed
from novum_client.texts import line

RAN_OUT = "The lease ran out, because no heartbeat came through."


class Hold:
    """Shared by the work, the heart and whoever ends it."""

    def __init__(self, lease: Lease) -> None:
        self.lease, self.until = lease, lease.until
        self.comments: list[Comment] = []
        self._lock = threading.Lock()
        self._interruption: Interrupted | None = None
        self._listener: Callable[[], object] | None = None
        self._doing: str | None = None
        self._is_over = self._is_taken = False

    def take(self) -> bool:
        """Whether it's the asker's to end: the first one's."""
        with self._lock:
            was_taken, self._is_taken = self._is_taken, True
            return not was_taken

    @property
    def interruption(self) -> Interrupted | None:
        """Why the work has to stop; None while it may go on."""
        if self._interruption is None and time.monotonic() >= self.until:
            # A process that was asleep learns it from the clock.
            self.interrupt(LeaseLost(RAN_OUT))
        return self._interruption

    def interrupt(self, why: Interrupted) -> None:
        """The first one counts."""
        with self._lock:
            if self._interruption or self._is_over:
                return
            self._interruption, listener = why, self._listener
        if listener:
            listener()

    def when_interrupted(self, listener: Callable[[], object]) -> None:
        """Call it then, in whatever thread notices; now, if that has happened."""
        with self._lock:
            self._listener = listener
            if self._interruption is None:
                return
        listener()

    def work_is_over(self) -> None:
        """From here on only the answer to its end counts, no heartbeat's."""
        with self._lock:
            self._is_over = True

    def renewed(self, renewed: Renewed) -> None:
        self.until = renewed.until
        self.comments += renewed.comments

    def say(self, doing: str) -> None:
        self._doing = line(doing)

    def unsaid(self) -> str | None:
        """The latest line of progress that nobody has heard, taken for being sent."""
        doing, self._doing = self._doing, None
        return doing

    def say_again(self, doing: str | None) -> None:
        """It didn't arrive; a newer one goes first."""
        if self._doing is None:
            self._doing = doing

    @property
    def has_to_say(self) -> bool:
        return self._doing is not None
