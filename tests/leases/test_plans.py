"""The statements of the loop find their rows by the right index, whatever PostgreSQL
believes about the tables (issue 2: no sequential scan, few pages, stale statistics).
"""

from contextlib import contextmanager

import pytest
from django.db import connection

from boards.models import Card
from leases.statements import giving_back
from leases.verbs.complete import Result, complete, complete_many
from leases.verbs.give_back import fail, release
from leases.verbs.renew import renew
from tests.builders import a_world, lapse, receipt
from tests.connections import held_open
from tests.leases.big_queue import fill
from tests.leases.plans import BIG, explained

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.timeout(240)]
TABLES = (*BIG, "leases_slot")
# Of one statement, changes included: a claim writes to 4 tables with 20 indexes.
PAGES = 150
# Of one step of a plan, for at most ten cards.
ROWS = 25


def sql(text):
    with connection.cursor() as cursor:
        cursor.execute(text)


@contextmanager
def left_alone():
    """No autovacuum comes to the rescue; what was known about the tables is forgotten."""
    for table in TABLES:
        sql(f"ALTER TABLE {table} SET (autovacuum_enabled = off)")
        sql(f"DELETE FROM pg_statistic WHERE starelid = '{table}'::regclass")
    try:
        yield
    finally:
        for table in TABLES:
            sql(f"ALTER TABLE {table} RESET (autovacuum_enabled)")
        sql("RESET plan_cache_mode")


def work(world, plans=None):
    """Every statement of the loop, once; by its name what was run."""
    ran = {}

    def note(name, call):
        with explained() as statements:
            result = call()
        ran[name] = [one for one in statements if "boards_card" in one.text]
        return result

    held = note("claim", world.claim)
    note("renew", lambda: renew(world.worker, **receipt(held)))
    note("complete", lambda: complete(world.worker, **receipt(held)))
    held = note("claim again", world.claim)
    note("fail", lambda: fail(world.worker, **receipt(held), retry_after_seconds=999))
    held = note("third claim", world.claim)
    note("release", lambda: release(world.worker, **receipt(held)))
    lapse(world.claim())
    note("expire", lambda: giving_back.expire(world.queue, 100))
    held = note("claim of ten", lambda: world.ask(count=10)).claims
    for one in held:
        complete(world.worker, **receipt(one))
    return ran


def assert_lean(ran):
    trouble = [one for name in ran for one in fat(name, ran[name])]
    assert not trouble, "\n".join(map(str, trouble))


def fat(name, statements):
    """What was read that needn't have been."""
    assert statements, name
    limit = PAGES * (10 if name == "claim of ten" else 1)
    for statement in statements:
        for node in statement.on(*BIG):
            if node.kind == "Seq Scan" or node.rows_looked_at > ROWS:
                yield name, node.kind, node.table, node.index, node.rows_looked_at
        if statement.top.pages > limit:
            yield name, "pages", statement.top.pages


def assert_only_taken_rows_are_locked(world):
    """Elsewhere one claim changed 49 rows under a nested loop (reliability, section 2)."""
    for count in (1, 7):
        with held_open(lambda count=count: world.ask(count=count).claims) as claim:
            taken = {one.card.id for one in claim.result}
            assert len(taken) == count
            assert locked("boards_card", "id", claim.pid) == taken
            assert len(locked("leases_slot", "number", claim.pid)) == count


def locked(table, key, pid):
    """All that an open transaction has locked or changed there, in itself or in a part of
    it (a savepoint): a row says by `xmax` who did, and a million are read in less time
    than it takes to try to lock them. Nobody else is at work meanwhile."""
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT {key} FROM {table} WHERE xmax::text <> '0' AND age(xmax) <="
            " (SELECT age(backend_xid) FROM pg_stat_activity WHERE pid = %s)",
            [pid],
        )
        return {found for (found,) in cursor}


@pytest.mark.parametrize(
    "known", ["nothing", "empty tables", "tiny tables", "the truth"]
)
def test_whatever_is_known_about_the_tables_no_statement_reads_more_than_it_must(known):
    with left_alone():
        world = a_world(concurrency_limit=50)
        if known == "tiny tables":
            world.add_many(20)
        if known in ("empty tables", "tiny tables"):
            sql("VACUUM ANALYZE " + ", ".join(TABLES))
        # Plans made now are kept: PostgreSQL makes a generic one once.
        sql("SET plan_cache_mode = force_generic_plan")
        world.add_many(20)
        work(world)
        fill(world, 60_000)
        if known == "the truth":
            sql("ANALYZE " + ", ".join(TABLES))
        assert_lean(work(world))
        sql("SET plan_cache_mode = force_custom_plan")
        assert_lean(work(world))
        assert_only_taken_rows_are_locked(world)


def test_among_a_million_cards_a_claim_picks_and_locks_its_card_on_eight_pages():
    """The pick alone: what the whole claim may read, changes included, is PAGES."""
    with left_alone():
        world = a_world(concurrency_limit=50)
        fill(world, 1_000_000, in_the_way=False)
        for mode in ("force_generic_plan", "force_custom_plan"):
            sql(f"SET plan_cache_mode = {mode}")
            with explained() as statements:
                held = world.claim()
            (claim,) = [one for one in statements if "WITH asked" in one.text]
            picked = [n for n in claim.named("picked").below() if n.kind == "LockRows"]
            assert sum(node.pages for node in picked) <= 8
            assert {n.index for n in claim.named("picked").below() if n.index} == {
                "card_claimable"
            }
            assert claim.top.pages <= PAGES
            complete(world.worker, **receipt(held))
            assert_only_taken_rows_are_locked(world)
        assert_lean(work(world))
        assert Card.objects.filter(column_id=world.queue).count() > 999_000


@pytest.mark.parametrize("mode", ["force_generic_plan", "force_custom_plan"])
def test_however_high_the_limit_a_claim_looks_at_a_few_places(mode):
    world = a_world(concurrency_limit=3_000)
    world.add_many(3)
    sql("ANALYZE leases_slot")
    sql(f"SET plan_cache_mode = {mode}")
    try:
        with explained() as statements:
            world.claim()
    finally:
        sql("RESET plan_cache_mode")
    (claim,) = [one for one in statements if "WITH asked" in one.text]
    looked_at = [node.rows_looked_at for node in claim.on("leases_slot")]
    assert looked_at
    assert max(looked_at) <= ROWS


@pytest.mark.parametrize("known", ["nothing", "how many there are", "the truth"])
def test_ten_at_once_are_compared_with_each_other_at_most(known):
    """Not each of them with every place of the column: 1,600 times, after a VACUUM."""
    with left_alone():
        world = a_world(concurrency_limit=160)
        world.add_many(50)
        if known != "nothing":
            command = "VACUUM" if known == "how many there are" else "VACUUM ANALYZE"
            sql(f"{command} " + ", ".join(TABLES))
        for mode in ("force_generic_plan", "force_custom_plan"):
            sql(f"SET plan_cache_mode = {mode}")
            # Of the first ten nothing is known here but that they were given out.
            for _ in range(2):
                with explained() as statements:
                    held = world.ask(count=10).claims
                    results = [Result(**receipt(one), output={}) for one in held]
                    assert (
                        len(complete_many(world.worker, results=results).results) == 10
                    )
                steps = [node for one in statements for node in one.top.below()]
                assert len(statements) > 1
                assert max(node.rows_looked_at for node in steps) <= 10 * 10
