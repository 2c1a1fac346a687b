"""The board's page: what it asks of the database, how long it takes, how big it is."""

from bench.asking import WARM_UP_PAGES, asked, statements
from bench.boards import a_board, people
from bench.processes import processor_seconds
from bench.report import Figure, quantile
from bench.seeding import World
from bench.sizes import Sizes
from bench.stage import Stage

SMALL_BOARD = 50
MOST_QUERIES = 25
BYTES_PER_MB = 1_000_000


def measure(stage: Stage, world: World, sizes: Sizes) -> list[Figure]:
    big, small = a_board(world, sizes.board_cards), a_board(world, SMALL_BOARD)
    path = f"/boards/{big.id}"
    few, many = statements(world, f"/boards/{small.id}"), statements(world, path)
    (cookie,) = people(world, 1)
    before = processor_seconds(stage.web)
    size, seconds = asked(stage, path, cookie, sizes.pages)
    busy = (processor_seconds(stage.web) - before) / (sizes.pages + WARM_UP_PAGES)
    milliseconds = [one * 1000 for one in seconds]
    note = (
        f"p50 {quantile(milliseconds, 0.5):.0f} ms, of which the web process"
        f" works {busy * 1000:.0f}; {sizes.pages} pages, one connection"
    )
    cards = f"{sizes.board_cards:,} cards"
    return [
        _at_most(f"queries of the page, {cards}", many, MOST_QUERIES),
        _at_most(f"queries more than with {SMALL_BOARD}", many - few, 0),
        _at_most("ms of a page, p95", quantile(milliseconds, 0.95), 300, note),
        _at_most("MB of the first page", size / BYTES_PER_MB, 1),
    ]


def _at_most(name: str, value: float, goal: float, note: str = "") -> Figure:
    return Figure("pages", name, value, goal, at_most=True, note=note)
