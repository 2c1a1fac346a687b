"""The activity's page and its files: scoped, filtered, bounded."""

import csv
import json
from io import StringIO

import pytest
from django.test import Client

from accounts.models import Actor
from accounts.roles import WorkspaceRole
from boards import activity as reading
from boards.models import Event
from boards.verbs.boards import edit_board
from leases.verbs.complete import complete
from novum.web import activity
from tests.builders import a_person, a_world, receipt


@pytest.fixture
def busy(world):
    a_world().add("Elsewhere")
    for number in range(5):
        world.add(f"Write {number}")
    complete(world.worker, **receipt(world.claim()))
    world.add("=1+2 <b>")
    return world


def signed_in(caller):
    client = Client()
    client.force_login(Actor.objects.get(pk=caller.actor_id).user)
    return client


def page(world, **asked):
    answer = signed_in(world.owner).get("/activity", asked)
    assert answer.status_code == 200
    return answer.content.decode()


def taken(world, format, caller=None, **asked):
    answer = signed_in(caller or world.owner).get(
        "/activity/export", {**asked, "format": format}
    )
    assert answer.status_code == 200
    return answer, b"".join(answer.streaming_content).decode()


def test_each_event_is_a_sentence_with_its_card(busy):
    shown = page(busy)
    assert "completed it" in shown
    assert "Write 0" in shown
    assert "=1+2 &lt;b&gt;" in shown
    assert "Elsewhere" not in shown
    assert shown.count('class="log-line"') > 10


def test_filters_are_in_the_address(busy):
    assert "completed it" in page(busy, kind="agents")
    assert "made the card" not in page(busy, kind="agents")
    assert "completed it" not in page(busy, kind="people")
    assert "made the board" in page(busy, type="board.*")
    Event.objects.create(
        workspace=busy.workspace, type="task.done", board_id=busy.board
    )
    assert "ended the task" not in page(busy)
    assert "ended the task" in page(busy, type="task.done")
    assert "Nothing like that" in page(busy, until="2001-01-01")
    # What makes no sense is no condition.
    assert "completed it" in page(busy, kind="cats", since="soon", board="x", until="9")


def test_what_cannot_be_seen_or_is_no_cursor_leads_back(busy):
    other = a_world()
    client = signed_in(busy.owner)
    for asked in ({"board": other.board}, {"before": "x"}, {"card": other.add()}):
        assert client.get("/activity", asked).headers["Location"] == "/activity"
    assert client.get("/activity/export", {"board": other.board}).status_code == 404
    assert Client().get("/activity").status_code == 302


def test_pages_go_on_by_their_links_and_only_the_first_is_live(busy, monkeypatch):
    monkeypatch.setattr(activity, "PER_PAGE", 4)
    first = signed_in(busy.owner).get("/activity")
    assert "data-live-part" in first.content.decode()
    second = signed_in(busy.owner).get("/activity?" + first.context["older"])
    assert "data-live-part" not in second.content.decode()
    ids = [[str(row[0].id) for row in one.context["rows"]] for one in (first, second)]
    assert len(ids[0]) == len(ids[1]) == 4
    assert min(ids[0]) > max(ids[1])
    part = signed_in(busy.owner).get("/activity", headers={"HX-Request": "true"})
    assert part.content.decode().lstrip().startswith('<div id="log"')


@pytest.mark.parametrize("asked", [{}, {"kind": "people"}, {"type": "card.*"}])
def test_a_page_costs_the_same_however_much_there_is(
    busy, django_assert_max_num_queries, asked
):
    busy.add_many(60)
    client = signed_in(busy.owner)
    client.get("/activity")
    with django_assert_max_num_queries(25):
        client.get("/activity", asked)


def test_a_table_can_be_taken_away_without_formulas(busy, monkeypatch):
    monkeypatch.setattr(activity, "PER_BATCH", 3)
    answer, text = taken(busy, "csv", type="card.*")
    assert answer["Content-Type"] == "text/csv; charset=utf-8"
    rows = list(csv.DictReader(StringIO(text)))
    assert [row["id"] for row in rows] == sorted((r["id"] for r in rows), reverse=True)
    titles = [row["title"] for row in rows]
    assert "'=1+2 <b>" in titles
    assert not [
        cell
        for row in rows
        for cell in row.values()
        if cell.startswith(activity.FORMULA)
    ]
    assert len(rows) == 8


def test_so_can_lines_of_json_of_what_may_be_seen(busy):
    _, text = taken(busy, "jsonl", kind="agents")
    (claimed, completed) = reversed([json.loads(line) for line in text.splitlines()])
    assert (claimed["type"], completed["type"]) == (
        "card.lease.claimed",
        "card.lease.completed",
    )
    assert completed["actor"] == busy.worker.handle
    edit_board(busy.owner, board_id=busy.board, default_role=None)
    member = a_person(busy.workspace, WorkspaceRole.MEMBER)
    assert taken(busy, "jsonl", member)[1] == ""


def test_an_export_holds_one_batch_at_a_time(busy, monkeypatch):
    monkeypatch.setattr(activity, "PER_BATCH", 2)
    asked = []
    real = reading.activity

    def counted(*arguments, **more):
        asked.append(more["limit"])
        return real(*arguments, **more)

    monkeypatch.setattr(reading, "activity", counted)
    answer = signed_in(busy.owner).get("/activity/export", {"format": "jsonl"})
    first = next(iter(answer.streaming_content))
    assert first.count(b"\n") == 2
    assert asked == [2]
