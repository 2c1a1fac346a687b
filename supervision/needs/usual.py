"""How long work usually takes in a queue, from its rolled-up figures."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta
from time import monotonic
from uuid import UUID

from django.utils.timezone import now

from leases.models import Lease
from supervision import histograms
from supervision.models import Counts, QueueFigures

# The last week's completed and failed attempts say what is usual, if there are enough.
USUAL_DAYS = 7
MIN_ATTEMPTS = 20
USUAL_SHARE = 0.95
# Far longer: so many times as long as 95 % took, and never less than a minute.
FAR = 3
MIN_SECONDS = 60.0
CACHE_SECONDS = 60.0
MOST_REMEMBERED = 10_000

_known: dict[UUID, tuple[float, float | None]] = {}


def usual_seconds(column_ids: Iterable[UUID]) -> dict[UUID, float]:
    """What 95 % of last week's attempts took at most; only of queues with enough of
    them. Remembered for a minute."""
    wanted, at = set(column_ids), monotonic()
    old = {
        one
        for one in wanted
        if one not in _known or at - _known[one][0] > CACHE_SECONDS
    }
    if len(_known) > MOST_REMEMBERED:
        _known.clear()
        old = wanted
    if old:
        for column_id, seconds in _read(old).items():
            _known[column_id] = (at, seconds)
    found = {one: _known.get(one, (at, None))[1] for one in wanted}
    return {one: seconds for one, seconds in found.items() if seconds is not None}


@dataclass(frozen=True)
class Usual:
    """In seconds: what 95 % take at most, and what is far longer."""

    usual: float

    @property
    def limit(self) -> float:
        return max(FAR * self.usual, MIN_SECONDS)


def too_long(column_ids: Iterable[UUID]) -> dict[UUID, Usual]:
    """What is usual, of those of these queues in which somebody works for so long that
    it may be far longer."""
    rows = Lease.objects.filter(
        column_id__in=list(column_ids),
        ended_at=None,
        expires_at__isnull=False,
        acquired_at__lt=now() - timedelta(seconds=MIN_SECONDS),
    )
    busy = set(rows.values_list("column_id", flat=True).distinct())
    return {one: Usual(seconds) for one, seconds in usual_seconds(busy).items()}


def forget() -> None:
    _known.clear()


def _read(column_ids: set[UUID]) -> dict[UUID, float | None]:
    rows = QueueFigures.objects.filter(
        column_id__in=column_ids,
        span=Counts.Span.HOUR,
        start__gte=now() - timedelta(days=USUAL_DAYS),
    )
    runs: dict[UUID, list[list[int]]] = {one: [] for one in column_ids}
    for column_id, run in rows.values_list("column_id", "run"):
        runs[column_id].append(run)
    return {one: _usual(histograms.added(found)) for one, found in runs.items()}


def _usual(histogram: list[int]) -> float | None:
    if sum(histogram) < MIN_ATTEMPTS:
        return None
    return histograms.percentile(histogram, USUAL_SHARE)
