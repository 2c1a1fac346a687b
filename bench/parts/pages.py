"""The board's page: what it asks of the database, how long it takes, how big it is."""

from time import perf_counter

from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from accounts.models import Actor
from bench.boards import Board, a_board, page_request, people
from bench.load import LoadError, Talk, drive
from bench.processes import processor_seconds
from bench.report import Figure, quantile
from bench.seeding import World
from bench.sizes import Sizes
from bench.stage import Stage
from boards import access

SMALL_BOARD = 50
MOST_QUERIES = 25
WARM_UP_PAGES = 5
PAGES = 100
BYTES_PER_MB = 1_000_000


def measure(stage: Stage, world: World, sizes: Sizes) -> list[Figure]:
    big, small = a_board(world, sizes.board_cards), a_board(world, SMALL_BOARD)
    few, many = _queries(world, small), _queries(world, big)
    before = processor_seconds(stage.web)
    size, seconds = _asked(stage, world, big, PAGES)
    busy = (processor_seconds(stage.web) - before) / (PAGES + WARM_UP_PAGES)
    milliseconds = [one * 1000 for one in seconds]
    note = (
        f"p50 {quantile(milliseconds, 0.5):.0f} ms, of which the web process"
        f" works {busy * 1000:.0f}; {PAGES} pages, one connection"
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


def _queries(world: World, board: Board) -> int:
    client = Client(headers={"Host": "127.0.0.1"})
    client.force_login(Actor.objects.get(pk=world.owner.actor_id).user)
    counts = []
    # The first one only warms what is kept between pages.
    for _ in range(2):
        access.forget()
        with CaptureQueriesContext(connection) as captured:
            answer = client.get(f"/boards/{board.id}")
        if answer.status_code != 200:
            raise LoadError(f"The page answered {answer.status_code}.")
        counts.append(len(captured))
    return counts[-1]


def _asked(
    stage: Stage, world: World, board: Board, pages: int
) -> tuple[int, list[float]]:
    """The bytes of the page and the seconds of each."""
    (cookie,) = people(world, 1)
    seconds: list[float] = []
    sizes: list[int] = []

    def talk() -> Talk:
        for _ in range(pages + WARM_UP_PAGES):
            asked = perf_counter()
            status, body = yield page_request(f"/boards/{board.id}", cookie)
            seconds.append(perf_counter() - asked)
            sizes.append(len(body))
            if status != 200:
                raise LoadError(f"The page answered {status}.")

    drive(stage.address, [talk()])
    return max(sizes), seconds[WARM_UP_PAGES:]
