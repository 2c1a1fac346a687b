"""Hear nudges: one thread per process, while somebody in it listens.

What may have been missed is told as `None`, "look everywhere": at the beginning, and
after Redis was gone. While it's gone nobody hears anything, and whoever listens looks by
itself now and then, as it must in any case.
"""

import logging
import os
import threading
from collections.abc import Callable, Sequence
from time import monotonic, sleep

import redis
from django.conf import settings

from boards.nudges import CHANNEL, Nudge, connected, decoded

log = logging.getLogger(__name__)

type Listener = Callable[[Sequence[Nudge] | None], None]

TIMEOUT_SECONDS = 5.0
# Whoever comes again soon finds the thread still there.
LINGER_SECONDS = 10.0
REST_SECONDS = 1.0


class Ear:
    """Listeners are called from the ear's thread, and must not take long."""

    def __init__(self) -> None:
        self.begin_anew()

    def begin_anew(self) -> None:
        self._listeners: dict[Listener, None] = {}
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._idle_since = 0.0

    def listen(self, listener: Listener) -> None:
        with self._lock:
            self._listeners[listener] = None
            if self._thread is None and settings.REDIS_URL:
                self._thread = threading.Thread(
                    target=self._run, name="ear", daemon=True
                )
                self._thread.start()

    def ignore(self, listener: Listener) -> None:
        with self._lock:
            self._listeners.pop(listener, None)
            self._idle_since = monotonic()

    def _run(self) -> None:
        client = connected(timeout_seconds=TIMEOUT_SECONDS)
        while not self._is_over():
            try:
                # What redis-py doesn't give a type.
                with client.pubsub() as sounds:  # type: ignore[no-untyped-call]
                    sounds.subscribe(CHANNEL)
                    self._hear(sounds)
            except (redis.RedisError, OSError) as error:
                if self._listeners:
                    log.warning("Redis doesn't answer, nobody is nudged: %s", error)
                sleep(REST_SECONDS)
        client.close()

    def _hear(self, sounds: "redis.client.PubSub") -> None:
        while not self._is_over():
            message = sounds.get_message(timeout=1.0)
            if message is None:
                continue
            if message["type"] == "message":
                self._tell(decoded(message["data"]))
            elif message["type"] == "subscribe":
                self._tell(None)

    def _is_over(self) -> bool:
        with self._lock:
            idle = not self._listeners
            if idle and monotonic() - self._idle_since > LINGER_SECONDS:
                self._thread = None
                return True
            return False

    def _tell(self, nudges: Sequence[Nudge] | None) -> None:
        with self._lock:
            listeners = list(self._listeners)
        for listener in listeners:
            try:
                listener(nudges)
            except Exception:
                log.exception("A nudge was lost on one of those who listen")


EAR = Ear()


# A forked child has the listeners but not the thread.
os.register_at_fork(after_in_child=EAR.begin_anew)
