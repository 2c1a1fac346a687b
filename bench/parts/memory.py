"""What a web process takes, and whether it grows."""

from bench.processes import children, resident_bytes
from bench.report import Figure
from bench.seeding import World, a_queue
from bench.sizes import Sizes
from bench.slices import cycles
from bench.stage import Stage
from bench.talks import Queue

BYTES_PER_MB = 1024 * 1024
WARM_UP_REQUESTS = 5_000


def measure(stage: Stage, world: World, sizes: Sizes) -> list[Figure]:
    queue = a_queue(world, sizes.cards)
    _ask(stage, queue, min(WARM_UP_REQUESTS, sizes.requests))
    before = _largest(stage)
    _ask(stage, queue, sizes.requests)
    after = _largest(stage)
    return [
        Figure("memory", "MB of the largest web process", after, 150, at_most=True),
        Figure(
            "memory",
            f"MB more after {sizes.requests:,} requests",
            after - before,
            5,
            at_most=True,
        ),
    ]


def _ask(stage: Stage, queue: Queue, requests: int) -> None:
    asked = 0
    while asked < requests:
        asked += 2 * cycles(stage, queue, 1.0)[1].cards


def _largest(stage: Stage) -> float:
    """In MB, as the system counts what is resident."""
    return max(map(resident_bytes, children(stage.web))) / BYTES_PER_MB
