"""The floor by itself: what this machine gives at the moment."""

from bench.floor import Floor
from bench.report import Figure, middle, spread
from bench.seeding import World
from bench.sizes import Sizes
from bench.stage import Stage


def measure(stage: Stage, world: World, sizes: Sizes) -> list[Figure]:
    floor = Floor(stage.database_url, sizes.cards)
    rates = [floor.measure(sizes.slice_seconds) for _ in range(sizes.rounds)]
    note = spread(rate / middle(rates) for rate in rates)
    return [
        Figure(
            "floor", "claim + complete by pgbench, a second", middle(rates), note=note
        )
    ]
