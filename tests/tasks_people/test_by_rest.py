"""Tasks as agents call them by REST: the seed's story, and what bad input is told."""

import pytest

from tests.builders import a_person, a_world, an_agent, card_row, event_types
from tests.doors.http import door_of


@pytest.fixture
def worker(world):
    return door_of(world.worker)


def created(door, **fields):
    answer = door.post("/v1/tasks", {"title": "A", "queue": "reports", **fields})
    assert answer.status_code == 201, answer.content
    return answer.json()["task"]


def test_the_story_of_a_report(world, worker):
    task = created(
        worker,
        title="Analyze report.csv",
        payload={"file": "reports/q3.csv"},
    )
    assert (task["state"], task["queue"], task["priority"]) == ("open", "reports", 3)
    assert task["created_by"] == f"@{world.worker.handle}"
    claimed = worker.post("/v1/tasks:claim", {"queue": "reports", "lease_seconds": 300})
    held = claimed.json()["task"]
    assert (held["id"], held["state"], held["attempts"]) == (task["id"], "claimed", 1)
    assert held["lease"]["holder"] == f"@{world.worker.handle}"
    assert held["payload"] == {"file": "reports/q3.csv"}
    assert worker.post("/v1/tasks:claim", {"queue": "reports"}).json()["task"] is None
    beat = worker.post(f"/v1/tasks/{task['id']}:heartbeat")
    assert beat.json()["expires_at"]
    done = worker.post(f"/v1/tasks/{task['id']}:complete", {"result": {"rows": 312}})
    assert done.json()["task"]["result"] == {"rows": 312}
    (message,) = worker.post("/v1/messages:pull", {"topics": "tasks.done"}).json()
    assert message["type"] == "task.done"
    assert message["correlation_id"] == task["id"]
    assert message["payload"]["status"] == "done"
    assert message["payload"]["result"] == {"rows": 312}


def test_an_agent_hands_work_to_a_person(world, worker):
    person = a_person(world.workspace)
    task = created(
        worker,
        queue="people",
        priority=1,
        title="Run 5 customer interviews",
        assignee=f"@{person.handle}",
    )
    theirs = door_of(person)
    started = theirs.post(f"/v1/tasks/{task['id']}:start").json()
    assert started["task"]["lease"]["expires_at"] is None
    theirs.post(f"/v1/tasks/{task['id']}:complete", {"result": {"text": "Done."}})
    (message,) = worker.post("/v1/messages:pull", {"topics": ["tasks.done"]}).json()
    assert message["payload"]["by"] == f"@{person.handle}"


def test_what_one_no_longer_holds_is_a_conflict_with_its_state(world, worker):
    task = created(worker)
    other = door_of(an_agent(world.workspace))
    other.post("/v1/tasks:claim", {"queue": "reports"})
    for verb in ("heartbeat", "complete", "fail", "give-back"):
        answer = worker.post(f"/v1/tasks/{task['id']}:{verb}")
        assert answer.status_code == 409
        problem = answer.json()
        assert problem["code"] == "conflict"
        assert problem["current"]["task"]["state"] == "claimed"
        assert problem["current"]["task"]["lease"]["holder"].startswith("@agent-")
        assert "lease_token" not in answer.content.decode()


@pytest.mark.parametrize(
    ("fields", "pointer"),
    [
        ({"assignee": "@nobody"}, "/assignee"),
        ({"priority": 0}, "/priority"),
        ({"priority": 6}, "/priority"),
        ({"queue": "No Such"}, "/queue"),
        ({"queue": ""}, "/queue"),
        ({"title": ""}, "/title"),
        ({"nonsense": 1}, "/nonsense"),
        ({"due": "tomorrow"}, "/due"),
        ({"parent": "00000000-0000-7000-8000-000000000000"}, "/parent"),
        ({"labels": ["x" * 51]}, "/labels"),
    ],
)
def test_a_bad_task_is_refused_by_field(worker, fields, pointer):
    answer = worker.post("/v1/tasks", {"title": "A", "queue": "reports", **fields})
    assert answer.status_code == 422
    assert [one["pointer"] for one in answer.json()["errors"]] == [pointer]


@pytest.mark.parametrize(
    ("fields", "status", "pointer"),
    [
        ({"queue": "nope"}, 404, "/queue"),
        ({"queue": "reports", "lease_seconds": 0}, 422, "/lease_seconds"),
        ({"queue": "reports", "lease_seconds": 3601}, 422, "/lease_seconds"),
        ({"queue": []}, 422, "/queue"),
        ({"queue": ["reports", "nope"]}, 404, "/queue"),
        ({}, 422, "/queue"),
    ],
)
def test_a_bad_claim_is_refused_by_field(worker, fields, status, pointer):
    task = created(worker)
    answer = worker.post("/v1/tasks:claim", fields)
    if answer.status_code == 200:
        assert answer.json()["task"]["id"] == task["id"]
        answer = worker.post("/v1/tasks:claim", fields)
    assert answer.status_code == status
    assert [one["pointer"] for one in answer.json()["errors"]] == [pointer]


def test_a_queue_of_another_workspace_is_unknown(world, worker):
    theirs = door_of(a_world().worker)
    created(theirs, queue="secret-reports")
    answer = worker.post("/v1/tasks:claim", {"queue": "secret-reports"})
    assert (answer.status_code, answer.json()["code"]) == (404, "unknown_queue")
    answer = worker.get("/v1/tasks", queue="secret-reports")
    assert answer.status_code == 404


def test_a_result_against_the_schema_names_its_place(world, worker):
    world.set(queue="reports", output_schema={"type": "object", "required": ["rows"]})
    task = created(worker)
    worker.post("/v1/tasks:claim", {"queue": "reports"})
    answer = worker.post(f"/v1/tasks/{task['id']}:complete", {"result": {}})
    assert (answer.status_code, answer.json()["code"]) == (422, "output_rejected")
    assert answer.json()["errors"][0]["pointer"].startswith("/result")


def test_lists_page_by_cursor(worker):
    ids = [created(worker, title=str(number))["id"] for number in range(5)]
    found, token = [], ""
    while True:
        page = worker.get("/v1/tasks", sort="age", page_size=2, page_token=token).json()
        found += [one["id"] for one in page["items"]]
        token = page["next_page_token"]
        if not token:
            break
    assert found == ids


def test_the_same_key_claims_the_same_task(worker):
    created(worker)
    created(worker)
    first, again = (
        worker.post(
            "/v1/tasks:claim",
            {"queue": "reports"},
            headers={"Idempotency-Key": "once"},
        ).json()
        for _ in range(2)
    )
    assert again["replayed"] is True
    assert again["task"]["id"] == first["task"]["id"]
    assert again["lease_token"] == first["lease_token"]


def test_messages_between_actors(world, worker):
    person = door_of(world.owner)
    answer = worker.post(
        "/v1/messages",
        {"to": f"@{world.owner.handle}", "topic": "plans", "payload": {"x": 1}},
    )
    assert answer.status_code == 201
    assert person.get("/v1/messages/topics").json() == [
        {"topic": "plans", "unread": 1, "total": 1}
    ]
    (message,) = person.get("/v1/messages", unread="true").json()["items"]
    assert (message["payload"], message["read_at"]) == ({"x": 1}, None)
    marked = person.post("/v1/messages:mark-read", {"ids": [message["id"]]}).json()
    assert marked == {"marked": 1, "unread": 0}
    refused = worker.post("/v1/messages", {"to": "@nobody", "topic": "plans"})
    assert refused.json()["errors"][0]["pointer"] == "/to"


def test_by_every_way_the_same_rows_and_events(world, worker):
    """Board verbs, tasks by REST, and a person's stack: one engine."""
    from leases.verbs.claim_card import claim_card
    from leases.verbs.complete import complete

    world.set(queue="reports", on_success_column_id=None)
    by_board = world.add("A")
    held = claim_card(world.worker, card_id=by_board)
    complete(
        world.worker,
        lease_id=held.lease.id,
        lease_token=held.lease_token,
        output={"x": 1},
    )
    by_task = created(worker)["id"]
    worker.post("/v1/tasks:claim", {"queue": "reports"})
    worker.post(f"/v1/tasks/{by_task}:complete", {"result": {"x": 1}})
    by_start = created(worker)["id"]
    person = door_of(world.owner)
    person.post(f"/v1/tasks/{by_start}:start")
    person.post(f"/v1/tasks/{by_start}:complete", {"result": {"x": 1}})
    stories = [event_types(one) for one in (by_board, by_task, by_start)]
    assert stories[0] == stories[1] == stories[2]
    kept = ("state", "output", "attempts", "version", "sequence", "column_id")
    rows = [
        [getattr(card_row(one), name) for name in kept]
        for one in (by_board, by_task, by_start)
    ]
    assert rows[0] == rows[1] == rows[2]
