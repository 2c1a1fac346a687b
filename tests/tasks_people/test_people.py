"""What people do: start, finish, decline, hand over, put in order, call off."""

import pytest

from accounts.credentials import caller_of_token
from accounts.errors import Forbidden, Invalid
from accounts.models import Actor
from accounts.roles import WorkspaceRole
from boards.errors import CardHeld
from boards.verbs.places import Place
from leases.errors import NotCancellable, NotClaimable
from tasks_people.errors import AlreadyHeld, NotHeld
from tasks_people.stack import stack
from tasks_people.verbs.claim import claim
from tasks_people.verbs.create import create
from tasks_people.verbs.hold import complete, give_back, heartbeat
from tasks_people.verbs.messages import pull
from tasks_people.verbs.order import assign, prioritize, reorder
from tasks_people.verbs.people import cancel, decline, start
from tests.builders import (
    a_person,
    a_token,
    a_world,
    an_agent,
    card_row,
    event_types,
)
from tests.connections import together


def a_task(world, **fields):
    return create(world.worker, **{"queue": "people", "title": "Call", **fields})


def test_started_it_stays_theirs_without_end(world):
    made = a_task(world)
    started = start(world.owner, task_id=made)
    assert started.task.lease.holder == f"@{world.owner.handle}"
    assert started.task.lease.expires_at is None
    done = complete(world.owner, task_id=made, result={"text": "Five."})
    assert done.task.state == "done"
    (message,) = pull(world.worker, topics="tasks.done")
    assert message.payload["by"] == f"@{world.owner.handle}"
    assert message.payload["result"] == {"text": "Five."}
    assert event_types(made) == [
        "card.created",
        "card.lease.claimed",
        "card.lease.completed",
        "task.done",
    ]


def test_a_person_starts_what_is_assigned_to_them_on_any_queue(world):
    made = a_task(world, queue="reports", assignee=world.owner.handle)
    assert start(world.owner, task_id=made).task.lease.expires_at is None


def test_started_twice_it_is_the_same_task_and_lease(world):
    made = a_task(world)
    one, two = start(world.owner, task_id=made), start(world.owner, task_id=made)
    assert (one.task.lease.id, one.lease_token) == (two.task.lease.id, two.lease_token)
    assert (one.replayed, two.replayed) == (False, True)
    assert event_types(made).count("card.lease.claimed") == 1


def test_the_second_one_sees_who_has_it(world):
    made = a_task(world)
    start(world.owner, task_id=made)
    other = a_person(world.workspace, WorkspaceRole.MEMBER)
    for verb in (
        lambda: start(other, task_id=made),
        lambda: decline(other, task_id=made, reason="No."),
    ):
        with pytest.raises(AlreadyHeld) as refused:
            verb()
        assert f"@{world.owner.handle}" in refused.value.detail
        assert refused.value.facts["task"].id == made


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("round", range(5))
def test_of_two_starts_at_once_one_gets_it(transactional_db, round):
    world = a_world()
    made = a_task(world)
    people = [a_person(world.workspace, WorkspaceRole.MEMBER) for _ in range(2)]
    got = together(*[lambda by=by: start(by, task_id=made) for by in people])
    (winner,) = [one for one in got if not isinstance(one, Exception)]
    (loser,) = [one for one in got if isinstance(one, Exception)]
    assert isinstance(loser, AlreadyHeld)
    assert loser.facts["task"].lease.holder == winner.task.lease.holder
    assert event_types(made).count("card.lease.claimed") == 1


@pytest.mark.django_db(transaction=True)
def test_of_two_presses_of_one_person_both_get_it(transactional_db):
    world = a_world()
    made = a_task(world)
    got = together(*[lambda: start(world.owner, task_id=made)] * 2)
    held = [one for one in got if not isinstance(one, Exception)]
    assert held
    assert event_types(made).count("card.lease.claimed") == 1
    again = start(world.owner, task_id=made)
    assert {one.task.lease.id for one in held} == {again.task.lease.id}


def test_what_has_ended_cannot_be_started(world):
    made = a_task(world)
    start(world.owner, task_id=made)
    complete(world.owner, task_id=made)
    with pytest.raises(NotClaimable):
        start(world.owner, task_id=made)


def test_a_person_is_their_own_credential_by_whatever_door(world):
    """Started in the page, finished with a personal token."""
    made = a_task(world)
    start(world.owner, task_id=made)
    text, _ = a_token(Actor.objects.get(pk=world.owner.actor_id))
    by_token = caller_of_token(text)
    assert complete(by_token, task_id=made).task.state == "done"


def test_another_worker_of_a_seat_does_not_start_what_one_has(world):
    made = a_task(world, queue="reports")
    start(world.worker, task_id=made)
    text, _ = a_token(Actor.objects.get(pk=world.worker.actor_id))
    with pytest.raises(AlreadyHeld):
        start(caller_of_token(text), task_id=made)


def test_agents_that_start_a_task_get_a_lease_that_lapses(world):
    made = a_task(world, queue="reports")
    assert start(world.worker, task_id=made).task.lease.expires_at is not None


@pytest.mark.parametrize("begun", [False, True])
def test_declined_it_has_failed_with_the_reason(world, begun):
    made = a_task(world)
    if begun:
        start(world.owner, task_id=made)
    answer = decline(world.owner, task_id=made, reason="Not mine.")
    assert (answer.task.state, answer.task.error) == ("failed", "Not mine.")
    (message,) = pull(world.worker, topics="tasks.done")
    assert message.payload["status"] == "declined"
    assert message.payload["error"] == "Not mine."
    assert message.payload["by"] == f"@{world.owner.handle}"


def test_one_declines_with_a_reason(world):
    made = a_task(world)
    with pytest.raises(Invalid) as refused:
        decline(world.owner, task_id=made, reason=" ")
    assert refused.value.errors[0].pointer == "/reason"
    assert card_row(made).state == "open"


def test_given_back_it_is_anybodys(world):
    made = a_task(world)
    start(world.owner, task_id=made)
    give_back(world.owner, task_id=made, note="Numbers are in the sheet.")
    other = a_person(world.workspace)
    assert stack(other).now.item.id == made
    assert start(other, task_id=made).task.lease.holder == f"@{other.handle}"


def test_handed_over_it_is_theirs_to_start(world):
    made = a_task(world)
    start(world.owner, task_id=made)
    other = a_person(world.workspace)
    assign(world.owner, task_id=made, assignee=f"@{other.handle}")
    card = card_row(made)
    assert (card.state, card.assignee_id, card.attempts) == ("open", other.actor_id, 0)
    assert stack(world.owner).total == 0
    assert [one.topic for one in pull(other)] == ["tasks.assigned"]
    start(other, task_id=made)
    with pytest.raises(AlreadyHeld):
        assign(world.owner, task_id=made, assignee=None)
    assign(other, task_id=made, assignee=None)
    assert card_row(made).assignee_id is None


def test_nobody_can_be_handed_a_task(world):
    made = a_task(world)
    start(world.owner, task_id=made)
    with pytest.raises(Invalid) as refused:
        assign(world.owner, task_id=made, assignee="@nobody")
    assert refused.value.errors[0].pointer == "/assignee"
    assert card_row(made).state == "claimed"


def test_priorities_change_the_order(world):
    first, second = a_task(world), a_task(world)
    assert stack(world.owner).now.item.id == first
    prioritize(world.owner, task_id=second, priority=1)
    assert stack(world.owner).now.item.id == second
    with pytest.raises(Invalid):
        prioritize(world.owner, task_id=second, priority=0)


def test_put_beside_another_one_a_task_takes_its_priority(world):
    low, high = a_task(world, priority=5), a_task(world, priority=1)
    last = a_task(world, priority=3)
    reorder(world.owner, task_id=low, place=Place(before=high))
    ids = [one.id for one in stack(world.owner).next]
    assert (stack(world.owner).now.item.id, *ids) == (low, high, last)
    reorder(world.owner, task_id=low, place=Place(after=last))
    assert stack(world.owner).now.item.id == high
    assert [one.id for one in stack(world.owner).next] == [last, low]


def test_first_of_its_own_priority(world):
    a_task(world)
    second = a_task(world)
    reorder(world.owner, task_id=second, place=Place(end="top"))
    assert stack(world.owner).now.item.id == second


def test_a_task_of_another_queue_is_no_neighbour(world):
    here, there = a_task(world), a_task(world, queue="reports")
    with pytest.raises(Invalid):
        reorder(world.owner, task_id=here, place=Place(before=there))


def test_what_is_being_worked_on_keeps_its_place(world):
    made = a_task(world)
    start(world.owner, task_id=made)
    with pytest.raises(CardHeld):
        reorder(world.owner, task_id=made, place=Place(end="top"))


def test_called_off_while_open_it_ends_at_once(world):
    made = a_task(world, queue="reports")
    answer = cancel(world.worker, task_id=made, reason="Not needed.")
    assert answer.task.state == "failed"
    assert answer.task.cancelled_at
    (message,) = pull(world.worker, topics="tasks.done")
    assert message.payload["status"] == "cancelled"
    assert message.payload["error"] == "Not needed."
    assert claim(world.worker, queue="reports").task is None


def test_called_off_while_held_the_holder_learns_it_and_then_loses_it(world):
    made = a_task(world, queue="reports")
    holder = an_agent(world.workspace)
    claim(holder, queue="reports")
    asked = cancel(world.worker, task_id=made, reason="Stop.")
    assert asked.task.lease.cancel_requested
    beat = heartbeat(holder, task_id=made)
    assert beat.cancel_requested
    assert beat.cancel.reason == "Stop."
    with pytest.raises(NotHeld) as refused:
        heartbeat(holder, task_id=made)
    assert refused.value.facts["task"].cancelled_at
    (message,) = pull(world.worker, topics="tasks.done")
    assert message.payload["status"] == "cancelled"
    assert message.payload["by"] == f"@{world.worker.handle}"


def test_a_person_hears_that_what_they_do_was_called_off(world):
    made = a_task(world)
    start(world.owner, task_id=made)
    cancel(world.worker, task_id=made, reason="Not needed.")
    (message,) = pull(world.owner)
    assert (message.type, message.correlation_id) == ("task.cancelled", str(made))
    assert message.payload["text"] == "Not needed."
    assert message.payload["by"] == f"@{world.worker.handle}"
    assert pull(world.owner) == []


def test_whoever_calls_off_what_they_do_hears_nothing(world):
    made = a_task(world)
    start(world.owner, task_id=made)
    cancel(world.owner, task_id=made)
    assert pull(world.owner) == []
    assert pull(world.worker)[0].payload["status"] == "cancelled"


def test_only_its_creator_and_managers_call_a_task_off(world):
    made = a_task(world, queue="reports")
    with pytest.raises(Forbidden):
        cancel(an_agent(world.workspace), task_id=made)
    assert cancel(world.owner, task_id=made).task.cancelled_at


def test_what_has_ended_cannot_be_called_off(world):
    made = a_task(world, queue="reports")
    claim(world.worker, queue="reports")
    complete(world.worker, task_id=made)
    with pytest.raises(NotCancellable):
        cancel(world.worker, task_id=made)
