import time
from collections.abc import Callable

from django.db import connection

_IS_TOLD = (
    "SELECT coalesce(max(transaction), 0) < pg_snapshot_xmin(pg_current_snapshot())"
    "::text::bigint FROM boards_event"
)


def eventually(holds: Callable[[], object], seconds: float = 60.0) -> None:
    """Wait until it holds; the machine may be busy, so the wait is long."""
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline, "that never came"
        time.sleep(0.02)


def wait_until_told() -> None:
    """Until the feed gives all that was committed. It does at once, unless PostgreSQL
    does something by itself (ANALYZE, by autovacuum) that has an older transaction."""
    eventually(_is_told)


def _is_told() -> bool:
    with connection.cursor() as cursor:
        cursor.execute(_IS_TOLD)
        return bool(cursor.fetchone()[0])
