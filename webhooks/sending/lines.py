"""Connections that wait a moment for the next request to the same place.

The address was checked when the connection was made, and can't change under it. None is
kept for long, so that a name that leads elsewhere by now is soon asked for again.
"""

import asyncio
from dataclasses import dataclass, field
from time import monotonic

import h11

from webhooks.sending.targets import Target

# Most servers hang up after 5 s or more.
IDLE_SECONDS, AGE_SECONDS = 3.0, 60.0

type Place = tuple[str, int, bool]


@dataclass(eq=False)
class Line:
    """A connection, and what is being said on it."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    talk: h11.Connection
    made_at: float = field(default_factory=monotonic)
    free_at: float = 0.0
    has_answered: bool = False

    def is_good(self) -> bool:
        now = monotonic()
        is_young = now - self.free_at < IDLE_SECONDS
        return (
            is_young
            and now - self.made_at < AGE_SECONDS
            and not self.reader.at_eof()
            and not self.writer.is_closing()
            # Something said without being asked: nobody knows what it answers.
            and not getattr(self.reader, "_buffer", b"")
        )

    def is_over(self) -> bool:
        """Whether both have said all, and nothing came after it."""
        both = {self.talk.our_state, self.talk.their_state}
        return both == {h11.DONE} and not self.talk.trailing_data[0]

    def drop(self) -> None:
        self.writer.transport.abort()


class Lines:
    """Of one event loop."""

    def __init__(self) -> None:
        self._free: dict[Place, list[Line]] = {}

    def take(self, target: Target) -> Line | None:
        free = self._free.get(_place(target), [])
        while free:
            line = free.pop()
            if line.is_good():
                line.talk.start_next_cycle()
                line.has_answered = False
                return line
            line.drop()
        return None

    def give_back(self, target: Target, line: Line) -> None:
        if not line.is_over():
            line.drop()
            return
        line.free_at = monotonic()
        self._free.setdefault(_place(target), []).append(line)

    def tidy(self) -> None:
        """Drop what nobody took."""
        for place, free in list(self._free.items()):
            for line in free:
                if not line.is_good():
                    line.drop()
            self._free[place] = [line for line in free if line.is_good()]
            if not self._free[place]:
                del self._free[place]

    def close(self) -> None:
        for free in self._free.values():
            for line in free:
                line.drop()
        self._free.clear()


def _place(target: Target) -> Place:
    return target.host, target.port, target.is_secure
