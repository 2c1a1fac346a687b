"""What belongs to the judgement that is running: its time and its schema.

The time is the processor time of the thread: a machine that is busy with other things
must not make a card look like one that can't be judged.
"""

from contextvars import ContextVar
from time import thread_time
from typing import Any


class TooSlow(Exception):
    """The judgement has used up its time."""


class Run:
    """One call of `problems`: when it must end, and the schema it judges with.

    `parts` keeps the library's validator of each sub-schema, by identity; all runs
    with one compiled schema share it.
    """

    __slots__ = ("deadline", "parts", "root")

    def __init__(self, root: Any, parts: dict[int, Any], seconds: float) -> None:
        self.root = root
        self.parts = parts
        self.deadline = thread_time() + seconds


# A context variable, because keyword functions are given no argument of ours,
# and two threads may judge with one cached validator.
RUN: ContextVar[Run] = ContextVar("novum_schema_run")


def tick() -> None:
    """Raise TooSlow when the deadline has passed."""
    if thread_time() > RUN.get().deadline:
        raise TooSlow


def spend(seconds: float) -> None:
    """Raise TooSlow unless that many seconds are left.

    For work that cannot be interrupted once it has begun.
    """
    if thread_time() + seconds > RUN.get().deadline:
        raise TooSlow
