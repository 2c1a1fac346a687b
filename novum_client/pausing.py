"""How long to wait before the next try: jittered, so that many don't come as one."""

import random

FIRST_SECONDS, MOST_SECONDS = 0.2, 10.0


class Backoff:
    """Longer with every failure in a row."""

    def __init__(
        self, first: float = FIRST_SECONDS, most: float = MOST_SECONDS
    ) -> None:
        self._first, self._most = first, most
        self._times = 0

    @property
    def is_fresh(self) -> bool:
        return self._times == 0

    def reset(self) -> None:
        self._times = 0

    def next(self, asked: float | None = None) -> float:
        """Seconds; never fewer than the server has `asked` for."""
        # Beyond 2**16 it's at its most in any case.
        seconds = min(self._first * 2.0 ** min(self._times, 16), self._most)
        self._times += 1
        seconds *= random.uniform(0.5, 1.0)
        return max(seconds, later(asked)) if asked is not None else seconds


def later(seconds: float) -> float:
    """A little after a moment that many may wait for."""
    return seconds * random.uniform(1.0, 1.25)


def sooner(seconds: float) -> float:
    """A little before a moment that must not be missed."""
    return seconds * random.uniform(0.8, 1.0)
