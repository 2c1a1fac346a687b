"""REST claim and complete, everything on, against the floor and against a peer.

On: bearer token, concurrency limit, output schema, an event for each of the two.
"""

from bench.floor import Floor
from bench.peer import Peer
from bench.processes import processor_seconds
from bench.report import Figure, middle, spread
from bench.seeding import World, a_queue
from bench.sizes import Sizes
from bench.slices import cycles
from bench.stage import Stage
from bench.talks import Queue


def measure(stage: Stage, world: World, sizes: Sizes) -> list[Figure]:
    queue = a_queue(world, sizes.cards)
    floor = Floor(stage.database_url, sizes.cards)
    peer = Peer(stage.database_url)
    seconds = sizes.slice_seconds
    cycles(stage, queue, seconds)
    floor.measure(seconds)
    ours, floors, peers = [], [], []
    for _ in range(sizes.rounds):
        before = floor.measure(seconds)
        ours.append(cycles(stage, queue, seconds)[0])
        floors.append((before + floor.measure(seconds)) / 2)
        peers.append(peer.measure(seconds))
    return [
        _compared("REST cycles/s : floor", ours, floors, 0.15, 0.20),
        _compared("REST cycles/s : Procrastinate's no-op jobs/s", ours, peers, 0.7, 1),
        *_costs(stage, queue, seconds),
    ]


def _compared(
    name: str, ours: list[float], others: list[float], goal: float, aim: float
) -> Figure:
    ratios = [one / other for one, other in zip(ours, others, strict=True)]
    note = f"{middle(ours):,.0f} : {middle(others):,.0f} a second, {spread(ratios)}"
    return Figure("cycle", name, middle(ratios), goal, aim=aim, note=note)


def _costs(stage: Stage, queue: Queue, seconds: float) -> list[Figure]:
    """Where the time goes: no goals, but what a change of the code can be held to."""
    sides = {"web": stage.web, "PostgreSQL": stage.postgres}
    before = {name: processor_seconds(child) for name, child in sides.items()}
    cards = cycles(stage, queue, seconds)[1].cards
    return [
        Figure(
            "cycle",
            f"ms of processor time a cycle in {name}",
            (processor_seconds(child) - before[name]) / cards * 1000,
        )
        for name, child in sides.items()
    ]
