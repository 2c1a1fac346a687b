"""REST claim and complete, everything on, against the floor and against a peer.

On: bearer token, concurrency limit, output schema, an event for each of the two.

Beside the rates stands what a cycle takes of the processors' time. On a machine of its
own the two ratios agree. With others at work both are wrong: rates then favour whoever
has more processes in the queue for a processor (us), and the time whoever needs less
of the caches, which the others keep emptying (the floor). The truth lies between.
"""

from bench.floor import Floor
from bench.peer import Peer
from bench.processes import own_seconds, processor_seconds
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
    ours, floors, peers, costs = [], [], [], []
    for _ in range(sizes.rounds):
        before, cheapest = _floor(stage, floor, seconds)
        rate, cost = _cycles(stage, queue, seconds)
        after, cheap = _floor(stage, floor, seconds)
        ours.append(rate)
        floors.append((before + after) / 2)
        costs.append((cost, (cheapest + cheap) / 2))
        peers.append(peer.measure(seconds))
    return [
        _compared("REST cycles/s : floor", ours, floors, 0.15, 0.20),
        _compared("REST cycles/s : Procrastinate's no-op jobs/s", ours, peers, 0.7, 1),
        _by_cost(costs),
        *_sides(stage, queue, seconds),
    ]


def _floor(stage: Stage, floor: Floor, seconds: int) -> tuple[float, float]:
    """Cycles a second, and milliseconds of processor time a cycle, all told."""
    began = _busy(stage)
    rate = floor.measure(seconds)
    return rate, (_busy(stage) - began) / (rate * seconds) * 1000


def _cycles(stage: Stage, queue: Queue, seconds: float) -> tuple[float, float]:
    began = _busy(stage)
    rate, tally = cycles(stage, queue, seconds)
    return rate, (_busy(stage) - began) / tally.cards * 1000


def _busy(stage: Stage) -> float:
    return (
        own_seconds() + processor_seconds(stage.web) + processor_seconds(stage.postgres)
    )


def _compared(
    name: str, ours: list[float], others: list[float], goal: float, aim: float
) -> Figure:
    ratios = [one / other for one, other in zip(ours, others, strict=True)]
    note = f"{middle(ours):,.0f} : {middle(others):,.0f} a second, {spread(ratios)}"
    return Figure("cycle", name, middle(ratios), goal, aim=aim, note=note)


def _by_cost(costs: list[tuple[float, float]]) -> Figure:
    ratios = [floor / ours for ours, floor in costs]
    ours, floors = zip(*costs, strict=True)
    note = f"{middle(floors):.2f} : {middle(ours):.2f} ms, {spread(ratios)}"
    name = "processor time, a cycle of the floor : by REST"
    return Figure("cycle", name, middle(ratios), note=note)


def _sides(stage: Stage, queue: Queue, seconds: float) -> list[Figure]:
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
