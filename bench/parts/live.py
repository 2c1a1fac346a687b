"""Two hundred open pages of one big board: are they right, how soon, at what price?"""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from time import monotonic

import psycopg
from django.db import connection

from bench.boards import Board, a_board, people
from bench.pictures import picture_of
from bench.report import Figure, quantile
from bench.seeding import World
from bench.sizes import Sizes
from bench.stage import Stage
from bench.steering import Change, Steering, steering
from bench.viewers import Pages, reconnect
from boards.verbs.columns import edit_column, move_column
from boards.verbs.places import Place
from leases.verbs.set_contract import Terms, set_contract
from novum.running import processes
from novum.running.children import Family

CHANGES = 500
# The goal for a frame's delay is for so many pages, of 200.
PROMPT_SHARE = 4
_NAME = "novum-live"
_COUNT_SECONDS = 0.25


def measure(stage: Stage, world: World, sizes: Sizes) -> list[Figure]:
    board = a_board(world, sizes.board_cards)
    cookies = people(world, sizes.viewers)
    with steering(world) as steerers, _running_live(stage):
        pages = Pages(
            stage.address,
            (stage.settings.local_host, stage.settings.live_port),
            board.id,
        )
        few = cookies[: max(1, sizes.viewers // PROMPT_SHARE)]
        prompt = asyncio.run(_prompt(pages, steerers, board, few, sizes))
        return prompt + asyncio.run(
            _crowded(stage, world, pages, steerers, board, cookies, sizes)
        )


@contextmanager
def _running_live(stage: Stage) -> Iterator[None]:
    """Daphne, whose connections to PostgreSQL bear a name."""
    family, live = Family(), processes.live(stage.settings)
    live.environment = {**live.environment, "PGAPPNAME": _NAME}
    try:
        family.start(live)
        family.wait_until_ready(live)
        yield
    finally:
        family.stop(live)
        family.close()


async def _prompt(
    pages: Pages, steerers: Steering, board: Board, cookies: list[str], sizes: Sizes
) -> list[Figure]:
    async with pages.watched(cookies) as viewers:
        made = await _changed(steerers, board, sizes)
        await asyncio.sleep(sizes.grace_seconds)
        delays = [one for viewer in viewers for one in viewer.delays(made)]
    milliseconds = [one * 1000 for one in delays]
    took = max(one.at for one in made) - min(one.at for one in made)
    name = f"ms from a change to {len(viewers)} pages, p95"
    note = (
        f"p50 {quantile(milliseconds, 0.5):.0f}, slowest {max(milliseconds):.0f} ms,"
        f" {len(made) / took:.0f} changes/s"
    )
    return [_at_most(name, quantile(milliseconds, 0.95), 500, note)]


async def _crowded(
    stage: Stage,
    world: World,
    pages: Pages,
    steerers: Steering,
    board: Board,
    cookies: list[str],
    sizes: Sizes,
) -> list[Figure]:
    async with pages.watched(cookies) as viewers:
        counted = _Counted(stage.database_url)
        counting = asyncio.create_task(counted.go_on())
        dropping = asyncio.create_task(reconnect(viewers))
        made = await _changed(steerers, board, sizes)
        await asyncio.to_thread(_rearrange, world, board)
        last = monotonic()
        await asyncio.sleep(sizes.grace_seconds)
        pictures = [viewer.picture.copy() for viewer in viewers]
        dropping.cancel()
        counting.cancel()
    truth = picture_of(pages.read(cookies[0], "?shown=500"))
    wrong = [found for one in pictures if (found := one.differences(truth))]
    again = sum(viewer.connections for viewer in viewers) - len(viewers)
    read_anew = sum(viewer.resyncs for viewer in viewers)
    took = last - min(one.at for one in made)
    note = (
        f"{len(made) / took:.0f} changes/s, {again} reconnects, {read_anew} read anew"
    )
    name = f"of {len(viewers)} pages wrong {sizes.grace_seconds} s after the last"
    return [
        _at_most(name, len(wrong), 0, note),
        _at_most("database connections of live", counted.most, 20),
    ]


async def _changed(steerers: Steering, board: Board, sizes: Sizes) -> list[Change]:
    changes = min(CHANGES, sizes.board_cards // 4)
    return await steerers.change(board, changes, sizes.change_seconds)


def _rearrange(world: World, board: Board) -> None:
    """A column gets another name and another place, a queue another contract."""
    column, queue = board.columns[-1], board.queues[0].column_id
    edit_column(world.owner, board_id=board.id, column_id=column, name="Renamed")
    move_column(
        world.owner, board_id=board.id, column_id=column, place=Place(end="top")
    )
    terms = Terms(enabled=True, on_success_column_id=board.columns[1], max_attempts=3)
    set_contract(world.owner, board_id=board.id, column_id=queue, terms=terms)
    connection.close()


def _at_most(name: str, value: float, goal: float, note: str = "") -> Figure:
    return Figure("live", name, value, goal, at_most=True, note=note)


@dataclass
class _Counted:
    """The most connections that the live process has held at once."""

    database_url: str
    most: int = 0

    async def go_on(self) -> None:
        connection = await psycopg.AsyncConnection.connect(
            self.database_url, autocommit=True
        )
        async with connection:
            while True:
                row = await connection.execute(
                    "SELECT count(*) FROM pg_stat_activity WHERE application_name = %s",
                    [_NAME],
                )
                found = await row.fetchone()
                self.most = max(self.most, found[0] if found else 0)
                await asyncio.sleep(_COUNT_SECONDS)
