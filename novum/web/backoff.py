"""How a job's attempts lie in time, as a picture made of blocks."""

from dataclasses import dataclass
from math import log2

from novum.web.durations import words

MAX_ATTEMPTS_SHOWN = 8
WIDEST = 8


@dataclass(frozen=True)
class Step:
    """An attempt, and the wait before it (`width` 0: none, to 8: the longest)."""

    attempt: int
    wait: str
    width: int


@dataclass(frozen=True)
class Picture:
    """`skipped` attempts are left out before the last one."""

    steps: list[Step]
    last: Step | None
    skipped: int
    total: str


def picture(max_attempts: int, backoff: list[int]) -> Picture:
    """Waits grow in width by their logarithm; the last entry repeats."""
    count = max(1, max_attempts)
    waits = [_wait(backoff, attempt) for attempt in range(1, count)]
    longest = max(waits, default=0)
    steps = [Step(1, "", 0)] + [
        Step(i + 2, words(wait), _width(wait, longest))
        for i, wait in enumerate(waits[: MAX_ATTEMPTS_SHOWN - 1])
    ]
    skipped = count - len(steps) - 1
    last = None
    if skipped >= 0:
        last = Step(count, words(waits[-1]), _width(waits[-1], longest))
    return Picture(steps, last, max(0, skipped), words(sum(waits)))


def _wait(backoff: list[int], attempt: int) -> int:
    return backoff[min(attempt, len(backoff)) - 1] if backoff else 0


def _width(wait: int, longest: int) -> int:
    if not wait:
        return 0
    return max(1, round(WIDEST * log2(1 + wait) / log2(1 + longest)))
