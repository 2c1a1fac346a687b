"""Ten cards a call against one card a call."""

from bench.report import Figure, middle, spread
from bench.seeding import World, a_queue
from bench.sizes import Sizes
from bench.slices import CONNECTIONS, cycles
from bench.stage import Stage

COUNT = 10


def measure(stage: Stage, world: World, sizes: Sizes) -> list[Figure]:
    # A limit that never holds anybody up: every connection may hold its ten.
    limit = CONNECTIONS * COUNT
    queue = a_queue(world, sizes.cards, concurrency_limit=limit)
    seconds = sizes.slice_seconds
    cycles(stage, queue, seconds)
    singles, batches = [], []
    for _ in range(sizes.rounds):
        singles.append(cycles(stage, queue, seconds)[0])
        batches.append(cycles(stage, queue, seconds, count=COUNT)[0])
    ratios = [many / one for many, one in zip(batches, singles, strict=True)]
    return [
        Figure(
            "batch",
            "cards/s, ten a call : one a call",
            middle(ratios),
            goal=5.0,
            note=f"{middle(batches):.0f} : {middle(singles):.0f} a second, "
            + spread(ratios),
        )
    ]
