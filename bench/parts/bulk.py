"""Retrying thousands of dead letters at once: how long it takes, and what is left of the
claims' rate meanwhile.

The runner is a process of its own that does what the worker does. The same queue is
claimed from before, meanwhile and afterwards, over the same sixteen connections.
"""

from multiprocessing import get_context
from multiprocessing.pool import AsyncResult
from time import perf_counter

from django.db import connection

from bench.processes import own_seconds, processor_seconds
from bench.report import Figure, middle
from bench.seeding import World, a_queue, fill
from bench.sizes import Sizes
from bench.slices import cycles
from bench.stage import Stage
from bench.talks import Queue
from boards.models import Card
from leases.models import Lease
from leases.statements.running import run
from leases.verbs.claim import claim
from leases.verbs.give_back import fail
from leases.verbs.letters import adopt
from supervision.bulk import actions
from supervision.bulk.planning import Selection
from supervision.bulk.rules import Doing
from supervision.bulk.running import run_some
from supervision.letters import LetterFilter
from supervision.models import BulkAction

GOAL_SECONDS, GOAL_SHARE = 60.0, 0.7
# A dead letter's lease, once more for every other one.
_LEASES = """
INSERT INTO leases_lease SELECT (jsonb_populate_record(l, jsonb_build_object(
  'id', uuidv7(), 'card_id', c.id, 'reason', 'Timeout after ' || c.number || ' s'))).*
FROM leases_lease l, boards_card c
WHERE l.id = %(lease)s AND c.column_id = %(column)s AND c.state = 'failed'
  AND c.id <> l.card_id
"""


def measure(stage: Stage, world: World, sizes: Sizes) -> list[Figure]:
    return [_cost(stage, world, sizes), *_beside_claims(stage, world, sizes)]


def _cost(stage: Stage, world: World, sizes: Sizes) -> Figure:
    """By processor time, which tells the same on a busy machine."""
    cards = max(sizes.dead_letters // 10, actions.AT_ONCE + 1)
    queue = a_queue(world, 10)
    _let_fail(world, queue, cards)
    wanted = LetterFilter(column_id=queue.column_id)
    actions.start(world.owner, Doing("retry"), Selection(wanted=wanted))
    began = own_seconds() + processor_seconds(stage.postgres)
    _run()
    spent = own_seconds() + processor_seconds(stage.postgres) - began
    name = "ms of processor time a card, runner and PostgreSQL"
    return Figure("bulk", name, 1000 * spent / cards, note=f"{cards:,} without claims")


def _beside_claims(stage: Stage, world: World, sizes: Sizes) -> list[Figure]:
    queue = a_queue(world, sizes.cards)
    _let_fail(world, queue, sizes.dead_letters)
    rate = sizes.slice_seconds
    cycles(stage, queue, rate)
    alone = [cycles(stage, queue, rate)[0] for _ in range(sizes.rounds)]
    wanted = LetterFilter(column_id=queue.column_id)
    begun = actions.start(world.owner, Doing("retry"), Selection(wanted=wanted))
    assert begun.action
    meanwhile: list[float] = []
    connection.close()
    with get_context("fork").Pool(1) as pool:
        running: AsyncResult[tuple[float, float]] = pool.apply_async(_run)
        while not meanwhile or not running.ready():
            meanwhile.append(cycles(stage, queue, rate / 2)[0])
        took, processor = running.get()
    alone += [cycles(stage, queue, rate)[0] for _ in range(sizes.rounds)]
    ended = BulkAction.objects.get(pk=begun.action.id)
    assert ended.done == sizes.dead_letters, f"{ended.done} of {sizes.dead_letters}"
    # The last slice reaches beyond the end of it.
    share = middle(meanwhile[:-1] or meanwhile) / middle(alone)
    a_card = 1000 * processor / sizes.dead_letters
    many = f"{sizes.dead_letters:,} dead letters"
    return [
        Figure(
            "bulk",
            f"seconds to retry {many}, claims going on",
            took,
            GOAL_SECONDS * sizes.dead_letters / 10_000,
            at_most=True,
            note=f"{a_card:.2f} ms of the runner's processor time a card",
        ),
        Figure(
            "bulk",
            "claims' rate meanwhile : before and after",
            share,
            GOAL_SHARE,
            note=f"{middle(meanwhile):.0f} : {middle(alone):.0f} cycles/s",
        ),
    ]


def _let_fail(world: World, queue: Queue, cards: int) -> None:
    """One by the verbs, the others as copies of it."""
    held = claim(world.agent, board_id=queue.board_id, column_id=queue.column_id)
    lease_id = held.lease.id  # type: ignore[union-attr]
    fail(
        world.agent,
        lease_id=lease_id,
        lease_token=str(held.lease_token),
        reason="Timeout after 1 s",
        requeue=False,
    )
    fill(world, queue, cards - 1, state="'failed'", attempts="1")
    run(_LEASES, {"lease": lease_id, "column": queue.column_id})
    while adopt():
        pass
    failed = Card.objects.filter(column_id=queue.column_id, state="failed")
    assert failed.count() == cards
    assert Lease.objects.filter(card__in=failed).count() == cards
    with connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE boards_card, leases_lease, leases_deadletter")


def _run() -> tuple[float, float]:
    """How long it took, and of it the processor time."""
    began, used = perf_counter(), own_seconds()
    while run_some(GOAL_SECONDS):
        pass
    return perf_counter() - began, own_seconds() - used
