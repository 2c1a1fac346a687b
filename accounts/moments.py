"""Moments that can be kept, and when an id was made: UUIDv7 begins with a time
(RFC 9562, section 5.7)."""

from datetime import UTC, datetime, timedelta
from uuid import UUID

from django.utils.timezone import now

from accounts.errors import Invalid

_BITS_BELOW_THE_TIME = 80


def keepable(moment: datetime | None, pointer: str) -> datetime | None:
    """The moment in UTC. Raises Invalid for one that isn't in the years 1 to 9999
    there: PostgreSQL would keep it, and nobody could read the row any more."""
    try:
        return moment and moment.astimezone(UTC)
    except OverflowError:
        detail = "Times are in the years 1 to 9999, in UTC."
        raise Invalid.at(pointer, "out_of_range", detail) from None


def first_id_at(moment: datetime) -> UUID:
    """Not above any id made at `moment` or later, above all made earlier (to the
    millisecond). So a primary key answers "since when" without an index on a time."""
    milliseconds = int(moment.timestamp() * 1000)
    return UUID(int=milliseconds << _BITS_BELOW_THE_TIME)


def first_id_ago(age: timedelta) -> UUID:
    """The same for a moment that's `age` ago."""
    return first_id_at(now() - age)
