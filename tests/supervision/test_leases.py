"""Leases over all boards: found by filter, page by page, and many taken back at once."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils.timezone import now

from accounts.errors import Invalid, NotFound
from accounts.roles import BoardRole, WorkspaceRole
from boards import access
from boards.models import ClockTimestamp
from boards.verbs.boards import edit_board, set_board_member
from boards.verbs.columns import create_column
from leases.models import Lease
from leases.verbs.cancel import request_cancel
from leases.verbs.claim import claim
from leases.verbs.complete import complete
from leases.verbs.give_back import release
from leases.verbs.set_contract import Terms, set_contract
from supervision.holds import history, revoking
from supervision.holds.filtering import LeaseFilter
from supervision.holds.looking import count_active, seen_leases
from supervision.holds.revoking import revoke_many
from supervision.models import Counts, QueueFigures
from supervision.needs import usual
from tests.builders import (
    a_person,
    a_world,
    all_pages,
    an_agent,
    card_row,
    lapse,
    lease_row,
    receipt,
)

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _nothing_remembered():
    usual.forget()
    yield
    usual.forget()


def find(caller, state="active", *, page_size=200, **wanted):
    pages = all_pages(
        seen_leases, caller, state, LeaseFilter(**wanted), page_size=page_size
    )
    return [one.id for one in pages]


def held(world, by=None):
    world.add()
    return world.claim(by)


def move_time(lease_id, **moments):
    at = {name: ClockTimestamp() + timedelta(seconds=s) for name, s in moments.items()}
    Lease.objects.filter(pk=lease_id).update(**at)


def test_active_ones_soonest_to_lapse_first_and_for_ever_at_the_end(world):
    late, soon, person = held(world), held(world), held(world, world.owner)
    move_time(late.lease.id, expires_at=900)
    move_time(soon.lease.id, expires_at=5)
    Lease.objects.filter(pk=person.lease.id).update(expires_at=None)
    order = [soon.lease.id, late.lease.id, person.lease.id]
    assert find(world.owner) == order
    assert find(world.owner, page_size=1) == order
    first = seen_leases(
        world.owner, "active", LeaseFilter(), page_size=1, page_token=""
    ).items[0]
    assert (first.card_title, first.board, first.column) == (
        "Card",
        "Content",
        "Drafting",
    )
    assert first.token.name == "Worker"


def test_what_is_stuck_and_why(world):
    QueueFigures.objects.create(
        column_id=world.queue, span=Counts.Span.HOUR, start=now(), run=[50]
    )
    healthy, lapsed, silent, slow = (held(world) for _ in range(4))
    lapse(lapsed)
    for one in (silent, slow):
        Lease.objects.filter(pk=one.lease.id).update(seconds=1_000)
    move_time(silent.lease.id, expires_at=200, acquired_at=-800, renewed_at=-700)
    move_time(slow.lease.id, expires_at=900, acquired_at=-4_000, renewed_at=-100)
    usual.forget()
    found = {
        one.id: one.stuck
        for one in all_pages(seen_leases, world.owner, "active", LeaseFilter())
    }
    # Whoever is silent has been at it for too long as well.
    assert found == {
        healthy.lease.id: None,
        lapsed.lease.id: "lapsed",
        silent.lease.id: "silent",
        slow.lease.id: "slow",
    }
    expected = {one for one, why in found.items() if why}
    assert set(find(world.owner, "stuck")) == expected
    assert count_active(world.owner, LeaseFilter()) == (4, 3)


def test_each_filter_leaves_what_it_says(world):
    other = an_agent(world.workspace)
    mine, theirs = held(world), held(world, other)
    assert find(world.owner, agent_id=other.actor_id) == [theirs.lease.id]
    assert find(world.owner, token_id=world.worker.token_id) == [mine.lease.id]
    assert find(world.owner, column_id=world.done) == []
    assert len(find(world.owner, board_id=world.board)) == 2
    complete(world.worker, **receipt(mine))
    release(other, **receipt(theirs))
    assert find(world.owner) == []
    assert find(world.owner, "ended") == [theirs.lease.id, mine.lease.id]
    assert find(world.owner, "ended", ended_as="released") == [theirs.lease.id]
    assert find(world.owner, "ended", ended_as="completed") == [mine.lease.id]
    assert find(world.owner, "ended", agent_id=other.actor_id) == [theirs.lease.id]
    stranger = a_world().owner
    assert find(stranger, "ended") == find(stranger) == []
    with pytest.raises(NotFound):
        find(stranger, board_id=world.board)


def test_history_goes_on_past_what_does_not_match(world, monkeypatch):
    """Few of many, on two boards: every match once, in order, however short the walk."""
    monkeypatch.setattr(history, "MOST_WALKED", 1)
    monkeypatch.setattr(history, "MAX_PAGE_SIZE", 3)
    beside = a_world()
    board = beside.board
    edit_board(beside.owner, board_id=board, name="Beside")
    connection.cursor().execute(
        "UPDATE boards_board SET workspace_id = %s WHERE id = %s",
        [world.workspace.pk, board],
    )
    access.forget()
    rare = an_agent(world.workspace)
    ended = []
    for number in range(24):
        by = rare if number % 8 == 0 else world.worker
        one = held(world, by)
        if by is rare:
            ended.append(one.lease.id)
        complete(by, **receipt(one))
    Lease.objects.filter(workspace=world.workspace, pk__in=ended[1:2]).update(
        board_id=board
    )
    assert find(world.owner, "ended", agent_id=rare.actor_id) == ended[::-1]
    assert len(find(world.owner, "ended")) == 24
    assert len(find(world.owner, "ended", page_size=2)) == 24


def test_a_dry_run_says_what_then_happens(world):
    other = an_agent(world.workspace)
    mine = [held(world) for _ in range(3)]
    theirs = held(world, other)
    told = revoke_many(
        world.owner, wanted=LeaseFilter(agent_id=world.worker.actor_id), dry_run=True
    )
    assert (told.matched, told.revoked, told.refused, told.left) == (3, 3, 0, 0)
    assert [(one.handle, one.leases) for one in told.holders] == [
        (world.worker.handle, 3)
    ]
    assert all(lease_row(one.lease.id).state == "active" for one in mine)
    # Claimed after the look: not among those that were agreed to.
    later = held(world)
    done = revoke_many(
        world.owner,
        wanted=LeaseFilter(agent_id=world.worker.actor_id, claimed_before=told.as_of),
        reason="Wrong prompt",
    )
    assert (done.revoked, done.refused, done.left) == (3, 0, 0)
    assert {lease_row(one.lease.id).reason for one in mine} == {"Wrong prompt"}
    assert {card_row(one.card.id).attempts for one in mine} == {0}
    assert lease_row(theirs.lease.id).state == "active"
    assert lease_row(later.lease.id).state == "active"


def test_each_lease_has_its_own_answer(world):
    good, over, called_off = held(world), held(world), held(world)
    release(world.worker, **receipt(over))
    request_cancel(world.owner, card_id=called_off.card.id)
    foreign = held(a_world())
    ids = [one.lease.id for one in (good, over, called_off, foreign)]
    done = revoke_many(world.owner, lease_ids=ids)
    answers = {one.lease_id: one.error and one.error.code for one in done.results}
    assert answers == dict(
        zip(ids, [None, "lease_lost", None, "not_found"], strict=True)
    )
    # What was called off isn't offered again.
    assert card_row(called_off.card.id).state == "failed"
    assert lease_row(foreign.lease.id).state == "active"
    again = revoke_many(world.owner, lease_ids=ids)
    assert again.revoked == 0


def test_only_managers_and_only_what_was_named(world):
    one = held(world)
    people = {}
    for role in BoardRole:
        people[role] = a_person(world.workspace, WorkspaceRole.MEMBER)
        set_board_member(
            world.owner, board_id=world.board, handle=people[role].handle, role=role
        )
    for role in (BoardRole.VIEWER, BoardRole.COMMENTER, BoardRole.EDITOR):
        for how in (
            {"lease_ids": [one.lease.id]},
            {"wanted": LeaseFilter(board_id=world.board)},
        ):
            refused = revoke_many(people[role], **how)
            assert refused.revoked == 0
            assert [each.error.code for each in refused.results] == ["forbidden"]
    assert lease_row(one.lease.id).state == "active"
    with pytest.raises(Invalid):
        revoke_many(world.owner, wanted=LeaseFilter())
    assert (
        revoke_many(people[BoardRole.MANAGER], wanted=LeaseFilter(stuck=True)).matched
        == 0
    )
    assert revoke_many(people[BoardRole.MANAGER], lease_ids=[one.lease.id]).revoked == 1


def test_more_than_a_call_takes_are_left_and_reached(world, monkeypatch):
    monkeypatch.setattr(revoking, "MAX_PER_CALL", 4)
    monkeypatch.setattr(revoking, "CHUNK", 3)
    # A board that the caller doesn't manage comes last, whatever the order.
    manager = a_person(world.workspace, WorkspaceRole.MEMBER)
    set_board_member(
        world.owner,
        board_id=world.board,
        handle=manager.handle,
        role=BoardRole.MANAGER,
    )
    other = a_queue_beside(world)
    world.add_many(9)
    for _ in range(9):
        world.claim()
    wanted = LeaseFilter(agent_id=world.worker.actor_id)
    answers = []
    while not answers or (answers[-1].revoked and answers[-1].left):
        answers.append(revoke_many(manager, wanted=wanted))
    assert [one.revoked for one in answers] == [4, 4, 1]
    assert [one.left for one in answers] == [6, 2, 0]
    assert lease_row(other.lease.id).state == "active"


def a_queue_beside(world):
    """A lease on a board that only the owner manages."""
    from boards.verbs.boards import create_board
    from boards.verbs.cards import NewCard, create_card

    board = create_board(world.owner, name="Beside")
    queue = create_column(world.owner, board_id=board, name="Other work")
    terms = Terms(enabled=True, queue="other-work")
    set_contract(world.owner, board_id=board, column_id=queue, terms=terms)
    create_card(
        world.owner, board_id=board, column_id=queue, card=NewCard(title="Elsewhere")
    )
    return claim(world.worker, board_id=board, column_id=queue)


def test_a_page_costs_the_same_however_many_there_are(world):
    def price():
        usual.forget()
        access.forget()
        with CaptureQueriesContext(connection) as seen:
            for state in ("active", "stuck", "ended"):
                seen_leases(
                    world.owner, state, LeaseFilter(), page_size=100, page_token=""
                )
        return len(seen)

    complete(world.worker, **receipt(held(world)))
    held(world)
    few = price()
    world.add_many(40)
    for _ in range(30):
        world.claim()
    assert price() == few <= 16
