"""What needs somebody: each reason appears from real rows, and is gone once settled."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils.timezone import now

from accounts.errors import NotFound
from accounts.roles import BoardRole, WorkspaceRole
from boards import access
from boards.models import Card, ClockTimestamp
from boards.verbs.boards import create_board, edit_board, set_board_member
from boards.verbs.cards import archive_card, edit_card
from boards.verbs.moving import move_card
from leases.models import Ask, Lease
from leases.verbs.claim_card import claim_card
from leases.verbs.complete import complete
from leases.verbs.reap import reap
from leases.verbs.requeue import requeue
from leases.verbs.revoke import revoke
from novum import needs
from supervision import histograms
from supervision.models import Counts, QueueFigures
from supervision.needs import shapes, usual
from supervision.needs.looking import BADGE_CAP, Wanted
from tests.builders import a_person, a_world, lapse, receipt

pytestmark = pytest.mark.django_db
SCHEMA = {"type": "object", "required": ["url"]}


@pytest.fixture(autouse=True)
def _nothing_remembered():
    usual.forget()
    yield
    usual.forget()


def look(caller, **wanted):
    return needs.needs(caller, Wanted(**wanted))


def reasons(caller, **wanted):
    return [one.reason for one in look(caller, **wanted).items]


def long_ago(minutes):
    return ClockTimestamp() - timedelta(minutes=minutes)


def dead_letter(world):
    world.add("Broken")
    card = world.fail_card(requeue=False, reason="No sources found.")
    return lambda: requeue(world.owner, card_id=card)


def lapsed(world):
    world.add("Left")
    held = world.claim()
    lapse(held)
    return lambda: revoke(world.owner, lease_id=held.lease.id)


def slow(world):
    usual_is(world, seconds=10, times=50)
    world.add("Endless")
    held = world.claim()
    Lease.objects.filter(pk=held.lease.id).update(acquired_at=long_ago(5.5))
    return lambda: complete(world.worker, **receipt(held))


def usual_is(world, *, seconds, times):
    run = [0] * (histograms.bucket(seconds) + 1)
    run[-1] = times
    QueueFigures.objects.create(
        column_id=world.queue, span=Counts.Span.HOUR, start=now(), run=run
    )


def lapsing(world):
    card = world.add("Again and again")
    for _ in range(2):
        lapse(world.claim())
        reap()
    return lambda: archive_card(world.owner, card_id=card)


def misfit(world):
    world.set(input_schema=SCHEMA)
    card = world.add("Without URL", payload={})
    world.ask()
    return lambda: edit_card(world.owner, card_id=card, payload={"url": 1})


def review(world):
    shown = world.column("Look at it")
    end = world.column("Published")
    world.set(on_success_column_id=shown)
    world.add("Draft")
    held = world.claim()
    complete(world.worker, **receipt(held))
    return lambda: move_card(world.owner, card_id=held.card.id, column_id=end)


def assigned(world):
    card = world.add("For you", assignee=world.owner.handle)
    return lambda: claim_card(world.owner, card_id=card)


def unattended(world):
    card = world.add("Lonely")
    Card.objects.filter(pk=card).update(updated_at=long_ago(11))
    return lambda: world.ask()


REASONS = {
    "dead_letter": (dead_letter, "after 1 attempt"),
    "lapsed": (lapsed, "run out"),
    "slow": (slow, "95 % here take"),
    "lapsing": (lapsing, "ran out 2 times"),
    "misfit": (misfit, "doesn't fit the input schema"),
    "review": (review, "waits in Look at it"),
    "assigned": (assigned, "assigned to you"),
    "unattended": (unattended, "1 card waits in"),
}


def test_every_reason_of_ours_is_tried_here():
    assert {*REASONS, shapes.ENDPOINT_OFF} == set(shapes.REASONS)


@pytest.mark.parametrize("reason", REASONS)
def test_it_appears_with_what_settles_it_and_goes_when_it_is_settled(world, reason):
    happens, said = REASONS[reason]
    assert look(world.owner).total == 0
    assert needs.alarm(world.owner) == 0
    settle = happens(world)
    usual.forget()
    (one,) = look(world.owner).items
    assert one.reason == reason
    assert said in one.what
    assert one.board_id == world.board
    assert bool(one.actions) == (reason != "unattended")
    assert look(world.owner).counts[reason] == 1
    assert needs.alarm(world.owner) == 1
    settle()
    access.forget()
    assert look(world.owner).items == []
    assert needs.alarm(world.owner) == 0


def test_what_only_looks_like_it_is_no_row(world):
    """Below each threshold by one."""
    usual_is(world, seconds=10, times=usual.MIN_ATTEMPTS - 1)
    world.add("Endless, but who knows what is usual")
    held = world.claim()
    Lease.objects.filter(pk=held.lease.id).update(acquired_at=long_ago(60))
    world.add("Lapsed once")
    lapse(world.claim())
    reap()
    fresh = world.add("Here for five minutes")
    Card.objects.filter(pk=fresh).update(updated_at=long_ago(5))
    Ask.objects.all().delete()
    called_off = world.add("Called off")
    Card.objects.filter(pk=called_off).update(state="failed", cancelled_at=now())
    complete(world.worker, **receipt(held))
    assert reasons(world.owner) == []


def test_a_new_round_forgets_the_lapses_of_the_one_before(world):
    card = world.add("Again and again")
    world.set(max_attempts=2)
    for _ in range(2):
        lapse(world.claim())
        reap()
    assert reasons(world.owner) == ["dead_letter"]
    requeue(world.owner, card_id=card)
    lapse(world.claim())
    reap()
    assert reasons(world.owner) == []


def test_the_end_of_a_board_is_nobodys_review(world):
    """Done is followed by where failed cards go, and by nothing else."""
    world.add("Draft")
    complete(world.worker, **receipt(world.claim()))
    assert reasons(world.owner) == []


def test_most_urgent_first_and_filtered(world):
    for happens in (assigned, dead_letter, lapsed):
        happens(world)
    assert reasons(world.owner) == ["lapsed", "dead_letter", "assigned"]
    assert reasons(world.owner, reason="dead_letter") == ["dead_letter"]
    other = create_board(world.owner, name="Other")
    assert reasons(world.owner, board_id=other) == []
    assert len(reasons(world.owner, board_id=world.board)) == 3
    # Whose: what the owner made, and what is kept for them, is all of it.
    assert len(reasons(world.owner, mine=True)) == 3
    colleague = a_person(world.workspace, WorkspaceRole.MEMBER)
    assert reasons(colleague, mine=True) == []


def test_who_sees_what_and_what_they_are_offered(world):
    dead_letter(world)
    lapsed(world)
    edit_board(world.owner, board_id=world.board, default_role=None)
    access.forget()
    people = {}
    for role in BoardRole:
        people[role] = a_person(world.workspace, WorkspaceRole.MEMBER)
        set_board_member(
            world.owner, board_id=world.board, handle=people[role].handle, role=role
        )
    outsider = a_person(world.workspace, WorkspaceRole.MEMBER)
    assert look(outsider).total == needs.alarm(outsider) == 0
    with pytest.raises(NotFound):
        look(outsider, board_id=world.board)
    assert look(a_world().owner).total == 0
    offered = {
        role: [[action.operation for action in one.actions] for one in look(who).items]
        for role, who in people.items()
    }
    assert offered == {
        BoardRole.VIEWER: [[], []],
        BoardRole.COMMENTER: [[], []],
        BoardRole.EDITOR: [[], ["requeue_card"]],
        BoardRole.MANAGER: [["revoke_lease"], ["requeue_card"]],
    }
    assert [needs.alarm(who) for who in people.values()] == [0, 0, 2, 2]


def test_fifty_are_listed_and_all_are_counted_for_the_same_price(world):
    def price():
        usual.forget()
        access.forget()
        with CaptureQueriesContext(
            connection,
        ) as seen:
            found = look(world.owner)
        return len(seen), found

    for happens in (review, dead_letter, slow, lapsing, lapsed, assigned, misfit):
        happens(world)
    few, _ = price()
    Card.objects.filter(pk__in=world.add_many(130)).update(state="failed")
    many, found = price()
    assert many == few <= 10
    assert found.counts["dead_letter"] == 131
    listed = [one for one in found.items if one.reason == "dead_letter"]
    assert len(listed) == shapes.MOST_PER_REASON
    assert BADGE_CAP <= needs.alarm(world.owner) < 131
