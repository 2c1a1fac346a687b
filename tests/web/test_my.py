"""My tasks without a browser: forms, rules, what is said, and at what price."""

import re

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts.models import Actor
from accounts.roles import WorkspaceRole
from boards import access
from boards.models import Card
from leases.verbs.set_contract import Terms, set_contract
from tasks_people.queues import find, forget
from tasks_people.stack import stack
from tasks_people.verbs.create import create
from tasks_people.verbs.hold import give_back
from tasks_people.verbs.messages import pull
from tasks_people.verbs.people import start
from tests.builders import a_person, a_world, card_row
from tests.web.account.conftest import client_of

pytestmark = pytest.mark.django_db
MOST_QUERIES = 20
NASTY = '"><script>alert(1)</script><img src=x onerror=alert(1)>{{ csrf_token }}'
SCHEMA = {
    "type": "object",
    "required": ["rows", "verdict"],
    "properties": {
        "rows": {"type": "integer", "minimum": 0, "description": "How many."},
        "verdict": {"enum": ["good", "bad"]},
        "names": {"type": "array", "items": {"type": "string"}},
        "by": {"type": "object", "properties": {"team": {"type": "string"}}},
    },
}


@pytest.fixture
def world():
    return a_world()


@pytest.fixture
def ann(world):
    return client_of(world.owner)


@pytest.fixture
def ben(world):
    return a_person(world.workspace, WorkspaceRole.MEMBER)


def a_task(world, title="Call", **fields):
    return create(world.worker, **{"queue": "people", "title": title, **fields})


def demand(world, schema):
    """What the queue `people` wants of a result."""
    forget()
    queue = find(world.owner, "people")
    set_contract(
        world.owner,
        board_id=queue.board_id,
        column_id=queue.column_id,
        terms=Terms(
            enabled=True, queue="people", lease_ttl_seconds=None, output_schema=schema
        ),
    )


def page(client, query=""):
    reply = client.get(f"/my{query}")
    assert reply.status_code == 200
    return reply.content.decode()


def titles_of(html):
    return re.findall(r'data-choose="[^"]+">([^<]+)</a>', html)


def said(client, url, **fields):
    """The notice that a form without scripts comes back to."""
    reply = client.post(url, fields, follow=True)
    return " ".join(str(one) for one in reply.context["messages"])


def test_one_for_now_two_next_and_the_rest_later(world, ann):
    for number in range(6):
        a_task(world, f"Task {number}", priority=1 + number % 5)
    html = page(ann)
    assert 'id="now-title">Task 0<' in html
    assert titles_of(html) == ["Task 5", "Task 1", "Task 2", "Task 3", "Task 4"]
    assert re.search(r"data-later>3<", html)


def test_another_one_can_be_chosen_and_keeps_its_number(world, ann):
    made = [a_task(world, f"Task {number}") for number in range(4)]
    html = page(ann, f"?task={made[1]}")
    assert 'id="now-title">Task 1<' in html
    assert titles_of(html) == ["Task 0", "Task 2", "Task 3"]
    assert re.findall(r'<kbd class="row-key"[^>]*>(\d)<', html) == ["2", "1", "3"]


def test_nothing_to_do_teaches_how_an_agent_hands_over(world, ann):
    html = page(ann)
    assert "Nothing to do" in html
    assert f"novum tasks.create queue=people assignee=@{world.owner.handle}" in html


def test_a_round_by_forms_alone_ends_in_the_creators_message(world, ann):
    made = a_task(world, payload={"file": "q3.csv"})
    assert "<dt" in page(ann)
    ann.post(f"/my/{made}/start")
    assert "You are at it" in page(ann)
    notice = said(ann, f"/my/{made}/finish", **{"result/text": "Five calls."})
    assert "Done" in notice
    (message,) = pull(world.worker, topics="tasks.done")
    assert message.payload["result"] == {"text": "Five calls."}
    assert message.payload["by"] == f"@{world.owner.handle}"


def test_the_form_of_a_result_is_made_from_the_schema(world, ann):
    made = a_task(world)
    demand(world, SCHEMA)
    before = page(ann)
    assert "What is expected of the result" in before
    assert "How many." in before
    start(world.owner, task_id=made)
    html = page(ann)
    for name in ("result/rows", "result/verdict", "result/names", "result/by/team"):
        assert f'name="{name}"' in html
    sent = {
        "result/rows": "12",
        "result/verdict": "good",
        "result/names": "a\r\n\r\nb",
        "result/by/team": "north",
    }
    ann.post(f"/my/{made}/finish", sent)
    assert card_row(made).output == {
        "rows": 12,
        "verdict": "good",
        "names": ["a", "b"],
        "by": {"team": "north"},
    }


def test_what_does_not_fit_comes_back_at_its_field_with_what_was_typed(world, ann):
    made = a_task(world)
    demand(world, SCHEMA)
    start(world.owner, task_id=made)
    sent = {"result/rows": "-3", "result/verdict": "bad", "result/names": "kept"}
    reply = ann.post(f"/my/{made}/finish", sent)
    html = reply.content.decode()
    assert reply.status_code == 422
    assert re.search(r'id="result-rows-error">[^<]*0', html)
    assert 'value="-3"' in html
    assert "kept</textarea>" in html
    assert card_row(made).state == "claimed"


def test_the_result_can_be_written_as_json(world, ann):
    made = a_task(world)
    demand(world, SCHEMA)
    start(world.owner, task_id=made)
    reply = ann.post(f"/my/{made}/finish", {"json": '{"rows": "x"}'})
    assert reply.status_code == 422
    assert "/result/rows" in reply.content.decode()
    ann.post(f"/my/{made}/finish", {"json": '{"rows": 1, "verdict": "bad"}'})
    assert card_row(made).output == {"rows": 1, "verdict": "bad"}


def test_who_comes_second_reads_who_has_it(world, ann, ben):
    made = a_task(world)
    start(ben, task_id=made)
    assert said(ann, f"/my/{made}/start") == f"@{ben.handle} is working on this task."


def test_what_was_written_is_given_back_when_the_task_is_gone(world, ann, ben):
    made = a_task(world)
    start(world.owner, task_id=made)
    give_back(world.owner, task_id=made)
    start(ben, task_id=made)
    reply = ann.post(f"/my/{made}/finish", {"result/text": "All my work"})
    assert reply.status_code == 409
    assert "All my work" in reply.content.decode()


def test_given_back_with_a_note_the_next_one_reads_it(world, ann, ben):
    made = a_task(world)
    start(world.owner, task_id=made)
    ann.post(f"/my/{made}/give-back", {"note": "Ask for the new list"})
    html = page(client_of(ben))
    assert "gave it back" in html
    assert "Ask for the new list" in html


def test_declined_the_creator_hears_why(world, ann):
    made = a_task(world)
    assert "Say why" in said(ann, f"/my/{made}/decline", reason=" ")
    ann.post(f"/my/{made}/decline", {"reason": "Not my field"})
    (message,) = pull(world.worker, topics="tasks.done")
    assert message.payload["status"] == "declined"
    assert message.payload["error"] == "Not my field"


def test_priority_and_order_change_what_comes_first(world, ann):
    one, two, three = (a_task(world, f"Task {number}") for number in range(3))
    ann.post(f"/my/{two}/priority", {"priority": "1"})
    assert [item.id for item in stack(world.owner).items] == [two, one, three]
    ann.post(f"/my/{three}/move", {"before": str(one)})
    assert [item.id for item in stack(world.owner).items] == [two, three, one]
    assert ann.post(f"/my/{one}/move", {"before": "x"}, follow=True).status_code == 200


def test_own_tasks_are_added_and_handed_over(world, ann, ben):
    ann.post("/my/add", {"title": "Buy tea", "priority": "2", "description": "Green"})
    (item,) = stack(world.owner).items
    assert item.view.card.assignee_id == world.owner.actor_id
    assert stack(ben).items == []
    ann.post(f"/my/{item.id}/hand-over", {"assignee": f"@{ben.handle}"})
    assert [one.id for one in stack(ben).items] == [item.id]
    assert "Nobody here is" in said(
        client_of(ben), f"/my/{item.id}/hand-over", assignee="nobody-at-all"
    )


def test_a_task_without_a_title_stays_in_its_form(world, ann):
    reply = ann.post("/my/add", {"title": "", "priority": "3", "description": "Kept"})
    assert reply.status_code == 422
    assert "Kept" in reply.content.decode()


def test_what_agents_write_never_becomes_markup(world, ann, ben):
    Actor.objects.filter(pk=world.worker.actor_id).update(name=NASTY[:100])
    made = a_task(world, NASTY, description=NASTY, payload={NASTY: NASTY})
    demand(
        world,
        {
            "type": "object",
            "properties": {
                NASTY: {"type": "string", "title": NASTY, "description": NASTY},
                "x": {"enum": [NASTY]},
            },
        },
    )
    start(ben, task_id=made)
    give_back(ben, task_id=made, note=NASTY)
    before = page(ann)
    start(world.owner, task_id=made)
    typed = {f"result/{NASTY}": NASTY, "json": NASTY}
    refused = ann.post(f"/my/{made}/finish", typed).content.decode()
    for html in (before, page(ann), refused):
        assert "<script>alert" not in html
        assert "<img" not in html


def queries(client, query=""):
    client.get("/my")
    access.forget()
    with CaptureQueriesContext(connection) as captured:
        assert client.get(f"/my{query}").status_code == 200
    return len(captured)


def test_5_and_500_tasks_cost_the_same_queries(world, ann):
    made = [a_task(world, f"Task {number}") for number in range(5)]
    start(world.owner, task_id=made[0])
    few = queries(ann), queries(ann, f"?task={made[3]}")
    home = card_row(made[0])
    Card.objects.bulk_create(
        Card(
            workspace_id=home.workspace_id,
            board_id=home.board_id,
            column_id=home.column_id,
            number=1000 + number,
            title=f"More {number}",
            state="open",
            position=home.position + 1000 * (number + 1),
            created_by_id=home.created_by_id,
        )
        for number in range(500)
    )
    many = queries(ann), queries(ann, f"?task={made[3]}")
    assert "501" in page(ann) or "502" in page(ann)
    assert few == many
    assert max(many) <= MOST_QUERIES, many
