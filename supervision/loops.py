"""Whether the worker's loops run: each writes down when it last did.

Nothing but those who look after the deployment reads it, so a loop that can't write it
down goes on.
"""

import logging
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from time import monotonic

from django.db import DatabaseError
from django.db.models.functions import Now

from boards.models import ClockTimestamp
from supervision.models import Loop

# So often at most does a process write the same again.
WRITE_SECONDS = 5.0

log = logging.getLogger(__name__)
_written: dict[str, float] = {}


@dataclass(frozen=True)
class Ran:
    """`seconds_ago` by the database's clock, None where it never did; `seconds` is what
    it took; `problem` the kind of its last error if it has failed since. It's to run
    since `known_seconds`."""

    name: str
    known_seconds: float
    ran_at: datetime | None
    seconds_ago: float | None
    seconds: float
    problem: str


def is_due(name: str) -> bool:
    """Whether `ran` would write anything, which it does every few seconds."""
    return monotonic() - _written.get(name, float("-inf")) >= WRITE_SECONDS


def ran(name: str, seconds: float = 0.0) -> None:
    """It did what it's for. Never raises what the database does."""
    if not is_due(name):
        return
    _write(name, ran_at=ClockTimestamp(), seconds=seconds)
    _written[name] = monotonic()


def failed(name: str, error: BaseException) -> None:
    """It did not. Never raises what the database does."""
    _write(name, failed_at=ClockTimestamp(), problem=type(error).__name__[:100])
    _written.pop(name, None)


def expect(names: Iterable[str]) -> None:
    """They're to run from now on. Never raises what the database does."""
    try:
        Loop.objects.bulk_create([Loop(name=n) for n in names], ignore_conflicts=True)
    except DatabaseError as error:
        log.warning("What is to run can't be written down: %s", type(error).__name__)


def forget() -> None:
    """Write again at the next call (after the rows were lost)."""
    _written.clear()


def last_runs() -> dict[str, Ran]:
    """Of all loops that have ever run, by name."""
    found = Loop.objects.annotate(now=Now())
    return {row.name: _ran(row, row.now) for row in found}


def _write(name: str, **values: object) -> None:
    try:
        Loop.objects.update_or_create(name=name, defaults=values)
    except DatabaseError as error:
        log.warning("%s could not say that it ran: %s", name, type(error).__name__)


def _ran(row: Loop, now: datetime) -> Ran:
    ago = (now - row.ran_at).total_seconds() if row.ran_at else None
    failed_since = row.failed_at and (not row.ran_at or row.failed_at > row.ran_at)
    return Ran(
        name=row.name,
        known_seconds=(now - row.known_at).total_seconds(),
        ran_at=row.ran_at,
        seconds_ago=None if ago is None else max(0.0, ago),
        seconds=row.seconds,
        problem=row.problem if failed_since else "",
    )
