"""Leases and contracts, for those who may see the board."""

from uuid import uuid4

import pytest

from accounts.errors import NotFound
from boards.verbs.boards import edit_board
from leases.reads import contract, held_by_caller, lease, leases
from leases.verbs.complete import complete
from leases.verbs.give_back import fail
from leases.verbs.tidy import tidy
from tests.builders import a_world, all_pages, an_agent, lapse, receipt

PAGE = {"page_size": 50, "page_token": ""}


@pytest.fixture
def history(world):
    """One lease of each kind: running, lapsed, expired, completed, failed."""
    world.add_many(5)
    running, lapsed, expired, completed, failed = world.ask(count=5).claims
    lapse(expired)
    tidy(world.queue)
    lapse(lapsed)
    complete(world.worker, **receipt(completed))
    fail(world.worker, **receipt(failed))
    return {
        "running": running.lease.id,
        "lapsed": lapsed.lease.id,
        "expired": expired.lease.id,
        "completed": completed.lease.id,
        "failed": failed.lease.id,
    }


@pytest.mark.parametrize(
    ("state", "names"),
    [
        ("active", {"running", "lapsed"}),
        ("expired", {"lapsed", "expired"}),
        ("all", {"running", "lapsed", "expired", "completed", "failed"}),
    ],
)
def test_leases_of_a_board_by_state(world, history, state, names):
    found = leases(world.owner, board_id=world.board, state=state, **PAGE).items
    assert {one.id for one in found} == {history[name] for name in names}
    assert all(one.holder.handle == world.worker.handle for one in found)


def test_leases_by_column_and_by_card(world, history):
    everything = {"board_id": world.board, "state": "all", **PAGE}
    assert not leases(world.owner, column_id=world.done, **everything).items
    assert len(leases(world.owner, column_id=world.queue, **everything).items) == 5
    one = lease(world.owner, lease_id=history["failed"])
    found = leases(world.owner, card_id=one.card_id, **everything).items
    assert found == [one]


def test_the_latest_comes_first_page_by_page(world):
    world.add_many(7)
    made = [one.lease.id for one in world.ask(count=7).claims]
    found = all_pages(leases, world.owner, board_id=world.board, page_size=3)
    assert [one.id for one in found] == sorted(made, reverse=True)


def test_what_a_seat_holds_is_what_all_its_workers_hold(world, history):
    found = held_by_caller(world.worker, **PAGE).items
    assert {one.id for one in found} == {history["running"], history["lapsed"]}
    assert held_by_caller(world.owner, **PAGE).items == []


def test_strangers_see_nothing(world, history):
    stranger = a_world().owner
    with pytest.raises(NotFound):
        lease(stranger, lease_id=history["running"])
    with pytest.raises(NotFound):
        leases(stranger, board_id=world.board, **PAGE)
    with pytest.raises(NotFound):
        contract(stranger, board_id=world.board, column_id=world.queue)
    with pytest.raises(NotFound):
        lease(world.owner, lease_id=uuid4())


def test_who_is_not_on_a_private_board_sees_nothing_of_it(world, history):
    outsider = an_agent(world.workspace)
    assert lease(outsider, lease_id=history["running"])
    edit_board(world.owner, board_id=world.board, default_role=None)
    with pytest.raises(NotFound):
        lease(outsider, lease_id=history["running"])


def test_a_contract_belongs_to_its_board(world):
    other = a_world()
    with pytest.raises(NotFound):
        contract(world.owner, board_id=world.board, column_id=other.queue)
