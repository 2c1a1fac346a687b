"""A pull may wait for what comes, but not everybody at once; what it costs meanwhile."""

import threading
from threading import BoundedSemaphore
from time import monotonic, sleep
from uuid import uuid4

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from boards.nudges import Nudge
from leases.verbs.complete import complete
from novum.operations import waiting
from novum.operations.waiting import until_some
from tasks_people import postbox
from tasks_people.postbox import Postbox
from tasks_people.verbs.gather import gather_all
from tasks_people.verbs.messages import send
from tests.builders import a_person, a_world, receipt
from tests.doors.http import door_of


class Ring:
    """Wakes when the test says so."""

    def __init__(self):
        self.wakes, self.left = [], 0

    def __call__(self, wake):
        self.wakes.append(wake)
        return self.leave

    def leave(self):
        self.left += 1


def until(holds):
    deadline = monotonic() + 30
    while not holds():
        assert monotonic() < deadline
        sleep(0.01)


def test_what_is_there_is_answered_at_once():
    ring = Ring()
    assert until_some(lambda: [1], 50, ring) == [1]
    assert ring.wakes == []


def test_it_looks_when_it_is_woken_until_it_finds_something(db):
    looks = []

    def look():
        looks.append(1)
        return ["news"] if len(looks) == 3 else []

    ring = Ring()

    def wake_now_and_then():
        for seen in (1, 2):
            until(lambda seen=seen: len(looks) == seen and ring.wakes)
            ring.wakes[0]()

    waking = threading.Thread(target=wake_now_and_then)
    waking.start()
    assert until_some(look, 50, ring) == ["news"]
    waking.join()
    assert (len(looks), ring.left) == (3, 1)


def test_nothing_comes_and_it_ends_in_time():
    ring, begun = Ring(), monotonic()
    assert until_some(list, 0.1, ring) == []
    assert monotonic() - begun >= 0.1
    assert ring.left == 1


def test_further_ones_are_answered_at_once(monkeypatch):
    monkeypatch.setattr(waiting, "_places", BoundedSemaphore(2))
    ring, over, got = Ring(), threading.Event(), []

    def look():
        return [1] if over.is_set() else []

    def wait():
        got.append(until_some(look, 50, ring))

    threads = [threading.Thread(target=wait) for _ in range(2)]
    for thread in threads:
        thread.start()
    until(lambda: len(ring.wakes) == 2)
    # Else it would wait for far longer than this test may take.
    assert until_some(list, 3600, ring) == []
    over.set()
    for wake in ring.wakes:
        wake()
    for thread in threads:
        thread.join()
    assert (got, ring.left) == ([[1], [1]], 2)


@pytest.fixture
def world(transactional_db, monkeypatch):
    # They take the test's connection with them.
    monkeypatch.setattr(postbox, "close_old_connections", lambda: None)
    return a_world()


def a_postbox(*callers):
    """Without its thread: the test looks. Says who is woken."""
    box, woken = Postbox(_thread=object()), []
    for number, one in enumerate(callers):
        box.join(
            one.workspace_id,
            one.actor_id,
            lambda number=number: woken.append(number),
        )
    # Once at the beginning: what came before they joined.
    box.look()
    assert sorted(woken) == list(range(len(callers)))
    woken.clear()
    box._rung.clear()
    return box, woken


def test_a_thousand_who_wait_cost_two_statements_a_look(world):
    box, woken = a_postbox(*[world.worker] * 1000)
    gather_all()
    with CaptureQueriesContext(connection) as caught:
        box.look()
    assert len(caught) <= 2
    assert woken == []


def test_a_message_wakes_whom_it_is_for(world):
    other = a_person(world.workspace)
    box, woken = a_postbox(world.worker, other)
    send(world.owner, to=f"@{other.handle}", topic="hello")
    box.look()
    assert woken == [1]
    box.look()
    assert woken == [1]


def test_the_end_of_a_task_wakes_its_creator(world):
    world.add()
    held = world.claim()
    # The worker ends it, the owner has made it.
    box, woken = a_postbox(world.worker, a_person(world.workspace))
    assert woken == []
    complete(world.worker, **receipt(held), output=None)
    box.look()
    assert woken == []
    door = door_of(world.worker)
    door.post("/v1/tasks", {"title": "x", "queue": "q"})
    task = door.post("/v1/tasks:claim", {"queue": "q"}).json()
    ended = {"lease_token": task["lease_token"], "result": 1}
    assert (
        door.post(f"/v1/tasks/{task['task']['id']}:complete", ended).status_code < 300
    )
    box.look()
    assert woken == [0]


def test_only_what_concerns_somebody_rings(world):
    box, _ = a_postbox(world.worker)
    workspace = world.workspace.pk
    for one in (Nudge(uuid4()), Nudge(workspace, actor_id=uuid4())):
        box.heard([one])
        assert not box._rung.is_set()
    for words in ([Nudge(workspace)], [Nudge(workspace, uuid4(), uuid4())], None):
        box._rung.clear()
        box.heard(words)
        assert box._rung.is_set()


def test_a_pull_that_waits_gets_what_is_sent_meanwhile(transactional_db):
    world = a_world()

    def later():
        # Joined by then: the thread is there as long as somebody waits.
        until(lambda: postbox.POSTBOX._waiters)
        send(world.owner, to=f"@{world.worker.handle}", topic="hello", payload=1)
        connection.close()

    sending = threading.Thread(target=later)
    sending.start()
    door = door_of(world.worker)
    answer = door.post("/v1/messages:pull", {"wait_seconds": 50})
    sending.join()
    assert [one["payload"] for one in answer.json()] == [1]
    until(lambda: postbox.POSTBOX._thread is None)
