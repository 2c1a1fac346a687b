"""The board's page: what is on it, in which order, and at what price."""

import re
from datetime import timedelta

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils.timezone import now

from accounts.models import Actor
from accounts.roles import BoardRole, WorkspaceRole
from boards import access
from boards.models import Card
from boards.verbs.boards import set_board_member
from boards.verbs.columns import edit_column
from leases.verbs.give_back import fail
from tests.builders import a_person, a_world, make_due, receipt

pytestmark = pytest.mark.django_db
MOST_QUERIES = 25


def signed_in(caller):
    client = Client()
    client.force_login(Actor.objects.get(pk=caller.actor_id).user)
    return client


def page_of(world, query="", **headers):
    reply = signed_in(world.owner).get(f"/boards/{world.board}{query}", headers=headers)
    assert reply.status_code == 200
    return reply.content.decode()


def cards_on(html):
    return re.findall(r'data-card="([^"]+)"', html)


def queries(world, query=""):
    client = signed_in(world.owner)
    client.get(f"/boards/{world.board}")
    # Roles are kept for 2 s, which may or may not be over.
    access.forget()
    with CaptureQueriesContext(connection) as captured:
        assert client.get(f"/boards/{world.board}{query}").status_code == 200
    return len(captured)


def test_50_and_2000_cards_cost_the_same_queries(world):
    world.add_many(50, labels=["a"])
    for _ in range(5):
        world.claim()
    few = queries(world), queries(world, "?q=card&due=overdue")
    for _ in range(4):
        world.add_many(490)
    for _ in range(20):
        world.claim()
    many = queries(world), queries(world, "?q=card&due=overdue")
    assert few == many
    assert max(many) <= MOST_QUERIES


def test_cards_stand_in_the_order_in_which_they_are_claimed(world):
    for number in (5, 1, 3, 2, 4, 3, 1):
        world.add(priority=number)
    shown = cards_on(page_of(world))
    assert shown == [str(card) for card in world.claim_all()]


def test_the_order_written_on_the_cards_sorts_as_text_like_the_column(world):
    ids = [world.add(priority=priority) for priority in (3, 1, 5, 3)]
    Card.objects.filter(pk=ids[0]).update(position=-5_000_000_000)
    Card.objects.filter(pk=ids[3]).update(position=7)
    orders = re.findall(r'data-card="[^"]+" data-order="([^"]+)"', page_of(world))
    assert len(orders) == 4
    assert orders == sorted(orders)


def test_a_column_shows_50_cards_and_more_on_demand_and_counts_all(world):
    ids = [str(one) for one in world.add_many(120)]
    html = page_of(world)
    assert cards_on(html) == ids[:50]
    assert re.search(r"data-count[^>]*>120<", html)
    got = cards_on(html)
    client = signed_in(world.owner)
    while more := re.search(r'hx-get="([^"]+)"', html):
        url = more[1].replace("&amp;", "&")
        html = client.get(url, headers={"HX-Request": "true"}).content.decode()
        got += cards_on(html)
    assert got == ids


@pytest.mark.parametrize("after", ["", "x", "1,2", "1,2,3", "3,1,", "9" * 30 + ",1,x"])
def test_a_place_that_is_none_is_not_found(world, after):
    url = f"/boards/{world.board}/columns/{world.queue}/more?after={after}"
    reply = signed_in(world.owner).get(url, headers={"HX-Request": "true"})
    assert reply.status_code == 404


def test_every_state_is_said_in_words(world):
    world.set(
        input_schema={
            "required": ["payload"],
            "properties": {"payload": {"type": "object"}},
        },
        max_attempts=2,
    )
    fit = {"payload": {"a": 1}}
    failed, waiting = world.add("Breaks", **fit), world.add("Later", **fit)
    fail(world.worker, **receipt(world.claim()), reason="no such file", requeue=False)
    world.set(backoff_seconds=[3600])
    held = world.claim()
    fail(world.worker, **receipt(held), reason="busy")
    world.add("Odd", payload=None)
    world.add("Held", **fit)
    world.claim()
    html = page_of(world)
    assert held.card.id == waiting
    assert str(failed) in html
    for words in ("Failed", "no such file", "Waiting", ">Doesn't fit<", "/payload"):
        assert words in html, words
    assert "1/2" in html
    assert "data-expires" in html


def test_an_overdue_card_says_so(world):
    world.add("Late", due=now() - timedelta(days=3))
    assert "overdue by 3\xa0days" in page_of(world)


def test_the_wip_limit_is_a_signal(world):
    edit_column(world.owner, board_id=world.board, column_id=world.queue, wip_limit=2)
    world.add_many(3)
    assert "3 / 2" in page_of(world)
    assert "over the limit" in page_of(world)


def test_an_empty_queue_shows_how_to_feed_it_and_how_to_claim_from_it(world):
    html = page_of(world)
    assert f"/columns/{world.queue}:claim-next" in html
    assert "/v1/cards" in html
    assert str(world.queue) in html


@pytest.mark.parametrize(
    ("query", "titles"),
    [
        ("?q=needle", {"A needle"}),
        ("?label=red", {"Red"}),
        ("?state=working", {"Held"}),
        ("?state=waiting", {"Later"}),
        ("?due=overdue", {"Late"}),
        ("?due=soon", {"Late", "Soon"}),
        ("?q=needle&label=red", set()),
        (
            "?state=nonsense",
            {"A needle", "Red", "Held", "Later", "Late", "Soon", "Far"},
        ),
    ],
)
def test_filters_are_in_the_address(world, query, titles):
    held = world.add("Held", priority=1)
    later = world.add("Later", priority=1)
    assert world.claim().card.id == held
    fail(world.worker, **receipt(world.claim()), retry_after_seconds=600)
    assert Card.objects.get(pk=later).available_at
    world.add("A needle")
    world.add("Red", labels=["red", "blue"])
    world.add("Late", due=now() - timedelta(days=1))
    world.add("Soon", due=now() + timedelta(days=2))
    world.add("Far", due=now() + timedelta(days=20))
    html = page_of(world, query)
    found = re.findall(r'class="card-title[^>]*>([^<]+)</a>', html)
    assert set(found) == titles
    if "nonsense" not in query:
        assert f"{len(titles)} of 7" in html


def test_a_key_finds_its_card(world):
    card = world.add("Sought")
    world.add("Other")
    number = Card.objects.get(pk=card).number
    html = page_of(world, f"?q={world.owner.workspace_key.lower()}-{number}")
    assert cards_on(html) == [str(card)]


def test_holder_and_assignee_filter_by_handle(world):
    mine = world.add("Mine", assignee=world.owner.handle)
    world.add("Free")
    held = world.claim()
    assert cards_on(page_of(world, f"?assignee={world.owner.handle}")) == [str(mine)]
    holder = f"?holder={world.worker.handle}"
    assert cards_on(page_of(world, holder)) == [str(held.card.id)]


def test_a_part_is_no_page_and_signed_out_it_leads_to_the_sign_in(world):
    part = page_of(world, **{"HX-Request": "true"})
    assert part.lstrip().startswith('<div id="columns"')
    assert "<html" not in part
    reply = Client().get(f"/boards/{world.board}", headers={"HX-Request": "true"})
    assert reply.status_code == 401
    assert reply["HX-Redirect"].startswith("/sign-in")


def test_a_board_of_others_is_not_there(world):
    stranger = a_world()
    reply = signed_in(stranger.owner).get(f"/boards/{world.board}")
    assert reply.status_code == 404


def test_viewers_are_offered_no_changes(world):
    viewer = a_person(world.workspace, WorkspaceRole.MEMBER)
    set_board_member(
        world.owner, board_id=world.board, handle=viewer.handle, role=BoardRole.VIEWER
    )
    world.add()
    html = signed_in(viewer).get(f"/boards/{world.board}").content.decode()
    assert "role-1" in html
    assert "data-quick-add" not in html


def test_what_people_write_is_shown_literally(world):
    evil = "<img src=x onerror=alert(1)></div>\"'&"
    world.add(evil, labels=["<b>x</b>"])
    html = page_of(world)
    assert "<img src=x" not in html
    assert "<b>x</b>" not in html
    assert "&lt;img src=x onerror=alert(1)&gt;" in html


def test_a_due_card_that_waits_still_says_when(world):
    card = world.add()
    fail(world.worker, **receipt(world.claim()), retry_after_seconds=600)
    make_due(card)
    assert "data-until" in page_of(world)
