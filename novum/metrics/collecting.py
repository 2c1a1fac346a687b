"""What a scrape is told, computed from rows when it comes: no process keeps counts, so
any process can answer and a restart loses nothing."""

from collections.abc import Iterable, Iterator, Sequence

from django.conf import settings
from prometheus_client import Metric
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
)
from prometheus_client.registry import Collector, CollectorRegistry

from novum.health import late_after
from novum.parts import parts
from novum.timetable import timetable
from supervision.histograms import BOUNDS
from supervision.loops import last_runs
from supervision.scrape import QueueNow, queues, reaper_lag

LABELS = ("workspace", "board", "queue", "column")
# Each fourth bound: four times as wide as the one before, from 10 ms to 7 days.
SHOWN = range(0, len(BOUNDS), 4)
COUNTERS = {
    "claims": "Cards claimed.",
    "completed": "Attempts completed.",
    "failed": "Attempts that their workers failed.",
    "dead_lettered": "Cards that failed for good.",
    "expired": "Leases that ran out.",
    "released": "Leases given back.",
    "revoked": "Leases that somebody took away.",
}
GAUGES = {
    "ready": "Cards that could be claimed now.",
    "waiting": "Open cards that are to be claimed later.",
    "misfits": "Open cards that don't fit the input schema.",
    "dead": "Cards that failed for good and lie there; at most 1000 are counted.",
    "working": "Active leases.",
    "lapsed": "Active leases that have run out and weren't ended yet.",
    "holders": "Agents and people at work.",
}
IN_DEPTH = {"dead": "failed"}


class Collecting(Collector):
    """All of it, anew at each `collect`."""

    def collect(self) -> Iterator[Metric]:
        found = queues(settings.METRICS_QUEUES)
        yield from _counters(found)
        yield from _gauges(found)
        yield _histogram("wait", "From ready to claimed.", found)
        yield _histogram("run", "From claimed to completed or failed.", found)
        yield GaugeMetricFamily(
            "novum_reaper_lag_seconds",
            "For how long the longest-lapsed lease has been waiting to be ended.",
            reaper_lag(),
        )
        yield from _loops()
        for part in parts("metrics"):
            yield from part.collect()


registry = CollectorRegistry()
registry.register(Collecting())


def _counters(found: Sequence[QueueNow]) -> Iterator[Metric]:
    for name, about in COUNTERS.items():
        family = CounterMetricFamily(f"novum_queue_{name}", about, labels=LABELS)
        for one in found:
            family.add_metric(_labels(one), one.counts[name])
        yield family


def _gauges(found: Sequence[QueueNow]) -> Iterator[Metric]:
    for name, about in GAUGES.items():
        family = GaugeMetricFamily(f"novum_queue_{name}", about, labels=LABELS)
        for one in found:
            family.add_metric(
                _labels(one), getattr(one.depth, IN_DEPTH.get(name, name))
            )
        yield family


def _histogram(kind: str, about: str, found: Iterable[QueueNow]) -> Metric:
    about += " The sum is estimated from the buckets."
    family = HistogramMetricFamily(f"novum_queue_{kind}_seconds", about, labels=LABELS)
    for one in found:
        counts = getattr(one, kind)
        buckets = [(f"{BOUNDS[n]:.4g}", float(sum(counts[: n + 1]))) for n in SHOWN]
        buckets.append(("+Inf", float(sum(counts))))
        family.add_metric(_labels(one), buckets, _estimated_sum(counts))
    return family


def _estimated_sum(counts: Sequence[int]) -> float:
    """As if everything lay in the middle of its bucket, on the scale of the bounds."""
    middles = [BOUNDS[0] / 2, *(bound * 2**0.25 for bound in BOUNDS)]
    return round(sum(n * middle for n, middle in zip(counts, middles, strict=False)), 3)


def _loops() -> Iterator[Metric]:
    last = GaugeMetricFamily(
        "novum_loop_last_run_timestamp_seconds",
        "When a loop of the worker last did what it's for; none if it never did.",
        labels=["loop"],
    )
    took = GaugeMetricFamily(
        "novum_loop_run_seconds", "How long that took.", labels=["loop"]
    )
    late = GaugeMetricFamily(
        "novum_loop_is_late",
        "1 where it's overdue, as by /v1/readyz.",
        labels=["loop"],
    )
    known = last_runs()
    for name, entry in timetable().items():
        ran, limit = known.get(name), late_after(float(entry["schedule"]))
        ago = None if ran is None else ran.seconds_ago
        since = ran.known_seconds if ran else limit + 1
        late.add_metric([name], float((since if ago is None else ago) > limit))
        if ran and ran.ran_at:
            last.add_metric([name], ran.ran_at.timestamp())
            took.add_metric([name], ran.seconds)
    yield from (last, took, late)


def _labels(one: QueueNow) -> tuple[str, ...]:
    return one.workspace, one.board, one.queue, one.id
