"""Webhooks: how many a worker delivers, what they cost the claims, how late they are
beside broken receivers, and whether the feed tells every event once."""

import multiprocessing
import os
import random
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from uuid import UUID

from django.db import connection, connections, transaction

from bench.load import LoadError
from bench.receivers import Receivers, receivers
from bench.report import Figure, middle, quantile, spread
from bench.seeding import World, a_queue
from bench.sizes import Sizes
from bench.slices import cycles
from bench.stage import Stage
from boards import reads
from boards.models import Column, Event
from boards.verbs.boards import create_board
from boards.verbs.cards import NewCard, create_card, create_cards
from novum.running.children import Child, Family, rotate
from novum.running.processes import log_path
from novum.running.settings import ROOT
from webhooks import conf
from webhooks.models import Delivery
from webhooks.verbs.endpoints import create_endpoint, delete_endpoint, edit_endpoint

HOST = "127.0.0.1"
ENDPOINTS = 5
PATIENCE_SECONDS = 120.0
PACE_SECONDS, PER_SECOND = 10.0, 40
WRITERS = 16
MOST_AT_ONCE = 50
SLOW_SHARE, SLOW_SECONDS = 0.2, 0.05


def measure(stage: Stage, world: World, sizes: Sizes) -> list[Figure]:
    conf.ALLOWED_HOSTS = frozenset({HOST})
    with receivers() as told:
        return [
            *_rate(stage, world, told, sizes.webhook_events),
            _claims(stage, world, told, sizes),
            _lateness(stage, world, told, sizes),
            *_feed(world, sizes.feed_events),
        ]


def _rate(stage: Stage, world: World, told: Receivers, events: int) -> list[Figure]:
    """One worker process, with all of it waiting for it."""
    column = _a_column(world)
    with _listening(world, told, ["/fast/"] * ENDPOINTS):
        for left in range(events, 0, -MOST_AT_ONCE):
            _add(world, column, min(left, MOST_AT_ONCE))
        with _delivering(stage) as worker:
            _wait_for(events * ENDPOINTS)
            spent = _processor_seconds(worker)
        times = sorted(at for _, at, _ in told.told())
    if len(times) != events * ENDPOINTS:
        raise LoadError(f"{len(times)} received, not {events * ENDPOINTS}.")
    rate = (len(times) - 1) / (times[-1] - times[0])
    name = "deliveries/s of a worker process"
    note = f"{len(times):,} to {ENDPOINTS} receivers"
    return [
        Figure("webhooks", name, rate, 300, note=note),
        Figure(
            "webhooks",
            "ms of processor time a delivery in the worker",
            spent / len(times) * 1000,
            note="what the rate would be with a processor of its own",
        ),
    ]


def _processor_seconds(worker: Child) -> float:
    """Its start included (proc(5))."""
    assert worker.process is not None
    text = Path(f"/proc/{worker.process.pid}/stat").read_text()
    fields = text.rpartition(")")[2].split()
    ticks = int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def _claims(stage: Stage, world: World, told: Receivers, sizes: Sizes) -> Figure:
    """The same load with five endpoints that want everything, and without."""
    queue = a_queue(world, sizes.cards)
    cycles(stage, queue, sizes.slice_seconds)
    ratios = []
    fast = ["/fast/"] * ENDPOINTS
    with _listening(world, told, fast) as endpoints, _delivering(stage):
        for _ in range(sizes.rounds):
            _switch(world, endpoints, on=False)
            before = cycles(stage, queue, sizes.slice_seconds)[0]
            _switch(world, endpoints, on=True)
            loaded = cycles(stage, queue, sizes.slice_seconds)[0]
            _switch(world, endpoints, on=False)
            after = cycles(stage, queue, sizes.slice_seconds)[0]
            ratios.append(loaded / ((before + after) / 2))
    told.told()
    name = "cycles/s with 5 endpoints : without"
    return Figure("webhooks", name, middle(ratios), 0.85, note=spread(ratios))


def _lateness(stage: Stage, world: World, told: Receivers, sizes: Sizes) -> Figure:
    """From the event to its receipt, while one endpoint hangs and one answers 500."""
    column = _a_column(world)
    paths = ["/fast/1", "/fast/2", "/fast/3", "/hanging/", "/broken/"]
    seconds = min(PACE_SECONDS, 3.0 * sizes.slice_seconds)
    with _listening(world, told, paths), _delivering(stage):
        # Until the worker is there, and has met the broken ones.
        _add(world, column, 1)
        _wait_for(3)
        told.told()
        began = time.monotonic()
        for number in range(int(seconds * PER_SECOND)):
            time.sleep(max(0.0, began + number / PER_SECOND - time.monotonic()))
            _add(world, column, 1)
        _wait_for(3 * (1 + int(seconds * PER_SECOND)))
        late = [
            at - datetime.fromisoformat(stamp).timestamp()
            for path, at, stamp in told.told()
            if path.startswith("/fast")
        ]
    name = "s from commit to receipt beside broken ones, p95"
    note = f"p50 {quantile(late, 0.5):.2f}, slowest {max(late):.2f} s"
    p95 = quantile(late, 0.95)
    return Figure("webhooks", name, p95, 2.0, at_most=True, note=note)


def _feed(world: World, events: int) -> list[Figure]:
    """A reader goes on from cursor to cursor while sixteen processes write."""
    board, _ = _a_column(world)
    cursor = ""
    before: set[UUID] = set()
    while page := _page(world, board, cursor).items:
        before |= {one.id for one in page}
        cursor = _page(world, board, cursor).cursor
    connections.close_all()
    fork = multiprocessing.get_context("fork")
    each = events // WRITERS
    writers = [
        fork.Process(target=_write, args=(world, board, each)) for _ in range(WRITERS)
    ]
    began = time.monotonic()
    for writer in writers:
        writer.start()
    seen: list[UUID] = []
    while True:
        over = not any(writer.is_alive() for writer in writers)
        page = _page(world, board, cursor)
        seen += [one.id for one in page.items]
        cursor = page.cursor
        if over and not page.items:
            break
    took = time.monotonic() - began
    stored = set(Event.objects.filter(board_id=board).values_list("pk", flat=True))
    missed = len(stored - before - set(seen))
    note = f"of {len(stored):,} by {WRITERS} writers, {len(seen) / took:,.0f} a second"
    return [
        Figure("webhooks", "events that the feed missed", missed, 0, True, note=note),
        Figure(
            "webhooks",
            "events that the feed told twice",
            len(seen) - len(set(seen)),
            0,
            True,
        ),
    ]


def _page(world: World, board: UUID, cursor: str) -> reads.EventPage:
    wanted = reads.EventFilter(board_id=board)
    return reads.events(world.owner, wanted, after=cursor, limit=200)


def _write(world: World, board: UUID, events: int) -> None:
    """Transactions of all sizes, some of which are long in committing: so they end in
    another order than they began."""
    while events > 0:
        number = min(events, random.randint(1, MOST_AT_ONCE))
        rows = [
            Event(
                workspace_id=world.owner.workspace_id,
                type="board.updated",
                actor_id=world.owner.actor_id,
                board_id=board,
            )
            for _ in range(number)
        ]
        with transaction.atomic():
            Event.objects.bulk_create(rows)
            if random.random() < SLOW_SHARE:
                time.sleep(random.uniform(0.0, SLOW_SECONDS))
        events -= number
    connection.close()


def _a_column(world: World) -> tuple[UUID, UUID]:
    board = create_board(world.owner, name="Bench", columns=("Cards",))
    return board, Column.objects.values_list("pk", flat=True).get(board_id=board)


def _add(world: World, column: tuple[UUID, UUID], number: int) -> None:
    board_id, column_id = column
    new = [NewCard(title="Write about it", payload={"n": n}) for n in range(number)]
    if number == 1:
        create_card(world.owner, board_id=board_id, column_id=column_id, card=new[0])
    else:
        create_cards(world.owner, board_id=board_id, column_id=column_id, cards=new)


@contextmanager
def _listening(
    world: World, told: Receivers, paths: Sequence[str]
) -> Iterator[list[UUID]]:
    made = [
        create_endpoint(world.owner, url=told.url(path), types=["*"])[0]
        for path in paths
    ]
    try:
        yield made
    finally:
        for endpoint_id in made:
            delete_endpoint(world.owner, endpoint_id=endpoint_id)


def _switch(world: World, endpoints: Sequence[UUID], *, on: bool) -> None:
    for one in endpoints:
        edit_endpoint(world.owner, endpoint_id=one, changes={"enabled": on})


@contextmanager
def _delivering(stage: Stage) -> Iterator[Child]:
    """One delivery worker, as a process of its own."""
    family = Family()
    child = Child(
        name="deliver",
        command=[sys.executable, "manage.py", "deliver"],
        log=rotate(log_path(stage.settings.data, "deliver")),
        environment={
            "DJANGO_SETTINGS_MODULE": "novum.settings",
            "NOVUM_WEBHOOK_ALLOWED_HOSTS": HOST,
            "NOVUM_WEBHOOK_SCHEDULE": "0,5,300",
            **stage.settings.environment(),
        },
        folder=ROOT,
    )
    try:
        family.start(child)
        yield child
    finally:
        family.stop(child)
        family.close()


def _wait_for(delivered: int) -> None:
    """Raises LoadError when it takes too long."""
    until = time.monotonic() + PATIENCE_SECONDS
    rows = Delivery.objects.filter(state=Delivery.State.DELIVERED)
    while (found := rows.count()) < delivered:
        if time.monotonic() > until:
            raise LoadError(f"Only {found} of {delivered} were delivered.")
        time.sleep(0.2)
