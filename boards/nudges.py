"""Say that something happened, to whoever waits for it in any process.

A nudge says where to look, never what is there: rows are the truth, and whoever waits
looks by itself now and then. So a nudge may be lost, and nothing waits for one: a verb
only puts a few words into a list that is bounded. A thread of its own sends them by
Redis, many at once, and drops them where Redis doesn't answer at once.
"""

import logging
import os
import threading
from collections import deque
from collections.abc import Iterable, Sequence
from functools import partial
from time import monotonic, sleep
from typing import NamedTuple, Protocol
from uuid import UUID

import redis
from django.conf import settings
from django.db import connection, transaction
from redis.backoff import NoBackoff
from redis.retry import Retry

CHANNEL = "novum:nudges"
# From one message to the next, and while nobody hears them.
GAP_SECONDS, UNHEARD_SECONDS = 0.05, 0.1
TIMEOUT_SECONDS = 0.5
REST_SECONDS = 2.0
MOST_HELD = 5_000
# More in one message are told as "look everywhere".
MOST_TOLD = 500

# Events after which there is no more to claim than before.
DULL = (
    *("card.lease.claimed", "card.commented", "card.cancel_requested"),
    "task.done",
)

log = logging.getLogger(__name__)


class _Event(Protocol):
    type: str
    workspace_id: UUID
    board_id: UUID | None
    card_id: UUID | None


class Nudge(NamedTuple):
    """Something happened in the workspace; with a board, there may be something to claim
    on it (with a card: that one); with an actor, there is a message for them."""

    workspace_id: UUID
    board_id: UUID | None = None
    card_id: UUID | None = None
    actor_id: UUID | None = None


def of(event: _Event) -> Nudge:
    """What to say of an event that was written."""
    if event.type in DULL:
        return Nudge(event.workspace_id)
    return Nudge(event.workspace_id, event.board_id, event.card_id)


def nudge(*nudges: Nudge) -> None:
    """As soon as the transaction under way is committed, if there's one. Never waits,
    never fails."""
    if not settings.REDIS_URL:
        return
    if connection.in_atomic_block:
        transaction.on_commit(partial(_put, nudges), robust=True)
    else:
        _put(nudges)


class _Sender:
    """The thread that sends, and what it's to send; begun at the first nudge."""

    def __init__(self) -> None:
        self.held: deque[Nudge] = deque(maxlen=MOST_HELD)
        self.rung = threading.Event()
        self.rests_until = 0.0
        self.lock = threading.Lock()
        self.thread: threading.Thread | None = None

    def begin(self) -> None:
        with self.lock:
            if self.thread is None:
                self.thread = threading.Thread(
                    target=self.run, name="nudges", daemon=True
                )
                self.thread.start()

    def run(self) -> None:
        client = connected(timeout_seconds=TIMEOUT_SECONDS)
        while True:
            self.rung.wait()
            self.rung.clear()
            try:
                heard = client.publish(CHANNEL, encoded(self._taken()))
            except Exception as error:
                self.rests_until = monotonic() + REST_SECONDS
                log.warning("Nobody is nudged, Redis doesn't answer: %s", error)
                continue
            sleep(GAP_SECONDS if heard else UNHEARD_SECONDS)

    def _taken(self) -> list[Nudge] | None:
        """What was put in until now, each once; None: too much to be told one by one."""
        many = len(self.held)
        told = dict.fromkeys(self.held.popleft() for _ in range(many))
        return None if many == MOST_HELD or len(told) > MOST_TOLD else list(told)


_sender = _Sender()


def _put(nudges: Iterable[Nudge]) -> None:
    sender = _sender
    if sender.rests_until and sender.rests_until > monotonic():
        return
    sender.held.extend(nudges)
    if not sender.rung.is_set():
        sender.rung.set()
    if sender.thread is None:
        sender.begin()


def _begin_anew() -> None:
    """In a forked child, which has the list but not the thread."""
    global _sender
    _sender = _Sender()


os.register_at_fork(after_in_child=_begin_anew)


def connected(*, timeout_seconds: float) -> redis.Redis:
    """A client that tries once and says so when it didn't work."""
    return redis.Redis.from_url(
        settings.REDIS_URL,
        socket_timeout=timeout_seconds,
        socket_connect_timeout=timeout_seconds,
        retry=Retry(NoBackoff(), 0),
    )


def encoded(nudges: Sequence[Nudge] | None) -> bytes:
    """None means: look everywhere."""
    if nudges is None:
        return b""
    return b"".join(one.bytes if one else _NOBODY for many in nudges for one in many)


def decoded(text: bytes) -> list[Nudge] | None:
    if not text or len(text) % _NUDGE_BYTES:
        return None
    return [
        Nudge(UUID(bytes=text[at : at + 16]), *_rest(text[at + 16 : at + _NUDGE_BYTES]))
        for at in range(0, len(text), _NUDGE_BYTES)
    ]


def _rest(text: bytes) -> Iterable[UUID | None]:
    for at in range(0, len(text), 16):
        part = text[at : at + 16]
        yield None if part == _NOBODY else UUID(bytes=part)


_NOBODY = bytes(16)
_NUDGE_BYTES = 16 * len(Nudge._fields)
