"""A result that comes back to the process that gave the card out takes one statement,
and is told everything that a look would have told."""

import pytest

from accounts.errors import Forbidden, NotFound
from accounts.roles import BoardRole
from boards.verbs.boards import set_board_member
from leases import handed
from leases.errors import LeaseLost, OutputRejected
from leases.verbs.cancel import request_cancel
from leases.verbs.complete import complete
from leases.verbs.give_back import fail
from leases.verbs.renew import renew
from tests.builders import a_world, card_row, lapse, receipt
from tests.leases.test_budgets import at_most

SCHEMA = {"type": "object", "required": ["text"]}
GOOD = {"text": "Done."}


@pytest.fixture
def held(world):
    """Given out by a process that knows the column's terms from the card before."""
    world.set(output_schema=SCHEMA)
    world.add_many(3)
    complete(world.worker, **receipt(world.claim()), output=GOOD)
    return world.claim()


def done(world, held, output=GOOD):
    return complete(world.worker, **receipt(held), output=output)


def test_it_takes_one_statement(world, held):
    with at_most(1):
        ended = done(world, held)
    assert (ended.lease.state, ended.card.column_id) == ("completed", world.done)
    assert card_row(held.card.id).output == GOOD


def test_repeated_it_is_the_first_result(world, held):
    first = done(world, held)
    again = done(world, held, {"text": "Another."})
    assert again.replayed
    assert again.lease.ended_at == first.lease.ended_at
    assert card_row(held.card.id).output == GOOD


def test_a_schema_that_changed_meanwhile_is_the_one_that_counts(world, held):
    world.set(output_schema={"type": "object", "required": ["words"]})
    with pytest.raises(OutputRejected):
        done(world, held)
    assert done(world, held, {"words": 2}).lease.state == "completed"


def test_a_schema_that_was_taken_away_refuses_nothing(world, held):
    world.set(output_schema=None)
    assert done(world, held, {}).lease.state == "completed"


def test_a_result_that_does_not_fit_is_told_why_and_keeps_the_lease(world, held):
    with pytest.raises(OutputRejected) as refused:
        done(world, held, {})
    assert [error.code for error in refused.value.errors] == ["required"]
    assert done(world, held).lease.state == "completed"


def test_a_success_column_that_changed_meanwhile(world, held):
    elsewhere = world.column("Elsewhere")
    world.set(on_success_column_id=elsewhere)
    assert done(world, held).card.column_id == elsewhere


def test_who_was_told_to_stop_has_lost_it(world, held):
    request_cancel(world.owner, card_id=held.card.id)
    renew(world.worker, **receipt(held))
    with pytest.raises(LeaseLost):
        done(world, held)
    assert card_row(held.card.id).state == "failed"


def test_who_was_not_told_yet_may_still_bring_it(world, held):
    request_cancel(world.owner, card_id=held.card.id)
    assert done(world, held).lease.state == "completed"


def test_after_the_lease_ran_out(world, held):
    lapse(held)
    with pytest.raises(LeaseLost):
        done(world, held)


def test_after_another_end(world, held):
    fail(world.worker, **receipt(held))
    with pytest.raises(LeaseLost):
        done(world, held)


def test_with_the_receipt_of_another_lease(world, held):
    wrong = {**receipt(held), "lease_token": world.claim().lease_token}
    with pytest.raises(LeaseLost):
        complete(world.worker, **wrong, output=GOOD)
    assert card_row(held.card.id).state == "claimed"


def test_in_another_workspace(world, held):
    with pytest.raises(NotFound):
        complete(a_world().worker, **receipt(held), output=GOOD)


def test_for_one_who_may_not_work_here_any_more(world, held):
    set_board_member(
        world.owner,
        board_id=world.board,
        handle=world.worker.handle,
        role=BoardRole.COMMENTER,
    )
    with pytest.raises(Forbidden):
        done(world, held)


def test_what_is_remembered_has_a_limit(world, held, monkeypatch):
    monkeypatch.setattr(handed, "MOST_KEPT", 1)
    assert world.claim()
    assert handed.find(held.lease.id) is None
    assert done(world, held).lease.state == "completed"
