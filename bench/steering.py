"""People and agents who change a board at a steady pace, in processes of their own."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import cycle
from multiprocessing import get_context
from multiprocessing.pool import Pool
from time import monotonic, sleep
from uuid import UUID

from django.db import connection

from bench.boards import Board
from bench.seeding import World
from boards.models import Card
from boards.verbs.cards import edit_card
from boards.verbs.moving import move_card
from boards.verbs.places import Place
from leases.shapes import Claim
from leases.verbs.claim import claim
from leases.verbs.complete import complete

PROCESSES = 4
# Of the cards that a page has loaded.
SHOWN = 40
_TOP = Place(end="top")
_LOOK_SECONDS = 0.05


@dataclass(frozen=True)
class Change:
    """A card, the version that it got, and when that was there (monotonic seconds)."""

    card: str
    version: int
    at: float


@dataclass(frozen=True)
class Steering:
    """Processes that wait to be told what to change."""

    pool: Pool
    world: World

    async def change(self, board: Board, changes: int, seconds: float) -> list[Change]:
        """So many changes in so many seconds, or in the time that they take."""
        share = changes // PROCESSES
        work = [(self.world, board, one, share, seconds) for one in range(PROCESSES)]
        working = self.pool.starmap_async(_change, work, chunksize=1)
        while not working.ready():
            await asyncio.sleep(_LOOK_SECONDS)
        return [one for made in working.get() for one in made]


@contextmanager
def steering(world: World) -> Iterator[Steering]:
    """Before any loop or thread is started: they are forked."""
    connection.close()
    with get_context("fork").Pool(PROCESSES) as pool:
        yield Steering(pool, world)


def _change(
    world: World, board: Board, number: int, changes: int, seconds: float
) -> list[Change]:
    started, made = monotonic(), []
    for turn, card in zip(range(changes), _changed(world, board, number), strict=False):
        at = monotonic()
        version = Card.objects.values_list("version", flat=True).get(pk=card)
        made.append(Change(str(card), version, at))
        sleep(max(0.0, started + (turn + 1) * seconds / changes - monotonic()))
    return made


def _changed(world: World, board: Board, number: int) -> Iterator[UUID]:
    """By turns an edit, a move to another column's top, a claim and its completion."""
    plain = board.columns[len(board.queues) :]
    queue = board.queues[number % len(board.queues)]
    rows = Card.objects.filter(column_id=plain[number % len(plain)]).in_order()
    cards = list(rows.values_list("pk", flat=True)[:SHOWN])
    for turn, card in enumerate(cycle(cards)):
        yield edit_card(world.owner, card_id=card, title=f"Change {turn}")
        target = plain[(number + turn) % len(plain)]
        yield move_card(world.owner, card_id=card, column_id=target, place=_TOP)
        claimed = claim(world.agent, board_id=board.id, column_id=queue.column_id)
        held = Claim(claimed.lease, claimed.lease_token, claimed.card)
        yield held.card.id
        complete(world.agent, lease_id=held.lease.id, lease_token=held.lease_token)
        yield held.card.id
