"""Those who look after the fleet: what the roll-up takes from the claims, and their
pages with a month behind them."""

from collections.abc import Iterator
from time import monotonic, process_time, sleep

from django.db import connection
from django.urls import NoReverseMatch, reverse

from bench.asking import WARM_UP_PAGES, asked, statements
from bench.boards import a_board, people
from bench.history import a_history
from bench.load import LoadError
from bench.processes import processor_seconds
from bench.report import Figure, quantile
from bench.seeding import World, a_queue
from bench.sizes import Sizes
from bench.slices import cycles
from bench.stage import Stage
from supervision.verbs.roll_up import roll_up_all

MOST_QUERIES, MOST_MILLISECONDS, MOST_PERCENT = 25, 300, 3
PAGES = 30  # of each, unless fewer are wanted of the board's
PATIENCE_SECONDS = 30
_PAGES = ("needs-you", "queues", "leases", "dead-letters", "agents", "activity")
_QUIET = """SELECT count(*) FROM boards_event
WHERE transaction >= pg_snapshot_xmin(pg_current_snapshot())::text::bigint"""


def measure(stage: Stage, world: World, sizes: Sizes) -> list[Figure]:
    return [_roll_up(stage, world, sizes), *_pages(stage, world, sizes)]


def _roll_up(stage: Stage, world: World, sizes: Sizes) -> Figure:
    """By processor time, which tells the same on a busy machine: of the web server and
    PostgreSQL for cycles, of PostgreSQL and this process to roll those up."""
    queue = a_queue(world, sizes.cards)
    cycles(stage, queue, sizes.slice_seconds)
    _rolled()
    before = processor_seconds(stage.web) + processor_seconds(stage.postgres)
    _, tally = cycles(stage, queue, sizes.rounds * sizes.slice_seconds)
    spent = processor_seconds(stage.web) + processor_seconds(stage.postgres) - before
    began = process_time() + processor_seconds(stage.postgres)
    _rolled()
    rolled = process_time() + processor_seconds(stage.postgres) - began
    return _at_most(
        "% of the cycles' processor time for their roll-up",
        100 * rolled / spent,
        MOST_PERCENT,
        f"{tally.cards:,} cycles, {rolled / tally.cards * 1e6:.0f} µs each",
    )


def _rolled() -> None:
    """All of it, once what is still under way has ended."""
    end = monotonic() + PATIENCE_SECONDS
    while _still_written():
        if monotonic() > end:
            raise LoadError("Something else still writes.")
        sleep(0.05)
    while roll_up_all():
        pass


def _still_written() -> bool:
    with connection.cursor() as cursor:
        cursor.execute(_QUIET)
        return bool(cursor.fetchone()[0])


def _pages(stage: Stage, world: World, sizes: Sizes) -> list[Figure]:
    board = a_board(world, sizes.cards)
    queues = a_history(world, board, sizes.finished_leases)
    (cookie,) = people(world, 1)
    pages = min(PAGES, sizes.pages)
    figures = []
    for name, path in _addresses(world, queues[0]):
        count = statements(world, path)
        before = processor_seconds(stage.web)
        _, seconds = asked(stage, path, cookie, pages)
        busy = (processor_seconds(stage.web) - before) / (pages + WARM_UP_PAGES)
        milliseconds = [one * 1000 for one in seconds]
        note = (
            f"p50 {quantile(milliseconds, 0.5):.0f} ms, of which the web process works"
            f" {busy * 1000:.0f}"
        )
        slow = quantile(milliseconds, 0.95)
        figures += [
            _at_most(f"ms of {name}, p95", slow, MOST_MILLISECONDS, note),
            _at_most(f"queries of {name}", count, MOST_QUERIES),
        ]
    return figures


def _addresses(world: World, queue: object) -> Iterator[tuple[str, str]]:
    for name in _PAGES:
        try:
            yield f"/{name}", reverse(name)
        except NoReverseMatch:
            continue
    yield "/queues/…", reverse("queue", args=[queue])
    yield "/queues/…, 30 days", reverse("queue", args=[queue]) + "?span=30d"
    yield "/agents/…", reverse("agent", args=[world.agent.actor_id])
    yield "/leases, history", reverse("leases") + "?state=ended"


def _at_most(name: str, value: float, goal: float, note: str = "") -> Figure:
    return Figure("supervision", name, value, goal, at_most=True, note=note)
