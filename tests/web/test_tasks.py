"""The Tasks page without a browser: states, filters, paging, adding, its price."""

import re

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from boards import access
from boards.models import Card
from tasks_people import queues
from tasks_people.reads import tasks_by_ids
from tasks_people.verbs.claim import claim
from tasks_people.verbs.create import create
from tasks_people.verbs.hold import complete, fail
from tests.builders import a_world, an_agent, card_row
from tests.web.account.conftest import client_of

pytestmark = pytest.mark.django_db
MOST_QUERIES = 20


@pytest.fixture
def world():
    return a_world()


@pytest.fixture
def ann(world):
    return client_of(world.owner)


def page(client, query="", **headers):
    reply = client.get(f"/tasks{query}", headers=headers)
    assert reply.status_code == 200
    return reply.content.decode()


def columns(html):
    """The titles by state."""
    parts = re.split(r'<ol class="cards" data-state="(\w+)"', html)[1:]
    return {
        state: re.findall(r'data-card-link href="[^"]+">([^<]+)<', body)
        for state, body in zip(parts[::2], parts[1::2], strict=True)
    }


def one_of_each(world):
    for title in ("Done", "Failed", "Claimed", "Open"):
        create(world.worker, queue="reports", title=title)
    done, failed, _ = (claim(world.worker, queue="reports").task for _ in range(3))
    complete(world.worker, task_id=done.id, result={"rows": 1})
    fail(world.worker, task_id=failed.id, error="No file")


def test_every_state_has_its_column_over_all_queues(world, ann):
    one_of_each(world)
    create(world.worker, queue="people", title="Call", priority=1)
    world.add("On a board")
    html = page(ann)
    found = columns(html)
    assert found["open"] == ["Call", "Open", "On a board"]
    assert found["claimed"] == ["Claimed"]
    assert found["done"] == ["Done"]
    assert found["failed"] == ["Failed"]
    assert "reports</bdi>" in html


def test_the_filter_is_the_address(world, ann):
    one_of_each(world)
    create(world.worker, queue="people", title="Call")
    assert columns(page(ann, "?queue=people"))["open"] == ["Call"]
    mine = columns(page(ann, f"?who={world.worker.handle}"))
    assert mine == {
        "open": [],
        "claimed": ["Claimed"],
        "done": ["Done"],
        "failed": ["Failed"],
    }


@pytest.mark.parametrize("query", ["?queue=nothing", "?queue=A+b", "?who=nobody"])
def test_a_filter_of_what_is_not_there_says_so_and_shows_all(world, ann, query):
    one_of_each(world)
    html = page(ann, query)
    assert 'class="filter-state"' in html
    assert columns(html)["open"] == ["Open"]


def many_done(world, number):
    create(world.worker, queue="reports", title="First")
    home = card_row(claim(world.worker, queue="reports").task.id)
    Card.objects.bulk_create(
        Card(
            workspace_id=home.workspace_id,
            board_id=home.board_id,
            column_id=home.column_id,
            number=1000 + count,
            title=f"Old {count}",
            state="done",
            position=home.position + 1000 * (count + 1),
            created_by_id=home.created_by_id,
        )
        for count in range(number)
    )


def test_the_latest_30_and_the_count_of_older_ones_with_a_way_to_them(world, ann):
    many_done(world, 75)
    html = page(ann)
    assert len(columns(html)["done"]) == 30
    assert "45 older" in html
    shown = set(columns(html)["done"])
    url = re.search(r'href="(/tasks/older/done[^"]+)"', html)[1].replace("&amp;", "&")
    for left in (15, 0):
        part = ann.get(url, headers={"HX-Request": "true"}).content.decode()
        assert ann.get(url).status_code == 200
        shown |= set(re.findall(r">(Old \d+)<", part))
        following = re.search(r'href="(/tasks/older/done[^"]+)"', part)
        assert bool(following) == bool(left)
        url = following[1].replace("&amp;", "&") if following else ""
    assert len(shown) == 75


def test_a_task_is_added_to_any_queue_for_anybody(world, ann):
    sent = {
        "title": "Count",
        "queue": "new-one",
        "priority": "2",
        "assignee": world.worker.handle,
        "payload": '{"file": "a.csv"}',
    }
    assert ann.post("/tasks", sent).status_code == 302
    card = Card.objects.get(title="Count")
    (task,) = tasks_by_ids(world.owner, [card.pk])
    assert (task.queue, task.priority) == ("new-one", 2)
    assert task.payload == {"file": "a.csv"}
    assert task.assignee == f"@{world.worker.handle}"


@pytest.mark.parametrize(
    ("wrong", "place"),
    [
        ({"queue": "Not A Name"}, "new_queue_error"),
        ({"payload": "{a"}, "new_payload_error"),
        ({"title": ""}, "new_title_error"),
    ],
)
def test_what_does_not_fit_is_said_at_its_field(world, ann, wrong, place):
    sent = {"title": "Count", "queue": "reports", "priority": "3", **wrong}
    reply = ann.post("/tasks", sent)
    assert reply.status_code == 422
    assert f'id="{place}"' in reply.content.decode()


def test_a_link_without_a_board_finds_the_card(world, ann):
    made = create(world.worker, queue="people", title="Call")
    board = card_row(made).board_id
    assert ann.get(f"/tasks/{made}").url == f"/boards/{board}/cards/{made}"


def test_another_workspace_sees_none_of_it(world):
    one_of_each(world)
    other = a_world()
    found = columns(page(client_of(other.owner)))
    assert not any(found.values())
    made = create(world.worker, queue="people", title="Call")
    assert client_of(other.owner).get(f"/tasks/{made}").status_code == 404


def queries(client, query=""):
    client.get(f"/tasks{query}")
    access.forget()
    queues.forget()
    with CaptureQueriesContext(connection) as captured:
        assert client.get(f"/tasks{query}").status_code == 200
    return len(captured)


def test_4_and_2000_tasks_cost_the_same_queries(world, ann):
    one_of_each(world)
    query = f"?queue=reports&who={world.worker.handle}"
    few = queries(ann), queries(ann, query)
    many_done(world, 2000)
    create(an_agent(world.workspace), queue="more", title="More")
    many = queries(ann), queries(ann, query)
    assert few == many
    assert max(many) <= MOST_QUERIES, many
