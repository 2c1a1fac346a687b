"""Does a claim get slower with what lies in the queue?

One connection talks to two queues by turns, a cycle each, so that both meet the same
machine; medians (and the slowest of a hundred) of the claims alone are compared.
"""

from time import perf_counter

from django.db import connection

from bench.load import Talk, drive
from bench.report import Figure, quantile
from bench.seeding import INPUT_SCHEMA, LIMIT, World, a_queue, add, fill, vacuum
from bench.sizes import Sizes
from bench.stage import Stage
from bench.talks import Queue, Tally, one_by_one
from boards.models import Card
from leases.verbs.claim import claim
from leases.verbs.judge import judge

SHALLOW_CARDS = 1_000
BEHIND_CARDS = 10_000
MOST_IN_A_CALL = 50


def measure(stage: Stage, world: World, sizes: Sizes) -> list[Figure]:
    seconds = sizes.slice_seconds * sizes.rounds
    shallow = a_queue(world, SHALLOW_CARDS)
    deep = a_queue(world, sizes.deep_cards)
    names = f"{sizes.deep_cards:,} cards : {SHALLOW_CARDS:,}"
    figures = _compared(stage, deep, shallow, seconds, names)
    leased = sizes.cards_in_front // 10
    limit = max(2 * leased, LIMIT)
    terms = {"input_schema": INPUT_SCHEMA, "leaves": True, "concurrency_limit": limit}
    cards = min(BEHIND_CARDS, sizes.deep_cards)
    plain = a_queue(world, cards, **terms)
    behind = a_queue(world, cards, **terms)
    _put_in_front(world, behind, sizes.cards_in_front)
    names = f"behind {2.2 * sizes.cards_in_front:,.0f} nobody may have : none"
    return figures + _compared(stage, behind, plain, seconds, names)


def _put_in_front(world: World, queue: Queue, cards: int) -> None:
    """So many waiting and assigned to somebody else, a tenth misfits and leased."""
    few = cards // 10
    later = {"priority": "1", "available_at": "now() + interval '1 day'"}
    add(world, queue, cards, **later)
    add(world, queue, cards, priority="1", assignee_id=f"'{world.other}'")
    add(world, queue, few, priority="1", fits="NULL", payload="'{}'")
    vacuum()
    while judge(queue.column_id):
        pass
    fill(world, queue, few, priority="1")
    _lease(world, queue, few)
    with connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE boards_card, leases_lease, leases_slot")


def _lease(world: World, queue: Queue, cards: int) -> None:
    """The first so many, for a day."""
    for left in range(cards, 0, -MOST_IN_A_CALL):
        claim(
            world.agent,
            board_id=queue.board_id,
            column_id=queue.column_id,
            count=min(left, MOST_IN_A_CALL),
            lease_ttl_seconds=86_400,
        )
    held = Card.objects.filter(column_id=queue.column_id, state=Card.State.CLAIMED)
    assert held.filter(priority=1).count() == cards


def _compared(
    stage: Stage, first: Queue, second: Queue, seconds: float, names: str
) -> list[Figure]:
    _by_turns(stage, first, second, seconds / 5)  # what is first done costs more
    one, other = _by_turns(stage, first, second, seconds)
    figures = []
    for share, goal, name in ((0.5, 1.15, "p50"), (0.99, 1.5, "p99")):
        a, b = quantile(one, share), quantile(other, share)
        note = f"{a * 1000:.2f} : {b * 1000:.2f} ms, {len(one)} claims each"
        figures.append(
            Figure("depth", f"{name}, {names}", a / b, goal, at_most=True, note=note)
        )
    return figures


def _by_turns(
    stage: Stage, first: Queue, second: Queue, seconds: float
) -> tuple[list[float], list[float]]:
    """The seconds that claims took from each of the two."""
    tallies = Tally(), Tally()
    started = perf_counter()

    def talk() -> Talk:
        while perf_counter() - started < seconds:
            # Whoever comes first finds colder caches: take turns at that, too.
            for turn in (0, 1, 1, 0):
                queue, tally = (first, second)[turn], tallies[turn]
                yield from one_by_one(queue, tally, iter((True, False)).__next__)

    drive(stage.address, [talk()])
    return tallies[0].claim_seconds, tallies[1].claim_seconds
