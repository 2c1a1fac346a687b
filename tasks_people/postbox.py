"""One thread per process that looks for all who wait for a message.

It runs only while somebody waits. When a nudge says that something happened in their
workspace (boards.nudges), and every two seconds anyway, it gathers what is to be told
there, and wakes those whose mailbox has more in it than before: two statements, however
many wait, and nothing of what a pull does for those who have no news.
"""

import logging
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from time import monotonic, sleep
from uuid import UUID

from django.db import close_old_connections

from boards.hearing import EAR
from boards.nudges import Nudge
from tasks_people.models import Mailbox
from tasks_people.verbs.gather import gather_in

log = logging.getLogger(__name__)

# From one look to the next, at least.
LOOK_SECONDS = 0.3
SAFETY_SECONDS = 1.8
# After an error, so that a dead database isn't hammered.
REST_SECONDS = 1.0


@dataclass(eq=False)
class _Waiter:
    workspace_id: UUID
    actor_id: UUID
    wake: Callable[[], None]
    # How many messages the mailbox had ever got when it was looked at last.
    seen: int | None = None


@dataclass(eq=False)
class Postbox:
    """May be called from any thread."""

    _waiters: set[_Waiter] = field(default_factory=set)
    _rung: threading.Event = field(default_factory=threading.Event)
    _lock: threading.RLock = field(default_factory=threading.RLock)
    _thread: threading.Thread | None = None

    def join(
        self, workspace_id: UUID, actor_id: UUID, wake: Callable[[], None]
    ) -> Callable[[], None]:
        """From here on `wake` is called, from the postbox's thread, when there may be a
        message, and once at the beginning. Call what it returns when it's over."""
        waiter = _Waiter(workspace_id, actor_id, wake)
        with self._lock:
            self._waiters.add(waiter)
            self._rung.set()
            if self._thread is None:
                EAR.listen(self.heard)
                self._thread = threading.Thread(
                    target=self._run, name="postbox", daemon=True
                )
                self._thread.start()

        def leave() -> None:
            with self._lock:
                self._waiters.discard(waiter)
                if not self._waiters:
                    self._rung.set()

        return leave

    def heard(self, nudges: Sequence[Nudge] | None) -> None:
        with self._lock:
            actors = {None, *(one.actor_id for one in self._waiters)}
            workspaces = {one.workspace_id for one in self._waiters}
            if nudges is None or any(
                one.workspace_id in workspaces and one.actor_id in actors
                for one in nudges
            ):
                self._rung.set()

    def _run(self) -> None:
        while True:
            self._rung.wait(SAFETY_SECONDS)
            self._rung.clear()
            started = monotonic()
            with self._lock:
                if not self._waiters:
                    EAR.ignore(self.heard)
                    self._thread = None
                    return
            try:
                self.look()
            except Exception:
                log.exception("Who waits for a message goes on waiting after an error")
                sleep(REST_SECONDS)
            took = monotonic() - started
            sleep(max(LOOK_SECONDS - took, took))

    def look(self) -> None:
        close_old_connections()
        try:
            with self._lock:
                waiters = list(self._waiters)
            gather_in({one.workspace_id for one in waiters})
            boxes = Mailbox.objects.filter(pk__in={one.actor_id for one in waiters})
            numbers = dict(boxes.values_list("pk", "last_number"))
            for one in waiters:
                number = numbers.get(one.actor_id, 0)
                if one.seen != number:
                    one.seen = number
                    one.wake()
        finally:
            close_old_connections()


POSTBOX = Postbox()
