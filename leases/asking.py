"""When somebody last asked a queue for a card: remembered per process, and written down
at most every half minute, so that no claim costs a write more."""

from datetime import datetime
from functools import partial
from time import monotonic
from uuid import UUID

from django.db import transaction

from leases.models import Ask
from leases.statements.running import compact, run

EVERY_SECONDS = 30.0
MOST_REMEMBERED = 10_000

_WRITE = compact("""
INSERT INTO leases_ask (column_id, last_at) VALUES (%(column)s, clock_timestamp())
ON CONFLICT (column_id) DO UPDATE SET last_at = excluded.last_at
""")
_written: dict[UUID, float] = {}


def note(column_id: UUID) -> None:
    """Somebody asks. Written after the transaction under way, so that no claim waits
    for another one here, and remembered only then: it may be rolled back and the call
    begun anew. A failure to write is nobody's trouble."""
    now = monotonic()
    last = _written.get(column_id)
    if last is not None and now - last < EVERY_SECONDS:
        return
    transaction.on_commit(partial(_remember_and_write, column_id, now), robust=True)


def _remember_and_write(column_id: UUID, now: float) -> None:
    if len(_written) >= MOST_REMEMBERED:
        _written.clear()
    _written[column_id] = now
    write(column_id)


def write(column_id: UUID) -> None:
    run(_WRITE, {"column": column_id})


def last_asked(column_id: UUID) -> datetime | None:
    """To half a minute; None when nobody ever did."""
    return Ask.objects.filter(pk=column_id).values_list("last_at", flat=True).first()
