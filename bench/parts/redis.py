"""Cycles with Redis gone against cycles with it: every verb must be as fast.

Web servers on the same database, one with the Redis of the stage, one that is told of an
address that takes connections and never answers, one of an address that refuses them;
nothing else of the product runs, so Celery is gone for all of them. They take turns.
"""

import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace

from bench.report import Figure, middle, spread
from bench.seeding import World, a_queue
from bench.sizes import Sizes
from bench.slices import cycles
from bench.stage import Stage, free_port
from novum.running import processes
from novum.running.children import Family

GOAL = 0.9


def measure(stage: Stage, world: World, sizes: Sizes) -> list[Figure]:
    queue = a_queue(world, sizes.cards)
    seconds = sizes.slice_seconds
    with ExitStack() as stack:
        silent = stack.enter_context(_silent())
        stages = {
            "with": stage,
            "silent": stack.enter_context(_served(stage, silent)),
            "refusing": stack.enter_context(_served(stage, _closed())),
        }
        for one in stages.values():
            cycles(one, queue, seconds)
        rates: dict[str, list[float]] = {name: [] for name in stages}
        for number in range(sizes.rounds):
            for name in list(stages)[:: -1 if number % 2 else 1]:
                rates[name].append(cycles(stages[name], queue, seconds)[0])
    return [_figure(how, rates[how], rates["with"]) for how in ("silent", "refusing")]


def _figure(how: str, gone: list[float], there: list[float]) -> Figure:
    ratios = [one / other for one, other in zip(gone, there, strict=True)]
    return Figure(
        "redis",
        f"cycles/s with Redis {how} : with Redis",
        middle(ratios),
        GOAL,
        note=f"{middle(gone):,.0f} : {middle(there):,.0f} a second, {spread(ratios)}",
    )


@contextmanager
def _served(stage: Stage, redis_url: str) -> Iterator[Stage]:
    """The same stage by a web server of its own that looks for Redis there."""
    settings = replace(stage.settings, port=free_port(), redis_url=redis_url)
    web = processes.web(settings)
    web.environment = {**web.environment, "REDIS_URL": redis_url}
    family = Family()
    try:
        family.start(web)
        family.wait_until_ready(web)
        yield replace(stage, settings=settings, web=web)
    finally:
        family.stop(web)
        family.close()


@contextmanager
def _silent() -> Iterator[str]:
    with socket.create_server(("127.0.0.1", 0), backlog=1000) as listener:
        yield f"redis://127.0.0.1:{listener.getsockname()[1]}/0"


def _closed() -> str:
    """Where somebody listened a moment ago and nobody does now."""
    with _silent() as url:
        return url
