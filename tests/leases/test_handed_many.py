"""Many results at once that come back to the process that gave the cards out."""

import pytest

from accounts.roles import BoardRole
from boards.verbs.boards import set_board_member
from leases.models import Lease
from leases.verbs.cancel import request_cancel
from leases.verbs.complete import Result, complete, complete_many
from leases.verbs.renew import renew
from tests.builders import card_row, event_types, lapse, lease_row, receipt
from tests.leases.test_budgets import at_most

SCHEMA = {"type": "object", "required": ["text"]}
GOOD = {"text": "Done."}


@pytest.fixture
def held(world):
    """Four, given out by a process that knows the column's terms from a card before."""
    world.set(output_schema=SCHEMA, concurrency_limit=4)
    world.add_many(5)
    complete(world.worker, **receipt(world.claim()), output=GOOD)
    return world.ask(count=4).claims


def results(held, **changed):
    return [Result(**{**receipt(one), "output": GOOD, **changed}) for one in held]


def codes(world, given):
    answers = complete_many(world.worker, results=given).results
    assert [one.lease_id for one in answers] == [one.lease_id for one in given]
    for one in answers:
        assert (one.ended is None) != (one.error is None)
    return [one.error.code if one.error else "" for one in answers]


def test_they_take_one_statement(world, held):
    with at_most(1):
        assert codes(world, results(held)) == [""] * 4
    for one in held:
        assert card_row(one.card.id).output == GOOD
        assert event_types(one.card.id)[2:] == ["card.lease.completed"]
    world.add_many(4)
    assert len(world.ask(count=4).claims) == 4


def test_each_gets_what_was_brought_for_it(world, held):
    given = [
        Result(**receipt(one), output={"text": str(i)}, properties={"n": i})
        for i, one in reversed([*enumerate(held)])
    ]
    with at_most(1):
        complete_many(world.worker, results=given)
    rows = [card_row(one.card.id) for one in held]
    assert [row.output["text"] for row in rows] == ["0", "1", "2", "3"]
    assert [row.properties["n"] for row in rows] == [0, 1, 2, 3]


def test_repeated_they_are_the_first_results(world, held):
    complete_many(world.worker, results=results(held))
    again = complete_many(world.worker, results=results(held, output={"text": "No."}))
    assert all(one.ended.replayed for one in again.results)
    assert card_row(held[0].card.id).output == GOOD


def test_what_was_lost_meanwhile_keeps_no_other_back(world, held):
    lapse(held[1])
    request_cancel(world.owner, card_id=held[2].card.id)
    renew(world.worker, **receipt(held[2]))
    assert codes(world, results(held)) == ["", "lease_lost", "lease_lost", ""]
    assert lease_row(held[3].lease.id).state == Lease.State.COMPLETED


def test_a_result_that_does_not_fit_keeps_no_other_back(world, held):
    given = [*results(held[:1], output={}), *results(held[1:])]
    assert codes(world, given) == ["output_rejected", "", "", ""]
    assert lease_row(held[0].lease.id).state == Lease.State.ACTIVE


def test_a_wrong_receipt_keeps_no_other_back(world, held):
    given = [
        *results(held[:1], lease_token=held[1].lease_token),
        *results(held[1:]),
    ]
    assert codes(world, given) == ["lease_lost", "", "", ""]


def test_a_schema_that_changed_meanwhile_is_the_one_that_counts(world, held):
    world.set(output_schema={"type": "object", "required": ["words"]})
    assert codes(world, results(held)) == ["output_rejected"] * 4
    assert codes(world, results(held, output={"words": 2})) == [""] * 4


def test_for_one_who_may_not_work_here_any_more(world, held):
    set_board_member(
        world.owner,
        board_id=world.board,
        handle=world.worker.handle,
        role=BoardRole.COMMENTER,
    )
    assert codes(world, results(held)) == ["forbidden"] * 4
