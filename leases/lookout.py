"""One thread per process that looks for all who wait for a card to claim.

It runs only while somebody waits. A look at the events, some ten times a second, tells
where something happened; only there, and about once a second everywhere, it looks for
cards. For each card one waiter wakes, the one who has waited longest of those whom it
suits. So PostgreSQL is asked no more by a thousand who wait than by one, and a card that
appears costs one claim.
"""

import logging
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from time import monotonic, sleep
from uuid import UUID

from django.db import close_old_connections

from leases import openings
from leases.openings import Opening

log = logging.getLogger(__name__)

LOOK_SECONDS = 0.06
# What no event tells of: time that has come, a judgement, another process's queue.
SAFETY_SECONDS = 1.0
# After an error, so that a dead database isn't hammered.
REST_SECONDS = 1.0
# A card that a waiter couldn't get though it seemed so isn't offered again at once.
DOUBT_SECONDS = 1.5

type Key = tuple[UUID, UUID | None]


@dataclass(frozen=True)
class Wanted:
    """What somebody waits for: `places` are queues, as (board, column); the rest as in
    a claim."""

    workspace_id: UUID
    actor_id: UUID
    places: tuple[tuple[UUID, UUID], ...]
    skills: frozenset[str] = frozenset()
    labels: frozenset[str] = frozenset()
    asking: frozenset[str] = frozenset()

    def suits(self, opening: Opening) -> bool:
        if opening.card_id is None:
            return True
        return (
            opening.assignee_id in (None, self.actor_id)
            and self.asking <= opening.skills <= self.skills
            and self.labels <= opening.labels
        )


@dataclass(eq=False)
class Waiter:
    """`wake` is called from the lookout's thread, and must not take long."""

    wanted: Wanted
    wake: Callable[[], None]
    # What it was woken for and has not come back from.
    at: Opening | None = None


@dataclass(eq=False)
class _Queue:
    board_id: UUID
    workspace_id: UUID
    # In the order in which they came; a dict for its order.
    waiters: dict[Waiter, None] = field(default_factory=dict)


@dataclass(eq=False)
class Lookout:
    """May be called from any thread."""

    _queues: dict[UUID, _Queue] = field(default_factory=dict)
    _fresh: set[UUID] = field(default_factory=set)
    _taken: set[Key] = field(default_factory=set)
    _doubtful: dict[Key, float] = field(default_factory=dict)
    _lock: threading.RLock = field(default_factory=threading.RLock)
    _thread: threading.Thread | None = None

    def join(self, waiter: Waiter) -> None:
        """From here on it's woken, also by what is there already."""
        wanted = waiter.wanted
        with self._lock:
            for board_id, column_id in wanted.places:
                queue = self._queues.setdefault(
                    column_id, _Queue(board_id, wanted.workspace_id)
                )
                queue.waiters[waiter] = None
                self._fresh.add(column_id)
            if self._thread is None and self._queues:
                self._thread = threading.Thread(
                    target=self._run, name="lookout", daemon=True
                )
                self._thread.start()

    def tried(self, waiter: Waiter) -> None:
        """It was woken and has got nothing: it waits on."""
        with self._lock:
            if waiter.at is None:
                return
            key = _key(waiter.at)
            self._taken.discard(key)
            self._doubtful[key] = monotonic() + DOUBT_SECONDS
            waiter.at = None
            # Meanwhile something else may have come that nobody was there for.
            self._fresh.update(column for _, column in waiter.wanted.places)

    def leave(self, waiter: Waiter, *, has_claimed: bool = False) -> None:
        """Whoever goes without a card leaves what it was woken for to another one."""
        with self._lock:
            for _, column_id in waiter.wanted.places:
                queue = self._queues.get(column_id)
                if queue is None:
                    continue
                queue.waiters.pop(waiter, None)
                if not queue.waiters:
                    del self._queues[column_id]
                elif waiter.at is not None and not has_claimed:
                    self._fresh.add(column_id)
            if waiter.at is not None:
                self._taken.discard(_key(waiter.at))
                waiter.at = None

    def _run(self) -> None:
        snapshot, safe_until = "", 0.0
        while True:
            started = monotonic()
            with self._lock:
                if not self._queues:
                    self._thread = None
                    return
            try:
                is_safety = started >= safe_until
                snapshot = self._look(snapshot, is_safety=is_safety)
                if is_safety:
                    safe_until = started + SAFETY_SECONDS
            except Exception:
                # Nothing is missed: afterwards it looks everywhere.
                log.exception("Who waits for a card goes on waiting after an error")
                snapshot, safe_until = "", 0.0
                sleep(REST_SECONDS)
            # Where looking takes long, it's done less often.
            took = monotonic() - started
            sleep(max(LOOK_SECONDS - took, took))

    def _look(self, snapshot: str, *, is_safety: bool) -> str:
        close_old_connections()
        try:
            with self._lock:
                queues = dict(self._queues)
            changes = openings.changes(
                snapshot,
                workspaces={one.workspace_id for one in queues.values()},
                boards={one.board_id for one in queues.values()},
            )
            columns = self._to_look_at(changes.boards, is_safety or not snapshot)
            if columns:
                actors = self._actors(columns)
                self._offer(
                    openings.openings(columns, actors=actors, cards=changes.cards)
                )
            return changes.snapshot
        finally:
            close_old_connections()

    def _to_look_at(self, boards: frozenset[UUID], everywhere: bool) -> set[UUID]:
        with self._lock:
            fresh, self._fresh = self._fresh, set()
            return {
                column_id
                for column_id, queue in self._queues.items()
                if everywhere or column_id in fresh or queue.board_id in boards
            }

    def _actors(self, columns: Iterable[UUID]) -> set[UUID]:
        with self._lock:
            return {
                waiter.wanted.actor_id
                for column_id in columns
                if column_id in self._queues
                for waiter in self._queues[column_id].waiters
            }

    def _offer(self, found: Iterable[Opening]) -> None:
        with self._lock:
            now = monotonic()
            self._doubtful = {k: at for k, at in self._doubtful.items() if at > now}
            busy: dict[UUID, int] = {}
            for column_id, _ in self._taken:
                busy[column_id] = busy.get(column_id, 0) + 1
            for opening in found:
                column_id, key = opening.column_id, _key(opening)
                if key in self._taken or key in self._doubtful:
                    continue
                room = opening.room
                # A lapsed lease holds a place that only a claim makes free.
                full = room is not None and room <= busy.get(column_id, 0)
                if full and opening.card_id is not None:
                    continue
                if self._wake_one(opening):
                    busy[column_id] = busy.get(column_id, 0) + 1

    def _wake_one(self, opening: Opening) -> bool:
        queue = self._queues.get(opening.column_id)
        for waiter in queue.waiters if queue else ():
            if waiter.at is None and waiter.wanted.suits(opening):
                waiter.at = opening
                self._taken.add(_key(opening))
                waiter.wake()
                return True
        return False


def _key(opening: Opening) -> Key:
    return opening.column_id, opening.card_id


LOOKOUT = Lookout()
