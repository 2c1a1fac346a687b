"""The pages on dead letters, without a browser: what they show, ask and refuse."""

import re

import pytest
from django.test import Client

from accounts.models import Actor
from accounts.roles import BoardRole, WorkspaceRole
from boards import access
from boards.models import Card
from boards.verbs.boards import set_board_member
from boards.verbs.cards import edit_card
from supervision.models import BulkAction
from tests.builders import a_person, a_world, card_row
from tests.supervision.dead import SCHEMA, a_dead_letter, many_dead_letters

MAX_STATEMENTS = 25


def pages_of(caller):
    client = Client()
    client.force_login(Actor.objects.get(pk=caller.actor_id).user)
    return client


@pytest.fixture
def owner(world):
    return pages_of(world.owner)


def text(answer):
    return answer.content.decode()


def test_without_any_it_says_what_they_are(owner):
    assert "No dead letters" in text(owner.get("/dead-letters"))
    assert "matches" in text(owner.get("/dead-letters?q=nothing"))


def test_groups_cards_attempts_and_exact_numbers_are_shown(world, owner):
    world.set(max_attempts=2, backoff_seconds=[])
    world.add(title="<b>Odd</b>", payload={"n": 12345678901234567890123, "f": 1.10})
    world.fail_card(reason="Timeout after 9 s", requeue=True)
    world.fail_card(reason="Timeout after 31 s")
    shown = text(owner.get("/dead-letters"))
    assert "Timeout after &lt;n&gt; s" in shown
    assert "Timeout after 31 s" in shown
    assert "Timeout after 9 s" in shown
    assert "12345678901234567890123" in shown
    assert "<b>Odd" not in shown
    assert "2 attempts" in shown


def test_filters_are_in_the_address(world, owner):
    a_dead_letter(world, "Timeout after 1 s", title="Alpha", labels=["red"])
    a_dead_letter(world, "No file", title="Beta")
    for query, found in (
        ("q=alpha", "Alpha"),
        ("label=red", "Alpha"),
        ("group=No+file", "Beta"),
        (f"column={world.queue}&q=beta", "Beta"),
        (f"agent=%40{world.worker.handle}&q=Beta", "Beta"),
        ("since=2020-01-01&q=Beta", "Beta"),
    ):
        shown = text(owner.get(f"/dead-letters?{query}"))
        titles = set(re.findall(r'class="letter-title[^>]*>(\w+)<', shown))
        assert titles == {found}, query
    odd = ("since=0001-01-01T00:00%2B23:59", "until=9999-12-31")
    plain = ("until=2020-01-01", "agent=nobody", "board=x", "since=x", "page=x")
    for query in (*plain, *odd):
        assert owner.get(f"/dead-letters?{query}", follow=True).status_code == 200
    for name in ("q", "group"):
        refused = owner.get(f"/dead-letters?{name}=%00", follow=True)
        assert refused.status_code == 422
        assert f"{name}: The text holds U+0000" in text(refused)


def test_any_number_of_rows_costs_the_same(world, owner, django_assert_max_num_queries):
    many_dead_letters(world, 300, reasons=9)
    with django_assert_max_num_queries(MAX_STATEMENTS):
        shown = text(owner.get("/dead-letters"))
    assert shown.count('data-letter="') == 20
    assert "Older ones" in shown
    page = re.search(r'href="\?(page=[^"]+)"', shown)[1]
    with django_assert_max_num_queries(MAX_STATEMENTS):
        assert text(owner.get(f"/dead-letters?{page}")).count('data-letter="') == 20


def test_a_dry_run_comes_first_and_its_number_counts(world, owner):
    world.set(input_schema=SCHEMA)
    a_dead_letter(world, payload={"url": "u"})
    misfit = a_dead_letter(world, payload={"url": "u"})
    edit_card(world.owner, card_id=misfit, payload={})
    checked = text(owner.get("/dead-letters/check?do=retry&all=1"))
    assert "Retry 1 card" in checked
    assert "required" in checked
    fields = dict(re.findall(r'type="hidden" name="(\w+)" value="([^"]*)"', checked))
    assert fields["expect"] == "1"
    late = a_dead_letter(world, payload={"url": "u"})
    answer = owner.post("/dead-letters/run", fields)
    assert re.fullmatch(r"/dead-letters/actions/[0-9a-f-]{36}", answer.url)
    assert card_row(late).state == "failed"
    shown = text(owner.get(answer.url))
    assert "Finished" in shown
    assert "input schema" in shown
    assert BulkAction.objects.get().done == 1


def test_moving_asks_where_and_discarding_why(world, owner):
    card = a_dead_letter(world)
    asked = text(owner.get(f"/dead-letters/check?do=move&card={card}"))
    assert "To which column?" in asked
    assert 'name="expect"' not in asked
    asked = text(owner.get(f"/dead-letters/check?do=move&card={card}&to={world.done}"))
    assert "Move 1 card" in asked
    form = {"do": "discard", "card": card, "expect": 1}
    owner.post("/dead-letters/run", form)
    assert card_row(card).archived_at is None
    owner.post("/dead-letters/run", {**form, "reason": "Old"})
    assert card_row(card).archived_at is not None


def test_what_was_typed_stays_where_it_does_not_fit(world, owner):
    world.set(input_schema=SCHEMA)
    card = a_dead_letter(world, payload={"url": "u"})
    path = f"/dead-letters/{card}/edit"
    form = {"version": card_row(card).version, "payload": '{"uri": 1}'}
    for wrong in (form["payload"], "{not json"):
        answer = owner.post(path, {**form, "payload": wrong})
        assert answer.status_code == 422
        assert wrong.replace('"', "&quot;") in text(answer)
    assert card_row(card).state == "failed"
    right = owner.post(path, {**form, "payload": '{"url": 9007199254740991}'})
    assert right.status_code == 302, text(right)
    assert card_row(card).state == "open"
    assert card_row(card).payload == {"url": 9007199254740991}


def test_a_running_one_can_be_stopped_or_gone_on_with(world, owner, monkeypatch):
    monkeypatch.setattr("supervision.bulk.actions.AT_ONCE", 0)
    many_dead_letters(world, 3)
    here = owner.post("/dead-letters/run", {"do": "retry", "all": "1"}).url
    assert "Running" in text(owner.get(here))
    BulkAction.objects.update(touched_at="2020-01-01T00:00:00Z")
    assert "no worker seems to run" in text(owner.get(here))
    owner.post(f"{here}/go-on")
    assert "Finished" in text(owner.get(here))
    many_dead_letters(world, 3)
    here = owner.post("/dead-letters/run", {"do": "retry", "all": "1"}).url
    owner.post(f"{here}/stop")
    assert "Stopped" in text(owner.get(here, HTTP_HX_REQUEST="true"))
    assert Card.objects.filter(state="failed").count() == 3


def test_viewers_see_no_action_and_are_refused_each(world, owner):
    card = a_dead_letter(world)
    other = a_dead_letter(world)
    here = owner.post("/dead-letters/run", {"do": "retry", "card": other}).url
    ann = a_person(world.workspace, WorkspaceRole.MEMBER)
    set_board_member(
        world.owner, board_id=world.board, handle=ann.handle, role=BoardRole.VIEWER
    )
    access.forget()
    viewer = pages_of(ann)
    shown = text(viewer.get("/dead-letters"))
    assert "Timeout" in shown
    for word in ("/dead-letters/check?", "data-pick", 'name="do"', "Edit input"):
        assert word not in shown
    before = card_row(card)
    form = {"card": card, "to": world.done, "reason": "x"}
    for verb in ("retry", "move", "discard"):
        viewer.post("/dead-letters/run", {**form, "do": verb})
        viewer.post("/dead-letters/run", {**form, "do": verb, "all": "1"})
        viewer.get(f"/dead-letters/check?do={verb}&card={card}&to={world.done}")
    viewer.post(f"/dead-letters/{card}/edit", {"payload": "1", "version": 3})
    BulkAction.objects.update(state="running")
    viewer.post(f"{here}/stop")
    viewer.post(f"{here}/go-on")
    assert "Stop" not in text(viewer.get(here)).split("<main")[1]
    assert BulkAction.objects.get().state == "running"
    assert card_row(card).version == before.version
    stranger = pages_of(a_world().owner)
    assert stranger.get(here).status_code == 404
    assert stranger.get(f"/dead-letters/{card}/edit").status_code == 404
