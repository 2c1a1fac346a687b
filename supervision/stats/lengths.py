"""What another lease length would do, from how long holders were silent.

A lease lapses when its holder gives no sign of life for its length. What is known of a
lease that ended in time: one that was never renewed would have lapsed with any length
shorter than its run. One that was renewed was silent from its last renewal to its end,
and on average as long between two renewals; a worker that keeps its beat would have
lapsed with less, but one that follows the length (as ours do, each third of it) would
have renewed oftener. So there are two figures, and the truth is between them. Those
that did lapse count as lapsed with any length: nothing says that their holder was alive.
"""

from collections.abc import Iterable
from datetime import datetime, timedelta
from uuid import UUID

from supervision.histograms import added, at_least
from supervision.models import QueueFigures
from supervision.stats.shapes import LeaseLengths, WhatIf
from supervision.stats.spans import HOUR

DAYS = 7
USUAL = (30, 60, 120, 300, 600, 1_800, 3_600)


def lease_lengths(
    column_id: UUID, *, now: datetime, also: Iterable[int | None] = ()
) -> LeaseLengths:
    """Of the last seven days, for the usual lengths and `also` (in seconds)."""
    rows = list(
        QueueFigures.objects.filter(
            column_id=column_id, span=HOUR, start__gte=now - timedelta(days=DAYS)
        ).values_list("quiet", "gap", "expired")
    )
    quiet = added(row[0] for row in rows)
    gap = added(row[1] for row in rows)
    lapsed = sum(row[2] for row in rows)
    leases = sum(quiet) + sum(gap) + lapsed
    lengths = sorted({*USUAL, *(one for one in also if one)})
    return LeaseLengths(
        leases=leases,
        lapsed=lapsed,
        lengths=[_what_if(one, quiet, gap, lapsed, leases) for one in lengths],
    )


def _what_if(
    seconds: int, quiet: list[int], gap: list[int], lapsed: int, leases: int
) -> WhatIf:
    if not leases:
        return WhatIf(seconds, 0.0, 0.0)
    least = lapsed + at_least(quiet, seconds)
    most = least + at_least(gap, seconds)
    return WhatIf(
        seconds, round(100 * least / leases, 1), round(100 * most / leases, 1)
    )
