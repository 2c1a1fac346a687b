"""`task.done`, the event: once for each end, by whomever, in the card's own order."""

import pytest

from boards.events import TASK_DONE
from boards.history import history
from boards.models import Card, Event, Snapshot
from leases.verbs.cancel import request_cancel
from leases.verbs.requeue import requeue
from tasks_people.models import Gathering, Message
from tasks_people.verbs import ended
from tasks_people.verbs.claim import claim
from tasks_people.verbs.create import create
from tasks_people.verbs.gather import gather, gather_all
from tasks_people.verbs.hold import complete, fail
from tasks_people.verbs.people import decline, start
from tests.builders import a_person, a_world, an_agent, event_types
from tests.connections import held_open, together
from tests.invariants import assert_sound


@pytest.fixture
def world(db):
    return a_world()


def a_task(world, by=None, **fields):
    given = {"queue": "reports", "title": "A", **fields}
    return create(by or world.worker, **given)


def finish(world, task_id, **options):
    by = an_agent(world.workspace)
    assert claim(by, queue="reports").task.id == task_id
    complete(by, task_id=task_id, **options)
    return by


def told(world, card_id=None):
    rows = Event.objects.filter(workspace_id=world.workspace.pk, type=TASK_DONE)
    if card_id:
        rows = rows.filter(card_id=card_id)
    return list(rows.order_by("id"))


def end_of(card_id):
    """The event that ended it."""
    return Event.objects.filter(card_id=card_id).exclude(type=TASK_DONE).latest("id")


def test_the_end_of_a_task_is_an_event_of_its_own_behind_the_one_that_ended_it(world):
    made = a_task(world)
    by = finish(world, made, result={"rows": 312})
    gather(world.workspace.pk)
    (event,) = told(world)
    cause = end_of(made)
    assert (cause.type, cause.sequence) == ("card.lease.completed", 3)
    assert event.data == {
        "status": "done",
        "result": {"rows": 312},
        "by": f"@{by.handle}",
        "correlation_id": str(made),
        "event_id": str(cause.pk),
    }
    assert (event.card_id, event.sequence, event.lease_id) == (made, 4, None)
    same = ("workspace_id", "board_id", "column_id", "actor_id", "token_id")
    assert [getattr(event, x) for x in same] == [getattr(cause, x) for x in same]
    assert Card.objects.get(pk=made).sequence == 4
    assert_sound(world.workspace.pk)


def test_it_is_there_in_the_transaction_of_the_creators_message(world):
    finish(world, a_task(world))
    gather(world.workspace.pk)
    (event,) = told(world)
    message = Message.objects.get(type="task.done")
    assert message.event_id != event.pk
    assert str(message.event_id) == event.data["event_id"]
    assert {**event.data, **message.payload} == event.data | {
        "key": message.payload["key"],
        "title": "A",
    }


def test_each_way_to_end_has_its_word(world):
    person = a_person(world.workspace)
    agent = an_agent(world.workspace)
    failed = a_task(world)
    claim(agent, queue="reports")
    fail(agent, task_id=failed, error="No file")
    declined = a_task(world, queue="people", assignee=person.handle)
    start(person, task_id=declined)
    decline(person, task_id=declined, reason="Not mine.")
    off = a_task(world)
    request_cancel(world.worker, card_id=off, reason="Too late")
    gather(world.workspace.pk)
    said = {one.card_id: one.data for one in told(world)}
    assert len(told(world)) == 3
    found = [(said[x]["status"], said[x]["error"]) for x in (failed, declined, off)]
    assert found == [
        ("failed", "No file"),
        ("declined", "Not mine."),
        ("cancelled", "Too late"),
    ]
    names = [said[x]["by"] for x in (failed, declined, off)]
    assert names == [f"@{x.handle}" for x in (agent, person, world.worker)]
    assert_sound(world.workspace.pk)


def test_a_task_that_its_creator_ends_is_told_too(world):
    """They need no message; other systems don't know it yet."""
    made = a_task(world, world.owner, queue="people", assignee=world.owner.handle)
    start(world.owner, task_id=made)
    complete(world.owner, task_id=made, result={"text": "Five."})
    assert gather(world.workspace.pk) == 0
    assert [one.data["result"] for one in told(world, made)] == [{"text": "Five."}]


def test_what_goes_on_is_no_end(world):
    made = a_task(world)
    other = an_agent(world.workspace)
    claim(other, queue="reports")
    fail(other, task_id=made, error="later", retry=True)
    world.set(on_success_column_id=world.queue)
    world.add("Goes round")
    held = world.claim()
    complete(world.worker, task_id=held.card.id)
    gather(world.workspace.pk)
    assert told(world) == []


def test_gathering_again_and_again_tells_once(world):
    made = a_task(world)
    finish(world, made)
    for _ in range(3):
        gather_all()
        Gathering.objects.update(transaction=0)
    gather(world.workspace.pk)
    assert len(told(world)) == 1
    # Nor does it bring itself about: the mark has left it behind, as far as it may (tests
    # beside this one may have an older transaction open in the same server).
    oldest = Event.objects.values_list(Snapshot(), flat=True)[0]
    assert gather(world.workspace.pk) == 0
    mark = Gathering.objects.get(pk=world.workspace.pk).transaction
    assert len(told(world)) == 1
    assert mark >= oldest


def test_a_second_end_is_told_as_well_even_if_both_are_gathered_at_once(world):
    made = a_task(world)
    other = an_agent(world.workspace)
    claim(other, queue="reports")
    fail(other, task_id=made, error="No file")
    requeue(world.owner, card_id=made)
    finish(world, made, result=1)
    gather(world.workspace.pk)
    one, two = told(world, made)
    assert [one.data["status"], two.data["status"]] == ["failed", "done"]
    assert two.sequence == one.sequence + 1
    assert_sound(world.workspace.pk)


def test_more_ends_than_are_told_at_once_are_told_the_next_time(world, monkeypatch):
    ids = [a_task(world) for _ in range(5)]
    for one in ids:
        finish(world, one)
    most = f"LIMIT {ended.MOST}"
    monkeypatch.setattr(ended, "_UNTOLD", ended._UNTOLD.replace(most, "LIMIT 2"))
    monkeypatch.setattr(ended, "MOST", 2)
    before = []
    for _ in range(4):
        gather(world.workspace.pk)
        before.append(len(told(world)))
    assert before == [2, 4, 5, 5]
    assert [one.card_id for one in told(world)] == ids


def test_the_list_on_the_cards_page_says_it_once(world):
    made = a_task(world)
    finish(world, made)
    gather(world.workspace.pk)
    assert event_types(made)[-1] == "task.done"
    kinds = [one.type for one in history(world.owner, card_id=made).items]
    assert kinds == ["card.lease.completed", "card.lease.claimed", "card.created"]


@pytest.mark.django_db(transaction=True)
class TestSideBySide:
    @pytest.fixture
    def world(self, transactional_db):
        return a_world()

    def test_gatherers_at_once_tell_once(self, world):
        ids = [a_task(world) for _ in range(10)]
        for one in ids:
            finish(world, one)
        together(*[lambda: gather(world.workspace.pk)] * 4)
        assert [one.card_id for one in told(world)] == ids
        assert_sound(world.workspace.pk)

    def test_a_card_that_is_being_changed_is_waited_for_by_nobody(self, world):
        busy, other = a_task(world), a_task(world)
        finish(world, busy)
        finish(world, other)
        with held_open(lambda: requeue(world.owner, card_id=busy)) as change:
            assert gather(world.workspace.pk) == 2
            assert [one.card_id for one in told(world)] == [other]
            change.commit()
        gather(world.workspace.pk)
        assert {one.card_id for one in told(world)} == {busy, other}
        assert event_types(busy)[-2:] == ["card.requeued", "task.done"]
        assert_sound(world.workspace.pk)
