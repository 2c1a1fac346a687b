"""A claim by the queue's name against a claim by its column: the same verb, one more
look-up in a cache, another form of the answer."""

from bench.report import Figure, middle, spread
from bench.seeding import World, a_queue
from bench.sizes import Sizes
from bench.slices import cycles
from bench.stage import Stage
from bench.talks import NamedQueue, Queue


def measure(stage: Stage, world: World, sizes: Sizes) -> list[Figure]:
    by_column = a_queue(world, sizes.cards, queue=NamedQueue.name)
    by_name = NamedQueue(by_column.board_id, by_column.column_id, by_column.token)
    seconds = sizes.slice_seconds
    for queue in (by_column, by_name):
        cycles(stage, queue, seconds)
    ratios = []
    for _ in range(sizes.rounds):
        column = _claim_seconds(stage, by_column, seconds)
        ratios.append(_claim_seconds(stage, by_name, seconds) / column)
    return [
        Figure(
            "tasks",
            "tasks.claim : claim_next_card, time of a call",
            middle(ratios),
            goal=1.1,
            at_most=True,
            note=spread(ratios),
        )
    ]


def _claim_seconds(stage: Stage, queue: Queue, seconds: float) -> float:
    """By one client alone, who waits for nobody."""
    tally = cycles(stage, queue, seconds, connections=1)[1]
    return middle(tally.claim_seconds)
