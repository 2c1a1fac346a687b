"""The concurrency limit: what it costs, and that sixteen processes never pass it."""

from multiprocessing import get_context
from time import perf_counter, sleep

from django.db import connection

from bench.report import Figure, middle, spread
from bench.seeding import World, a_queue
from bench.sizes import Sizes
from bench.slices import cycles
from bench.stage import Stage
from bench.talks import Queue
from leases.models import Lease
from leases.shapes import LeaseShape
from leases.verbs.claim import claim
from leases.verbs.complete import complete

TIGHT_LIMIT = 5
PROCESSES = 16
# Long enough that the others keep meeting a full queue.
HELD_SECONDS = 0.002
LOOK_EVERY_SECONDS = 0.005


def measure(stage: Stage, world: World, sizes: Sizes) -> list[Figure]:
    return [_cost(stage, world, sizes), *_exactness(world, sizes)]


def _cost(stage: Stage, world: World, sizes: Sizes) -> Figure:
    limited = a_queue(world, sizes.cards)
    free = a_queue(world, sizes.cards, concurrency_limit=None)
    seconds = sizes.slice_seconds
    for queue in (limited, free):
        cycles(stage, queue, seconds / 2)
    ratios = []
    for number in range(sizes.rounds):
        pair = [limited, free]
        rates = {
            queue: cycles(stage, queue, seconds)[0]
            for queue in (pair if number % 2 else reversed(pair))
        }
        ratios.append(rates[limited] / rates[free])
    return Figure(
        "limit",
        "cycles/s with a limit : without",
        middle(ratios),
        0.9,
        note=spread(ratios),
    )


def _exactness(world: World, sizes: Sizes) -> list[Figure]:
    """Processes that call the verbs themselves: closer together than by REST."""
    queue = a_queue(world, 1_000, concurrency_limit=TIGHT_LIMIT)
    active = Lease.objects.filter(column_id=queue.column_id, state=Lease.State.ACTIVE)
    work = [(world, queue, 2.0 * sizes.slice_seconds)] * PROCESSES
    seen = []
    connection.close()
    with get_context("fork").Pool(PROCESSES) as pool:
        working = pool.starmap_async(_work, work, chunksize=1)
        while not working.ready():
            seen.append(active.count())
            sleep(LOOK_EVERY_SECONDS)
        held = [one for times in working.get() for one in times]
    note = f"{len(seen)} looks at {len(held)} leases of {PROCESSES} processes"
    return [
        _at_once("seen in the table", max(seen), note),
        _at_once("by their holders' clocks", _most_together(held)),
    ]


def _at_once(how: str, most: int, note: str = "") -> Figure:
    name = f"leases at once of {TIGHT_LIMIT}, {how}"
    return Figure("limit", name, most, TIGHT_LIMIT, at_most=True, note=note)


def _work(world: World, queue: Queue, seconds: float) -> list[tuple[float, float]]:
    """From when to when each lease was surely held: claimed before, completed after."""
    held = []
    ends = perf_counter() + seconds
    while perf_counter() < ends:
        claimed = claim(world.agent, board_id=queue.board_id, column_id=queue.column_id)
        if isinstance(claimed.lease, LeaseShape):
            begun = perf_counter()
            sleep(HELD_SECONDS)
            held.append((begun, perf_counter()))
            complete(
                world.agent,
                lease_id=claimed.lease.id,
                lease_token=str(claimed.lease_token),
                output={"ok": True},
            )
    return held


def _most_together(held: list[tuple[float, float]]) -> int:
    changes = [(begins, 1) for begins, _ in held] + [(ends, -1) for _, ends in held]
    at_once = most = 0
    for _, change in sorted(changes):
        at_once += change
        most = max(most, at_once)
    return most
