"""Two verbs at once, in every order that their statements allow.

The first is stopped before it begins and after each of its statements in turn (inside
its transaction, where it has one); meanwhile the second runs to its end, or until it
waits for a lock of the first. Deterministic: no sleeps, no luck.
"""

import threading
from collections.abc import Callable, Iterator
from typing import Any

from django.db import connection

from accounts.errors import DomainError
from boards.errors import BoardArchived
from tests.connections import PATIENCE, backend, outcome, start, wait_until_blocked
from tests.invariants import assert_sound
from tests.ways import noted, went

Call = Callable[[], Any]
MOST_STATEMENTS = 60


class Paused:
    """A call that stops after a number of its statements."""

    def __init__(self, call: Call, after: int) -> None:
        self.after = after
        self.done = 0
        self.pid = 0
        self.stopped = threading.Event()
        self.go_on = threading.Event()
        self.over = threading.Event()
        self.future = start(lambda: self._run(call))

    def _run(self, call: Call) -> Any:
        try:
            self.pid = backend()
            self._stop_here()
            with connection.execute_wrapper(self._count):
                return call()
        finally:
            self.over.set()
            self.stopped.set()

    def _count(self, execute: Any, sql: Any, params: Any, many: Any, more: Any) -> Any:
        result = execute(sql, params, many, more)
        if not sql.startswith(("SAVEPOINT", "RELEASE")):
            self.done += 1
            self._stop_here()
        return result

    def _stop_here(self) -> None:
        if self.done == self.after:
            self.stopped.set()
            self.go_on.wait(PATIENCE)


def meet(
    order: str,
    prepare: Callable[[], Any],
    one: Callable[[Any], Any],
    two: Callable[[Any], Any],
) -> Iterator[tuple[Any, Any, Any]]:
    """For each point at which the first can be stopped: a new place, and what `one` and
    `two` answered or raised there. Afterwards the place's world must be sound, and an
    error must be one of ours: no deadlock, no broken constraint, no row not found. What
    was completed must have gone on the way that the place is made for (`known`)."""
    for after in range(MOST_STATEMENTS):
        place = prepare()
        sent: list[str] = []
        calls = [noted(lambda p=place, c=call: c(p), sent) for call in (one, two)]
        if order == "two first":
            calls.reverse()
        reached, answers = _run(*calls, after)
        if order == "two first":
            answers.reverse()
        for answer in answers:
            if isinstance(answer, BaseException) and not isinstance(
                answer, DomainError
            ):
                raise answer
        # Who may not work there any more is refused before.
        barred = any(isinstance(answer, BoardArchived) for answer in answers)
        assert barred or went(sent, known=getattr(place, "known", False))
        yield place, *answers
        assert_sound(place.world.workspace.pk)
        if not reached:
            return
    raise AssertionError(f"more than {MOST_STATEMENTS} statements")


def _run(one: Call, two: Call, after: int) -> tuple[bool, list[Any]]:
    first = Paused(one, after)
    assert first.stopped.wait(PATIENCE)
    reached = not first.over.is_set()
    second = start(two)
    if reached:
        wait_until_blocked(second, by=first.pid)
    first.go_on.set()
    return reached, [outcome(first.future), outcome(second)]
