"""Leave every transaction, do something first, and begin the call anew.

What takes its time, such as a schema at work, must not happen while rows are locked. But
a verb can't know who has opened a transaction round it: an Idempotency-Key does, and so
does a seat with a limit. So a verb that finds such an errand says so by an exception, and
whoever is outermost runs it with nothing open and calls once more.
"""

from collections.abc import Callable, Hashable
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import wraps
from time import monotonic

from django.db import transaction


class BeginAnew(Exception):
    """Passes through all transactions of a call, which are rolled back by it."""

    def __init__(self, first: Callable[[], object]) -> None:
        super().__init__("This is for `begins_anew`, which is missing round the call.")
        self.first = first


@dataclass
class Errand:
    """What a call must have done first, again and again, for so long in all."""

    until: float
    _is_begun: bool = field(default=False, init=False)
    _is_back: bool = field(default=False, init=False)

    @property
    def is_late(self) -> bool:
        return monotonic() > self.until

    def leave_for(self, first: Callable[[], object]) -> None:
        """Begin the call anew after `first`, at least once; when it's late, go on."""
        if self._is_begun and self.is_late:
            return
        self._is_begun = self._is_back = True
        raise BeginAnew(first)

    def is_back(self) -> bool:
        """Whether the call has begun anew after it. True only once, so that a go is
        followed by a try, however much there's left to do."""
        is_back, self._is_back = self._is_back, False
        return is_back


_errands: ContextVar[dict[Hashable, Errand] | None] = ContextVar(
    "errands", default=None
)


def errand(about: Hashable, seconds: float) -> Errand:
    """The one errand of this call about that. Its time begins with the first asking."""
    errands = _errands.get()
    assert errands is not None, "begins_anew is missing round the call"
    if about not in errands:
        errands[about] = Errand(monotonic() + seconds)
    return errands[about]


def begins_anew[**P, T](call: Callable[P, T]) -> Callable[P, T]:
    """May be called once more for an errand: what it has changed before that must have
    been in a transaction. Inside of another one the outermost does it."""

    @wraps(call)
    def outermost(*args: P.args, **kwargs: P.kwargs) -> T:
        if _errands.get() is not None:
            return call(*args, **kwargs)
        before = _errands.set({})
        try:
            while True:
                try:
                    return call(*args, **kwargs)
                except BeginAnew as found:
                    first = found.first
                first()
        finally:
            _errands.reset(before)

    return outermost


def must_be_outside() -> None:
    """Raises RuntimeError inside of a transaction. Nothing is sent for it."""
    with transaction.atomic(durable=True):
        pass
