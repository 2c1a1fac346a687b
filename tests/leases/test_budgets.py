"""How many statements each verb of the loop may send (issue 2)."""

from contextlib import contextmanager

import pytest
from django.db import connection

from leases.verbs.claim import claim
from leases.verbs.complete import Result, complete, complete_many
from leases.verbs.give_back import fail, release
from leases.verbs.renew import renew, renew_many
from tests.builders import a_world, receipt


@contextmanager
def at_most(number):
    sent = []

    def count(execute, sql, params, many, context):
        sent.append(sql)
        return execute(sql, params, many, context)

    with connection.execute_wrapper(count):
        yield sent
    assert 1 <= len(sent) <= number, sent


@pytest.fixture
def busy(world):
    """With everything on that costs: a limit, both schemas, a backoff."""
    world.set(
        concurrency_limit=60,
        input_schema={"type": "object"},
        output_schema={"type": "object"},
        backoff_seconds=[1],
    )
    world.add_many(60)
    world.claim()  # judges the cards and warms the cache of roles
    return world


def test_a_claim(busy):
    with at_most(3):
        busy.claim()


def test_a_claim_of_many(busy):
    _write_the_statement(50)
    with at_most(3):
        assert len(busy.ask(count=50).claims) == 50


def test_an_empty_poll(world):
    world.ask()
    with at_most(3):
        assert world.ask().reason == "drained"


def test_an_empty_poll_at_capacity(world):
    world.set(concurrency_limit=1)
    world.add_many(2)
    world.claim()
    with at_most(3):
        assert world.ask().reason == "at_capacity"


def test_an_empty_poll_while_cards_wait(world):
    world.add()
    world.fail_card(retry_after_seconds=60)
    with at_most(3):
        assert world.ask().reason == "waiting"


def test_a_complete(busy):
    held = busy.claim()
    with at_most(3):
        complete(busy.worker, **receipt(held), output={})


def test_a_complete_of_many(busy):
    held = busy.ask(count=50).claims
    with at_most(3):
        results = [Result(**receipt(one), output={}) for one in held]
        complete_many(busy.worker, results=results)


def test_a_complete_that_claims_the_next(busy):
    held = busy.claim()
    with at_most(4):
        complete(busy.worker, **receipt(held), output={}, claim_next=True)


@pytest.mark.parametrize("verb", [fail, release])
def test_a_fail_and_a_release(busy, verb):
    held = busy.claim()
    with at_most(3):
        verb(busy.worker, **receipt(held))


def test_a_renew(busy):
    held = busy.claim()
    with at_most(2):
        renew(busy.worker, **receipt(held))


def test_a_renew_of_many(busy):
    held = busy.ask(count=50).claims
    with at_most(2):
        renew_many(
            busy.worker,
            receipts={one.lease.id: one.lease_token for one in held},
        )


def test_the_number_of_cards_does_not_matter(busy):
    for number in (1, 10, 40):
        _write_the_statement(number)
        with at_most(3):
            claim(busy.worker, board_id=busy.board, column_id=busy.queue, count=number)


def _write_the_statement(count):
    """A process builds the text of a claim once for each count."""
    a_world().ask(count=count)
