"""Turns at the work, of which a process has a few.

The interpreter runs one thread at a time, so more calls at once than keep it busy while
others wait for PostgreSQL are only in each other's way: they empty its caches and
PostgreSQL's. Each turn keeps a connection of its own; opening Django's and giving it back
to the pool took a tenth of a worker's call.

Whoever has waited for a turn for too long goes on without one, with a connection of the
pool: calls that are stuck hold up nobody.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from copy import deepcopy
from queue import Empty, SimpleQueue
from select import POLLIN, poll
from threading import local
from time import monotonic

from django.db import close_old_connections, connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.utils import load_backend

AT_ONCE = 4
PATIENCE_SECONDS = 0.25
_IDLE_SECONDS = 1.0
_ALIAS = "default"


class Turns:
    """`with turns.one():` works at most `number` at once, as long as none takes longer
    than the others have patience."""

    def __init__(self, number: int = AT_ONCE) -> None:
        self._free: SimpleQueue[_Turn] = SimpleQueue()
        for _ in range(number):
            self._free.put(_Turn(self._free))

    @contextmanager
    def one(self) -> Iterator[None]:
        """Without effect inside of a transaction, whose connection goes on."""
        if any(one.in_atomic_block for one in connections.all(initialized_only=True)):
            yield
            return
        try:
            _begin(self._free)
            yield
        finally:
            if not _end():
                close_old_connections()


@contextmanager
def set_aside() -> Iterator[None]:
    """Holds neither a turn nor a connection meanwhile: for those who wait."""
    turn = _end()
    close_old_connections()
    try:
        yield
    finally:
        if turn:
            _begin(turn.home)


class _Turn:
    """One turn and its connection, which whoever has the turn has to himself."""

    def __init__(self, home: "SimpleQueue[_Turn]") -> None:
        self.home = home
        self.connection = _standing_connection()
        self._threads_own = self.connection
        self._used_at = 0.0

    def begin(self) -> None:
        self._threads_own = connections[_ALIAS]
        connections[_ALIAS] = self.connection
        # It lets other threads in between, so it isn't asked of one that was just used.
        if monotonic() - self._used_at > _IDLE_SECONDS and self._has_been_ended():
            self.connection.close()

    def end(self) -> None:
        try:
            self.connection.close_if_unusable_or_obsolete()
        finally:
            self._used_at = monotonic()
            connections[_ALIAS] = self._threads_own
            self.home.put(self)

    def _has_been_ended(self) -> bool:
        """A server that says something while nobody asked has said goodbye."""
        session = self.connection.connection
        if session is None:
            return False
        if session.closed:
            return True
        line = poll()
        line.register(session.fileno(), POLLIN)
        return bool(line.poll(0))


class _Mine(local):
    turn: _Turn | None = None


_mine = _Mine()


def _begin(free: SimpleQueue[_Turn]) -> None:
    try:
        _mine.turn = free.get(timeout=PATIENCE_SECONDS)
    except Empty:
        return
    _mine.turn.begin()


def _end() -> _Turn | None:
    """The turn that was this thread's, if it had one."""
    turn, _mine.turn = _mine.turn, None
    if turn:
        turn.end()
    return turn


def _standing_connection() -> BaseDatabaseWrapper:
    settings = deepcopy(connections.settings[_ALIAS])
    settings["OPTIONS"].pop("pool", None)
    settings["CONN_MAX_AGE"] = None
    backend = load_backend(settings["ENGINE"])
    connection: BaseDatabaseWrapper = backend.DatabaseWrapper(settings, _ALIAS)
    # Threads have it by turns.
    connection.inc_thread_sharing()
    return connection
