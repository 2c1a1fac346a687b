"""From a committed change to a receiver, whatever the receiver does."""

import threading
from datetime import timedelta

import pytest
from django.utils.timezone import now

from boards.models import Event, Snapshot
from boards.verbs.cards import edit_card
from leases.verbs.complete import complete
from tasks_people.verbs.claim import claim
from tasks_people.verbs.create import create
from tasks_people.verbs.gather import gather_all
from tasks_people.verbs.hold import complete as finish
from tests.builders import a_world, an_agent, receipt
from tests.doors.http import door_of
from tests.processes.waiting import wait_until_told
from tests.webhooks import receivers
from tests.webhooks.conftest import PATIENCE, delivering, listen, settled, until
from tests.webhooks.receivers import Changing, receiving
from tests.webhooks.recipes import URL
from webhooks import conf
from webhooks.models import Attempt, Delivery, Endpoint
from webhooks.verbs import fan_out as fanning
from webhooks.verbs.endpoints import (
    create_endpoint,
    delete_endpoint,
    edit_endpoint,
    rotate_secret,
    send_test,
)
from webhooks.verbs.fan_out import fan_out
from webhooks.verbs.take import destinations, take

# Events are told once no older transaction is open anywhere in the cluster, so those of
# tests beside these would hold them up.
pytestmark = pytest.mark.processes


def test_a_lease_is_told_from_its_claim_to_its_end(world):
    with receiving() as receiver:
        listener = listen(world, receiver, types=["card.lease.*"])
        card = world.add("Write")
        held = world.claim()
        complete(world.worker, **receipt(held), output={"text": "Done."})
        with delivering():
            until(lambda: len(receiver.got) == 2)
            until(lambda: settled(listener))
    claimed, completed = listener.bodies()
    assert [claimed["type"], completed["type"]] == [
        "card.lease.claimed",
        "card.lease.completed",
    ]
    data = completed["data"]
    assert data["card"]["id"] == str(card)
    assert data["card"]["output"] == {"text": "Done."}
    assert data["lease"]["id"] == str(held.lease.id)
    assert data["lease"]["holder"]["handle"] == world.worker.handle
    assert data["column"]["id"] == str(world.queue)
    assert data["from_column"]["name"] == "Drafting"
    assert data["to_column"]["name"] == "Done"
    assert data["board"] == {"id": str(world.board), "name": "Content"}
    assert data["actor"]["handle"] == world.worker.handle
    assert claimed["data"]["sequence"] < data["sequence"]
    assert [one.state for one in listener.deliveries()] == ["delivered"] * 2
    assert held.lease_token not in str(listener.bodies())


def test_an_endpoint_that_asks_for_ends_of_tasks_gets_each_once(world):
    with receiving() as receiver:
        listener = listen(world, receiver, types=["task.done"])
        made = create(world.worker, queue="reports", title="Count")
        other = an_agent(world.workspace)
        finish(other, task_id=claim(other, queue="reports").task.id, result={"n": 3})
        wait_until_told()
        with delivering():
            for _ in range(3):
                gather_all()
            until(lambda: receiver.got)
            gather_all()
            world.add("Something else")
            wait_until_told()
            until(lambda: not fan_out() and settled(listener))
    (body,) = listener.bodies()
    assert body["type"] == "task.done"
    data = body["data"]
    cause = Event.objects.get(card_id=made, type="card.lease.completed")
    assert data["details"] == {
        "status": "done",
        "result": {"n": 3},
        "by": f"@{other.handle}",
        "correlation_id": str(made),
        "event_id": str(cause.pk),
    }
    assert (data["card"]["id"], data["card"]["state"]) == (str(made), "done")
    assert (data["sequence"], data["actor"]["handle"]) == (4, other.handle)
    feed = door_of(world.owner).get("/v1/events", types="task.done").json()
    (event,) = feed["items"]
    assert (event["data"], event["card_id"]) == (data["details"], str(made))


def test_what_was_before_an_endpoint_is_not_told(world):
    world.add("Old")
    with receiving() as receiver, delivering():
        listener = listen(world, receiver)
        world.add("New")
        until(lambda: receiver.got)
        until(lambda: settled(listener))
    titles = [body["data"]["card"]["title"] for body in listener.bodies()]
    assert titles == ["New"]


def test_boards_and_types_are_chosen(world):
    other = world.owner
    with receiving() as a, receiving() as b, receiving() as c, delivering():
        of_types = listen(world, a, types=["card.updated", "column.*"])
        of_board = listen(world, b, boards=[world.board])
        of_none = listen(world, c, types=["board.archived"])
        card = world.add()
        edit_card(other, card_id=card, title="New")
        world.set(paused=True)
        until(lambda: len(a.got) == 3 and len(b.got) == 4)
        until(lambda: settled(of_types, of_board, of_none))
    assert sorted(of_types.types()) == [
        "card.updated",
        "column.contract.updated",
        "column.paused",
    ]
    assert of_none.receiver.got == []


def test_500_then_200_is_tried_again_with_the_same_id_and_a_new_signature(
    world, monkeypatch
):
    monkeypatch.setattr(conf, "SCHEDULE", [0.0, 1.1, 1.1])
    with receiving(receivers.failing_first(1)) as receiver, delivering():
        listener = listen(world, receiver)
        world.add()
        until(lambda: len(receiver.got) == 2)
        until(lambda: settled(listener))
    first, second = receiver.got
    assert first.id == second.id
    assert first.body == second.body
    assert first.headers["webhook-timestamp"] < second.headers["webhook-timestamp"]
    assert first.headers["webhook-signature"] != second.headers["webhook-signature"]
    assert len(listener.bodies()) == 2
    (delivery,) = listener.deliveries()
    assert (delivery.state, delivery.attempts) == ("delivered", 2)
    tries = Attempt.objects.filter(delivery=delivery).order_by("id")
    assert [(one.number, one.status, one.answer) for one in tries] == [
        (1, 500, "not now"),
        (2, 200, "ok"),
    ]


def test_it_is_given_up_at_the_end_of_the_schedule(world, monkeypatch):
    monkeypatch.setattr(conf, "SCHEDULE", [0.0, 0.05, 0.05])
    with receiving(receivers.status(301)) as receiver, delivering():
        listener = listen(world, receiver)
        world.add()
        until(lambda: receiver.got)
        until(lambda: settled(listener))
    (delivery,) = listener.deliveries()
    assert (delivery.state, delivery.attempts, delivery.status) == ("failed", 3, 301)
    assert len(receiver.got) == 3


def test_410_switches_the_endpoint_off(world):
    with receiving(receivers.status(410)) as receiver, delivering():
        listener = listen(world, receiver)
        world.add()
        until(lambda: not listener.row().enabled)
    assert listener.row().off == Endpoint.Off.GONE
    assert len(receiver.got) == 1


def test_days_of_failures_switch_it_off(world):
    with receiving(receivers.status(500)) as receiver:
        listener = listen(world, receiver)
        Endpoint.objects.update(failing_since=now() - timedelta(days=5, minutes=1))
        world.add()
        with delivering():
            until(lambda: not listener.row().enabled)
    assert listener.row().off == Endpoint.Off.FAILING


def test_a_success_ends_the_failing(world):
    behaviour = Changing(receivers.status(500))
    with receiving(behaviour) as receiver, delivering():
        listener = listen(world, receiver)
        world.add()
        until(lambda: listener.row().failing_since)
        behaviour.now = receivers.fast
        until(lambda: listener.row().failing_since is None)


def test_429_with_retry_after_waits_so_long_also_for_others(world):
    def behave(handler):
        if len(handler.server.got) == 1:
            handler.answer(429, Retry_After="1")
        else:
            handler.answer()

    with receiving(behave) as receiver, delivering():
        listener = listen(world, receiver)
        world.add()
        until(lambda: receiver.got)
        world.add()
        until(lambda: len(receiver.got) == 3)
        until(lambda: settled(listener))
    first, second, _ = receiver.got
    assert second.at - first.at >= 0.95


def test_a_hanging_and_a_failing_endpoint_delay_no_other(world):
    with (
        receiving(receivers.hanging) as hanging,
        receiving(receivers.status(500)) as failing,
        receiving() as healthy,
    ):
        for receiver in (hanging, failing):
            listen(world, receiver)
        good = listen(world, healthy)
        with delivering():
            world.add_many(100)
            until(lambda: len(set(good.ids())) == 100)
    assert len(good.ids()) == 100


def test_three_loops_at_once_send_each_once(world):
    with receiving() as receiver:
        listener = listen(world, receiver, types=["card.created"])
        for _ in range(8):
            world.add_many(50)
        with delivering(workers=3):
            until(lambda: len(receiver.got) >= 400)
            until(lambda: settled(listener))
    assert len(listener.ids()) == len(set(listener.ids())) == 400
    assert {one.attempts for one in listener.deliveries()} == {1}


def test_events_of_a_card_come_in_order_also_when_one_fails_once(world):
    def behave(handler):
        title = handler.server.got[-1].body
        if b"No. 2" in title and handler.count() == 1:
            handler.answer(500)
        else:
            handler.answer()

    with receiving(behave) as receiver, delivering(workers=2):
        listener = listen(world, receiver, types=["card.updated"])
        card = world.add()
        for number in range(5):
            edit_card(world.owner, card_id=card, title=f"No. {number}")
        until(lambda: len(set(listener.ids())) == 5)
        until(lambda: settled(listener))
    sequences = [body["data"]["sequence"] for body in listener.bodies()]
    assert sequences == sorted(sequences)


def test_after_two_failures_the_next_event_of_the_card_goes_ahead(world, monkeypatch):
    monkeypatch.setattr(conf, "SCHEDULE", [0.0, 0.05, 60.0])

    def behave(handler):
        first = b'"sequence":2,' in handler.server.got[-1].body
        handler.answer(500 if first else 200)

    with receiving(behave) as receiver, delivering():
        listener = listen(world, receiver, types=["card.updated"])
        card = world.add()
        for number in range(3):
            edit_card(world.owner, card_id=card, title=f"No. {number}")
        until(lambda: len(set(listener.ids())) == 3)
        until(
            lambda: [one.state for one in listener.deliveries()].count("delivered") == 2
        )
    assert listener.deliveries()[0].state == "pending"


def test_both_secrets_sign_while_one_is_rotated_in_the_middle_of_retries(world):
    behaviour = Changing(receivers.status(500))
    with receiving(behaviour) as receiver, delivering():
        listener = listen(world, receiver)
        world.add()
        until(lambda: receiver.got)
        new = rotate_secret(world.owner, endpoint_id=listener.endpoint)
        behaviour.now = receivers.fast
        until(lambda: settled(listener))
        first, last = receiver.got[0], receiver.got[-1]
        first.verified(listener.secret)
        last.verified(listener.secret)
        last.verified(new)
        rotate_secret(world.owner, endpoint_id=listener.endpoint, overlap_seconds=0)
        newest = rotate_secret(
            world.owner, endpoint_id=listener.endpoint, overlap_seconds=0
        )
        send_test(world.owner, endpoint_id=listener.endpoint)
        until(lambda: settled(listener))
        receiver.got[-1].verified(newest)
        with pytest.raises(Exception, match="No matching signature"):
            receiver.got[-1].verified(new)
    assert listener.secret != new != newest


def test_custom_headers_go_along(world):
    with receiving() as receiver, delivering():
        listener = listen(world, receiver, headers={"Authorization": "Bearer x"})
        world.add()
        until(lambda: receiver.got)
        until(lambda: settled(listener))
    assert receiver.got[0].headers["Authorization"] == "Bearer x"
    assert "Bearer" not in listener.row().headers


def test_cloudevents_say_the_same_in_their_form(world):
    with receiving() as receiver, delivering():
        listener = listen(world, receiver, format="cloudevents")
        card = world.add("Write")
        until(lambda: receiver.got)
        until(lambda: settled(listener))
    (got,) = receiver.got
    assert got.headers["Content-Type"] == "application/cloudevents+json"
    event = got.verified(listener.secret)
    assert event["specversion"] == "1.0"
    assert event["id"] == got.id
    assert event["type"] == "card.created"
    assert event["sequence"] == "1"
    assert event["source"].startswith("http")
    assert event["data"]["card"]["id"] == str(card)
    for name in event:
        assert name == name.lower()
        assert name.isalnum()
        assert len(name) <= 20


def test_what_waits_for_an_endpoint_that_is_off_comes_when_it_is_on(world):
    behaviour = Changing(receivers.status(500))
    with receiving(behaviour) as receiver, delivering():
        listener = listen(world, receiver)
        world.add("Before")
        until(lambda: receiver.got)
        edit_endpoint(
            world.owner, endpoint_id=listener.endpoint, changes={"enabled": False}
        )
        world.add("While it's off")
        wait_until_told()
        behaviour.now = receivers.fast
        edit_endpoint(
            world.owner, endpoint_id=listener.endpoint, changes={"enabled": True}
        )
        world.add("After")
        until(lambda: len({*listener.ids()}) == 2 and settled(listener))
    titles = {body["data"]["card"]["title"] for body in listener.bodies()}
    assert titles == {"Before", "After"}


def test_a_killed_workers_deliveries_are_due_again(world, monkeypatch):
    with receiving() as receiver:
        listener = listen(world, receiver)
        world.add()
        wait_until_told()
        until(lambda: fan_out() or listener.deliveries())
        # Only that worker's time is short: the receiver may take its own.
        with monkeypatch.context() as patched:
            patched.setattr(conf, "TOTAL_SECONDS", 1.0)
            patched.setattr(conf, "SPARE_SECONDS", 2.0)
            assert take({listener.endpoint: 5}, destinations())
        with delivering():
            until(lambda: settled(listener))
    (delivery,) = listener.deliveries()
    assert (delivery.state, delivery.attempts) == ("delivered", 2)
    tries = Attempt.objects.filter(delivery=delivery).order_by("id")
    assert [one.problem for one in tries] == ["interrupted", ""]
    assert Delivery.objects.filter(taken__isnull=False).count() == 0


def test_events_wait_as_events_while_all_that_work_have_enough_to_do(
    world, monkeypatch
):
    with receiving() as a, receiving() as b:
        one = listen(world, a, types=["card.created"])
        monkeypatch.setattr(fanning, "_BEHIND", fanning._BEHIND.replace("500", "10"))
        world.add_many(15)
        until(lambda: fan_out() or len(one.deliveries()) == 15)
        world.add_many(5)
        until(lambda: Event.objects.filter(transaction__gte=Snapshot()).count() == 0)
        assert fan_out() is False
        assert len(one.deliveries()) == 15
        # Another one has nothing to do yet, so it gets its news.
        listen(world, b, types=["card.created"])
        until(lambda: fan_out() or len(one.deliveries()) == 20)
        # And one that fails doesn't keep the others from theirs.
        Endpoint.objects.exclude(pk=one.endpoint).update(failing_since=now())
        world.add_many(5)
        until(lambda: Event.objects.filter(transaction__gte=Snapshot()).count() == 0)
        assert fan_out() is False
        Endpoint.objects.update(failing_since=now())
        until(lambda: fan_out() or len(one.deliveries()) == 25)


def test_an_endpoint_deleted_while_it_is_called_keeps_back_no_other(world):
    began, goes_on = threading.Event(), threading.Event()

    def slow(handler):
        began.set()
        goes_on.wait(PATIENCE)
        handler.answer()

    with receiving(slow) as a, receiving() as b, delivering():
        deleted, other = listen(world, a), listen(world, b)
        world.add()
        assert began.wait(PATIENCE)
        delete_endpoint(world.owner, endpoint_id=deleted.endpoint)
        goes_on.set()
        world.add()
        until(lambda: len(b.got) == 2)
        until(lambda: settled(other))
    assert not Attempt.objects.exclude(delivery__endpoint_id=other.endpoint).exists()


def test_many_workspaces_are_looked_at_by_one_query(
    world, django_assert_max_num_queries
):
    for _ in range(3):
        other = a_world()
        create_endpoint(other.owner, url=URL, types=["*"])
    wait_until_told()
    until(lambda: not fan_out())
    with django_assert_max_num_queries(1):
        fan_out()
