"""Old minutes go; their hours stay, which are few."""

from leases.statements.running import compact, run
from supervision.models import Counts

BATCH = 5_000
MAX_BATCHES = 100

_FORGET = """
WITH gone AS (DELETE FROM {table} WHERE ctid = ANY(ARRAY(
    SELECT ctid FROM {table} WHERE span = {span}
      AND start < statement_timestamp() - make_interval(days => %(days)s)
    LIMIT {batch} FOR UPDATE SKIP LOCKED)) RETURNING 1)
SELECT count(*) AS forgotten FROM gone
"""
_TABLES = ("supervision_queuefigures", "supervision_holderfigures")


def forget_minutes(days: int) -> int:
    """Delete the figures of minutes older than `days` (0: none ever); how many. In
    batches, a bounded number of them: the rest is the next pass's. Safe to run many at
    once."""
    return sum(_forget(table, days) for table in _TABLES) if days else 0


def _forget(table: str, days: int) -> int:
    statement = compact(
        _FORGET.format(table=table, span=Counts.Span.MINUTE.value, batch=BATCH)
    )
    forgotten = 0
    for _ in range(MAX_BATCHES):
        (row,) = run(statement, {"days": days})
        forgotten += row.forgotten
        if row.forgotten < BATCH:
            break
    return forgotten
