"""Short stretches of load, of which every comparison is made.

Two things that are compared take turns, slice by slice: what else the machine does
then meets both alike. Each slice opens its connections anew.
"""

from time import perf_counter

from bench.load import Talk, drive
from bench.stage import Stage
from bench.talks import Queue, Tally, many_at_once, one_by_one

CONNECTIONS = 16


def cycles(
    stage: Stage,
    queue: Queue,
    seconds: float,
    *,
    connections: int = CONNECTIONS,
    count: int | None = None,
) -> tuple[float, Tally]:
    """Cards claimed and completed a second, and the tally. `count` = cards a call."""
    tally = Tally()
    started = perf_counter()

    def goes_on() -> bool:
        return perf_counter() - started < seconds

    def talk() -> Talk:
        if count is None:
            return one_by_one(queue, tally, goes_on)
        return many_at_once(queue, tally, goes_on, count)

    drive(stage.address, [talk() for _ in range(connections)])
    return tally.cards / (perf_counter() - started), tally
