"""One thread per process that looks for all who wait for a card to claim.

It runs only while somebody waits, and looks where a nudge says that something happened
(boards.nudges), where a moment has come that the last look told of, and every two
seconds everywhere, which is all it takes where nudges are lost or Redis isn't there. A
look is one statement. For each card one waiter wakes, the one who has waited longest of
those whom it suits. So PostgreSQL is asked no more by a thousand who wait than by one,
and a card that appears costs one look and one claim.
"""

import logging
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from time import monotonic, sleep
from typing import Any
from uuid import UUID

from django.db import close_old_connections

from boards.hearing import EAR
from boards.nudges import Nudge
from leases.openings import Opening, openings

log = logging.getLogger(__name__)

# From one look to the next, at least.
LOOK_SECONDS = 0.06
# What no nudge tells of: a judgement, another process's queue, whatever was lost.
SAFETY_SECONDS = 1.8
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
    # When time alone may bring something, as far as is known.
    due_at: float = float("inf")


@dataclass(eq=False)
class Lookout:
    """May be called from any thread."""

    _queues: dict[UUID, _Queue] = field(default_factory=dict)
    # Queues and cards to look at next.
    _fresh: set[UUID] = field(default_factory=set)
    _cards: set[UUID] = field(default_factory=set)
    _safe_until: float = 0.0
    _snapshot: str = ""
    _rung: threading.Event = field(default_factory=threading.Event)
    _taken: set[Key] = field(default_factory=set)
    # Claimed since the look under way began, which may have read them before.
    _claimed: set[Key] = field(default_factory=set)
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
            self._rung.set()
            if self._thread is None and self._queues:
                self._snapshot, self._safe_until = "", 0.0
                EAR.listen(self.heard)
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
            self._rung.set()

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
                if has_claimed and waiter.at.card_id is not None:
                    self._claimed.add(_key(waiter.at))
                waiter.at = None
            if self._fresh or not self._queues:
                self._rung.set()

    def heard(self, nudges: Sequence[Nudge] | None) -> None:
        """What may have happened; None: anything, anywhere."""
        with self._lock:
            if nudges is None:
                self._safe_until = 0.0
                self._rung.set()
                return
            boards = {one.board_id for one in self._queues.values()}
            for one in nudges:
                if one.board_id in boards:
                    self._nudged(one)

    def _nudged(self, nudge: Nudge) -> None:
        if nudge.card_id:
            self._cards.add(nudge.card_id)
        self._fresh.update(
            column_id
            for column_id, queue in self._queues.items()
            if queue.board_id == nudge.board_id
        )
        self._rung.set()

    def _run(self) -> None:
        while True:
            self._rung.wait(max(0.0, self._next_at() - monotonic()))
            self._rung.clear()
            started = monotonic()
            with self._lock:
                if not self._queues:
                    EAR.ignore(self.heard)
                    self._thread = None
                    return
            try:
                self.look(started)
            except Exception:
                # Nothing is missed: afterwards it looks everywhere.
                log.exception("Who waits for a card goes on waiting after an error")
                self._safe_until = 0.0
                sleep(REST_SECONDS)
            # Where looking takes long, it's done less often.
            took = monotonic() - started
            sleep(max(LOOK_SECONDS - took, took))

    def _next_at(self) -> float:
        with self._lock:
            due = (queue.due_at for queue in self._queues.values())
            return min(self._safe_until, *due, float("inf"))

    def look(self, now: float) -> None:
        """Where there's something to look at by `now`, and wake whom it suits."""
        close_old_connections()
        try:
            is_safety = now >= self._safe_until
            columns, cards = self._to_look_at(now, everywhere=is_safety)
            if columns:
                more = self._since() if is_safety else {}
                actors = self._actors(columns)
                seen = openings(columns, actors=actors, cards=cards, **more)
                self._note(seen.due, columns, now)
                self._offer(seen.found)
                if is_safety:
                    self._snapshot = seen.snapshot or self._snapshot
        finally:
            close_old_connections()

    def _to_look_at(
        self, now: float, *, everywhere: bool
    ) -> tuple[set[UUID], set[UUID]]:
        """Queues, and cards that must not be missed behind others."""
        with self._lock:
            self._claimed = set()
            fresh, self._fresh = self._fresh, set()
            cards, self._cards = self._cards, set()
            if everywhere:
                self._safe_until = now + SAFETY_SECONDS
            columns = {
                column_id
                for column_id, queue in self._queues.items()
                if everywhere or column_id in fresh or queue.due_at <= now
            }
            return columns, cards

    def _since(self) -> dict[str, Any]:
        with self._lock:
            queues = list(self._queues.values())
        return {
            "since": self._snapshot or None,
            "workspaces": {one.workspace_id for one in queues},
            "boards": {one.board_id for one in queues},
        }

    def _note(self, due: Mapping[UUID, float], columns: set[UUID], now: float) -> None:
        with self._lock:
            for column_id in columns & self._queues.keys():
                queue = self._queues[column_id]
                queue.due_at = now + due.get(column_id, float("inf"))

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
            for column_id, _ in self._taken | self._claimed:
                busy[column_id] = busy.get(column_id, 0) + 1
            for opening in found:
                column_id, key = opening.column_id, _key(opening)
                if key in self._taken or key in self._claimed or key in self._doubtful:
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
