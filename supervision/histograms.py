"""How long things took, as counts in fixed buckets.

Each bucket is 1.41 times as wide as the one before, from 10 milliseconds to 22 days. So
the histograms of any span of time add up exactly, and what is read out of one is right
to within a bucket. A histogram is cut off after its last bucket that isn't empty.
"""

import math
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from itertools import zip_longest

# In seconds. Bucket n holds what took at least BOUNDS[n - 1] and less than BOUNDS[n];
# the same as PostgreSQL's width_bucket.
BOUNDS = tuple(0.01 * 2 ** (step / 2) for step in range(56))


def bucket(seconds: float) -> int:
    return bisect_right(BOUNDS, seconds)


def added(histograms: Iterable[Sequence[int]]) -> list[int]:
    return [sum(column) for column in zip_longest(*histograms, fillvalue=0)]


def percentile(histogram: Sequence[int], share: float) -> float | None:
    """What `share` (above 0, at most 1) of all took at most, in seconds; None of none.
    In the bucket of the right answer; above all bounds the highest one."""
    total = sum(histogram)
    if not total:
        return None
    rank, before = max(1, math.ceil(share * total)), 0
    for number, count in enumerate(histogram):
        if before + count >= rank:
            return round(_within(number, (rank - before - 0.5) / count), 3)
        before += count
    raise AssertionError("A rank is at most the total.")


def at_least(histogram: Sequence[int], seconds: float) -> float:
    """How many took so long or longer; of the bucket that `seconds` lies in, a part."""
    number = bucket(seconds)
    above = float(sum(histogram[number + 1 :]))
    if number < len(histogram):
        low, high = _edges(number)
        part = 1.0 if high <= low else (high - seconds) / (high - low)
        above += histogram[number] * part
    return above


def _within(number: int, part: float) -> float:
    low, high = _edges(number)
    return low + (high - low) * part if not low else low * (high / low) ** part


def _edges(number: int) -> tuple[float, float]:
    low = BOUNDS[number - 1] if number else 0.0
    high = BOUNDS[number] if number < len(BOUNDS) else low
    return low, high
