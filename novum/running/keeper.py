"""Starts a child that has ended again, ever more slowly while it keeps ending."""

import time
from dataclasses import dataclass

from novum.running.children import Child, Family, bound
from novum.running.errors import StartError

SHORTEST_SECONDS = 1.0
LONGEST_SECONDS = 30.0
# A child that lived this long is well again: its next end counts as the first.
WELL_AFTER_SECONDS = 60.0


@dataclass
class Keeper:
    """Looks after one child; `look` is to be called a few times a second."""

    child: Child
    delay_seconds: float = SHORTEST_SECONDS
    started_at: float = 0.0
    due_at: float | None = None

    def start(self, family: Family) -> None:
        self.started_at = time.monotonic()
        self.due_at = None
        family.start(self.child)

    def look(self, family: Family) -> None:
        bound(self.child.log)
        if self.due_at is None:
            if self.child.has_ended():
                self._plan(family)
        elif time.monotonic() >= self.due_at:
            self._try(family)

    def _plan(self, family: Family) -> None:
        if time.monotonic() - self.started_at >= WELL_AFTER_SECONDS:
            self.delay_seconds = SHORTEST_SECONDS
        process = self.child.process
        code = process.returncode if process else None
        family.bury(self.child)
        self.due_at = time.monotonic() + self.delay_seconds
        print(
            f"{self.child.name} ended ({_reason(code)}); starting it again in "
            f"{self.delay_seconds:.0f} s (see {self.child.log})",
            flush=True,
        )
        self.delay_seconds = min(self.delay_seconds * 2, LONGEST_SECONDS)

    def _try(self, family: Family) -> None:
        try:
            self.start(family)
        except StartError as error:
            print(error, flush=True)


def _reason(code: int | None) -> str:
    if code is None:
        return "not started"
    return f"signal {-code}" if code < 0 else f"exit code {code}"
