"""One queue over a span of time: charts, by holder, and what another length would do."""

from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Sum

from accounts.callers import Caller
from accounts.models import Actor
from accounts.shapes import actor_ref
from leases.models import Contract, Lease
from leases.reads import server_time
from leases.statements.running import compact, run
from supervision.histograms import added, percentile
from supervision.models import HolderFigures, QueueFigures
from supervision.stats.lengths import lease_lengths
from supervision.stats.queues import one_queue, percentiles
from supervision.stats.shapes import HolderStats, QueueDetail, Series, Totals
from supervision.stats.spans import Span, span_of

MOST_HOLDERS = 50
COUNTS = Totals.__struct_fields__
_CHARTED = ("claims", "completed", "failed", "dead_lettered", "expired")
_HISTOGRAMS = ("wait", "run")

# The histograms of all rows of a holder, added up in place.
_RUNS = compact(f"""
SELECT f.holder_id, u.number - 1 AS number, sum(u.count)::bigint AS count
FROM {HolderFigures._meta.db_table} f
CROSS JOIN LATERAL unnest(f.run) WITH ORDINALITY u (count, number)
WHERE f.column_id = %(column)s AND f.span = %(span)s::smallint
  AND f.start >= %(start)s AND f.holder_id = ANY(%(holders)s::uuid[])
GROUP BY f.holder_id, u.number
""")


def queue_detail(
    caller: Caller, *, column_id: UUID, span: str, lease_seconds: int | None = None
) -> QueueDetail:
    """With the figures of a `span` by name, and of the lease length `lease_seconds`
    among others. Raises NotFound."""
    queue = one_queue(caller, column_id=column_id)
    now, chosen = server_time(), span_of(span)
    starts = chosen.starts(now)
    rows = _rows(column_id, chosen, starts[0])
    own = own_length(column_id)
    return QueueDetail(
        queue=queue,
        span=chosen.name,
        step_seconds=chosen.step,
        totals=Totals(**{name: sum(row[name] for row in rows) for name in COUNTS}),
        times=percentiles(
            added(row["wait"] for row in rows), added(row["run"] for row in rows)
        ),
        series=_series(rows, chosen, starts),
        holders=_holders(column_id, chosen, starts[0]),
        lease_lengths=lease_lengths(column_id, now=now, also=(own, lease_seconds)),
    )


def _rows(column_id: UUID, span: Span, start: datetime) -> list[dict[str, Any]]:
    rows = QueueFigures.objects.filter(
        column_id=column_id, span=span.rows, start__gte=start
    )
    fields = ("start", *COUNTS, *_HISTOGRAMS, "depth", "working")
    return list(rows.order_by("start").values(*fields))


def _series(
    rows: Sequence[dict[str, Any]], span: Span, starts: Sequence[datetime]
) -> Series:
    at = [int(start.timestamp()) for start in starts]
    steps: dict[int, list[dict[str, Any]]] = {one: [] for one in at}
    for row in rows:
        step = int(row["start"].timestamp()) // span.step * span.step
        if step in steps:
            steps[step].append(row)
    parts = list(steps.values())
    times = [
        percentiles(
            added(row["wait"] for row in part), added(row["run"] for row in part)
        )
        for part in parts
    ]
    return Series(
        at=at,
        **{
            name: [sum(row[name] for row in part) for part in parts]
            for name in _CHARTED
        },
        depth=[max((row["depth"] for row in part), default=0) for part in parts],
        working=[max((row["working"] for row in part), default=0) for part in parts],
        wait_p50=[one.wait_p50 for one in times],
        wait_p95=[one.wait_p95 for one in times],
        run_p50=[one.run_p50 for one in times],
        run_p95=[one.run_p95 for one in times],
    )


def _holders(column_id: UUID, span: Span, start: datetime) -> list[HolderStats]:
    """Who did most first."""
    held = Lease.objects.filter(column_id=column_id, ended_at=None)
    working = Counter(held.values_list("holder_id", flat=True))
    totals = _totals(column_id, span, start)
    ids = sorted({*totals, *working}, key=lambda one: -_done(totals.get(one)))
    ids = ids[:MOST_HOLDERS]
    runs: dict[UUID, Counter[int]] = {one: Counter() for one in ids}
    values = {
        "column": column_id,
        "span": span.holder_rows,
        "start": start,
        "holders": ids,
    }
    for row in run(_RUNS, values):
        runs[row.holder_id][row.number] = row.count
    people = Actor.objects.in_bulk(ids)
    return [
        HolderStats(
            holder=ref,
            working=working[one],
            totals=totals.get(one, Totals()),
            run_p50=percentile(_listed(runs[one]), 0.5),
            run_p95=percentile(_listed(runs[one]), 0.95),
        )
        for one in ids
        if (ref := actor_ref(people.get(one)))
    ]


def _totals(column_id: UUID, span: Span, start: datetime) -> dict[UUID, Totals]:
    rows = HolderFigures.objects.filter(
        column_id=column_id, span=span.holder_rows, start__gte=start
    )
    sums = [Sum(name) for name in COUNTS]
    found = rows.order_by().values_list("holder_id").annotate(*sums)
    return {holder: Totals(*counts) for holder, *counts in found}


def _done(totals: Totals | None) -> int:
    return totals.completed + totals.failed + totals.expired if totals else 0


def _listed(counts: Counter[int]) -> list[int]:
    return [counts[number] for number in range(max(counts, default=-1) + 1)]


def own_length(column_id: UUID) -> int | None:
    """In seconds; None where leases of people never lapse."""
    lengths = Contract.objects.values_list("lease_ttl_seconds", flat=True)
    return lengths.get(pk=column_id)
