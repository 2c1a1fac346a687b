"""Does it keep its pace, and does it when somebody holds an old snapshot open?"""

from collections.abc import Iterator
from contextlib import contextmanager

import psycopg

from bench.report import Figure
from bench.seeding import World, a_queue
from bench.sizes import Sizes
from bench.slices import cycles
from bench.stage import Stage
from bench.talks import Queue

# Of the whole time: the first and the last 10 s of 60.
PART = 6


def measure(stage: Stage, world: World, sizes: Sizes) -> list[Figure]:
    queue = a_queue(world, sizes.cards)
    cycles(stage, queue, sizes.slice_seconds)
    figures = [_pace(stage, queue, sizes.sustained_seconds, "alone", 0.9)]
    with _old_snapshot(stage.database_url):
        figures.append(
            _pace(stage, queue, sizes.sustained_seconds, "with an old snapshot", 0.5)
        )
    return figures


def _pace(stage: Stage, queue: Queue, seconds: int, name: str, goal: float) -> Figure:
    """Without a pause; each stretch of it opens its connections anew, for a moment."""
    rates = [cycles(stage, queue, seconds / PART)[0] for _ in range(PART)]
    return Figure(
        "sustained",
        f"last {seconds / PART:g} s : first, {name}",
        rates[-1] / rates[0],
        goal,
        note=" ".join(f"{rate:.0f}" for rate in rates) + " a second",
    )


@contextmanager
def _old_snapshot(database_url: str) -> Iterator[None]:
    """While it is held, no vacuum may remove what has died since."""
    with psycopg.connect(database_url) as connection:
        connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        connection.execute("SELECT count(*) FROM boards_board")
        yield
