"""What agents hold and did, by seat and by token, from real leases and roll-ups."""

from time import monotonic, sleep

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts.credentials import caller_of_token
from accounts.models import Actor
from accounts.roles import BoardRole, WorkspaceRole
from boards import access
from boards.models import Event, Snapshot
from boards.verbs.boards import edit_board, set_board_member
from leases.models import Lease
from leases.verbs.activity import set_lease_activity
from leases.verbs.complete import complete
from leases.verbs.give_back import fail
from leases.verbs.reap import reap
from supervision.agents.figures import agent_detail, agent_figures
from supervision.verbs.roll_up import roll_up_all
from tests.builders import a_person, a_token, an_agent, lapse, receipt

pytestmark = pytest.mark.django_db
PATIENCE_SECONDS = 60


@pytest.fixture
def second(world):
    """Another worker of the same seat."""
    seat = Actor.objects.get(pk=world.worker.actor_id)
    return caller_of_token(a_token(seat)[0])


def roll_up_now():
    """Once every older transaction has ended, wherever it runs."""
    end = monotonic() + PATIENCE_SECONDS
    while Event.objects.filter(transaction__gte=Snapshot()).exists():
        assert monotonic() < end
        sleep(0.02)
    roll_up_all()


def work(world, second):
    """One completed, one failed, one lapsed by the first worker; one held by each."""
    world.add_many(5)
    complete(world.worker, **receipt(world.claim()))
    fail(world.worker, **receipt(world.claim()), requeue=False)
    lapse(world.claim())
    reap()
    set_lease_activity(world.worker, **receipt(world.claim()), doing="Reading page 4")
    world.claim(second)


@pytest.mark.django_db(transaction=True)
def test_a_seat_and_its_workers(world, second):
    work(world, second)
    roll_up_now()
    idle = an_agent(world.workspace)
    page = agent_figures(world.owner, page_size=50, page_token="")
    busy, other = page.items
    assert (busy.agent.id, other.agent.id) == (world.worker.actor_id, idle.actor_id)
    assert (busy.holds, busy.lapsed, busy.doing) == (2, 0, "Reading page 4")
    ended = (busy.totals.completed, busy.totals.failed, busy.totals.expired)
    assert ended == (1, 1, 1)
    assert 0 <= busy.run_p50 <= busy.run_p95
    assert (other.holds, other.totals.claims, other.run_p50) == (0, 0, None)
    detail = agent_detail(world.owner, agent_id=world.worker.actor_id)
    assert detail.figures == busy
    workers = {one.token_id: one for one in detail.workers}
    first = workers[world.worker.token_id]
    assert (first.holds, first.completed, first.failed, first.expired) == (1, 1, 1, 1)
    assert first.claims == 4
    assert workers[second.token_id].holds == workers[second.token_id].claims == 1
    assert workers[second.token_id].run_p50 is None


def test_nothing_of_boards_that_cannot_be_seen(world, second):
    work(world, second)
    outsider = a_person(world.workspace, WorkspaceRole.MEMBER)
    edit_board(world.owner, board_id=world.board, default_role=None)
    access.forget()
    (busy,) = agent_figures(outsider, page_size=50, page_token="").items
    assert (busy.holds, busy.doing, busy.totals.claims) == (0, "", 0)
    detail = agent_detail(outsider, agent_id=world.worker.actor_id)
    assert {one.claims for one in detail.workers} == {0}
    set_board_member(
        world.owner,
        board_id=world.board,
        handle=outsider.handle,
        role=BoardRole.VIEWER,
    )
    (busy,) = agent_figures(outsider, page_size=50, page_token="").items
    assert busy.holds == 2


def test_twenty_seats_cost_the_same_as_one(world, second):
    def price():
        access.forget()
        with CaptureQueriesContext(connection) as seen:
            agent_figures(world.owner, page_size=50, page_token="")
            agent_detail(world.owner, agent_id=world.worker.actor_id)
        return len(seen)

    work(world, second)
    one = price()
    for _ in range(20):
        world.add()
        world.claim(an_agent(world.workspace))
    assert Lease.objects.count() > 20
    assert price() == one <= 20
