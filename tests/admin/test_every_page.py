"""Every page of every registered model, with rows, as a browser gets it."""

import re
from base64 import b64encode
from html.parser import HTMLParser

import pytest
from django.contrib import admin
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts.models import Actor, RememberedCall, User, WorkerToken, Workspace
from boards.models import Board, Card, Column, Comment, Event
from leases.models import Contract, Lease, Slot
from tests.admin.pages import (
    MODELS,
    NAMES,
    change_page,
    list_page,
    make_rows,
    page,
    sign_in,
    user_of,
)
from tests.builders import a_person, a_token, a_workspace

OURS = (Workspace, User, Actor, WorkerToken, Board, Column, Card, Comment, Event)
READ_ONLY = (WorkerToken, Comment, Event, Lease)


@pytest.fixture
def superuser(world, client):
    sign_in(client, user_of(world.owner), is_superuser=True)
    return client


def test_everything_people_and_agents_work_with_has_a_page():
    assert {*OURS, Contract, Lease} <= set(MODELS)
    assert RememberedCall not in MODELS
    assert Slot not in MODELS


def test_no_list_asks_the_database_more_often_for_more_rows(world, superuser):
    def queries(model):
        with CaptureQueriesContext(
            connection,
        ) as captured:
            answer = superuser.get(list_page(model))
        assert answer.status_code == 200
        return len(answer.context["cl"].result_list), len(captured)

    make_rows(world, 5)
    # What Django remembers for the life of the process isn't a row's cost.
    for model in MODELS:
        superuser.get(list_page(model))
    few = {model._meta.label: queries(model) for model in MODELS}
    make_rows(world, 45)
    many = {model._meta.label: queries(model) for model in MODELS}
    assert {label: count for label, (_, count) in many.items()} == {
        label: count for label, (_, count) in few.items()
    }
    assert min(rows for rows, _ in few.values()) >= 5
    assert min(rows for rows, _ in many.values()) >= 50


@pytest.mark.parametrize("model", MODELS, ids=NAMES)
def test_every_row_has_its_page(model, world, superuser):
    make_rows(world, 2)
    for row in model.objects.all():
        answer = superuser.get(change_page(row))
        assert answer.status_code == 200, row
        assert superuser.get(page(model, "history", row.pk)).status_code == 200


@pytest.mark.parametrize("model", MODELS, ids=NAMES)
def test_every_list_can_be_searched_and_filtered(model, world, superuser):
    make_rows(world, 2)
    for term in ("NOV-1", "card", "0", str(world.board), "'", '"a b"', "x" * 300):
        answer = superuser.get(list_page(model), {"q": term})
        assert answer.status_code == 200, term
    for spec in superuser.get(list_page(model)).context["cl"].filter_specs:
        for choice in spec.choices(superuser.get(list_page(model)).context["cl"]):
            query = choice["query_string"]
            assert superuser.get(list_page(model) + query).status_code == 200, query


@pytest.mark.parametrize("model", MODELS, ids=NAMES)
def test_no_page_is_for_people_without_staff_status(model, world, client):
    make_rows(world, 1)
    row = model.objects.first()
    urls = [list_page(model), change_page(row), page(model, "add")]
    for user in (None, user_of(a_person(world.workspace))):
        if user:
            client.force_login(user)
        for url in urls:
            answer = client.get(url)
            assert answer.status_code == 302
            assert answer.url.startswith("/admin/login/")


@pytest.mark.parametrize("model", MODELS, ids=NAMES)
def test_staff_without_the_permission_gets_no_page(model, world, client):
    make_rows(world, 1)
    sign_in(client, user_of(a_person(world.workspace)))
    assert client.get(list_page(model)).status_code == 403
    assert client.get(change_page(model.objects.first())).status_code == 403


@pytest.mark.parametrize("model", [*OURS, Contract, Lease])
def test_nothing_can_be_deleted(model, world, superuser):
    make_rows(world, 1)
    row = model.objects.first()
    assert (
        superuser.post(page(model, "delete", row.pk), {"post": "yes"}).status_code
        == 403
    )
    chosen = {"action": "delete_selected", "_selected_action": [str(row.pk)]}
    answer = superuser.post(list_page(model), chosen | {"post": "yes"}, follow=True)
    actions = answer.context["action_form"]
    assert "delete_selected" not in dict(
        actions.fields["action"].choices if actions else []
    )
    assert model.objects.filter(pk=row.pk).exists()


@pytest.mark.parametrize("model", READ_ONLY)
def test_what_is_to_look_at_can_neither_be_added_nor_changed(model, world, superuser):
    make_rows(world, 1)
    row = model.objects.first()
    before = model.objects.filter(pk=row.pk).values().get()
    assert superuser.get(page(model, "add")).status_code == 403
    assert superuser.post(page(model, "add"), {}).status_code == 403
    assert superuser.post(change_page(row), {"state": "active"}).status_code == 403
    assert model.objects.filter(pk=row.pk).values().get() == before
    assert 'name="_save"' not in superuser.get(change_page(row)).content.decode()


def test_no_page_shows_a_secret(world, superuser):
    secret, token = a_token(Actor.objects.get(pk=world.worker.actor_id))
    world.add()
    held = world.claim()
    lease = Lease.objects.get(pk=held.lease.id)
    hidden = [secret, held.lease_token, user_of(world.owner).password or "no password"]
    for raw in (bytes(token.digest), bytes(lease.nonce)):
        hidden += [raw.hex(), b64encode(raw).decode(), repr(raw)]
    rows = [
        *WorkerToken.objects.all(),
        lease,
        *Event.objects.all(),
        *Card.objects.all(),
    ]
    urls = [list_page(model) for model in MODELS] + [change_page(row) for row in rows]
    for url in urls:
        text = superuser.get(url).content.decode()
        assert not [one for one in hidden if one in text], url
        assert "nonce:" not in text.lower()
        assert "digest" not in text.lower()


@pytest.mark.parametrize(
    ("model", "lookup"),
    [
        (WorkerToken, "digest__startswith"),
        (WorkerToken, "digest"),
        (Lease, "nonce__gt"),
        (Lease, "token__digest__startswith"),
        (Actor, "user__password__startswith"),
        (User, "password__startswith"),
    ],
)
def test_no_secret_can_be_guessed_by_filtering(model, lookup, superuser):
    assert superuser.get(list_page(model), {lookup: "a"}).status_code == 400


class Inline(HTMLParser):
    """Collects what a strict Content-Security-Policy would not run."""

    def __init__(self):
        super().__init__()
        self.found = []

    def handle_starttag(self, tag, attributes):
        names = dict(attributes)
        if tag == "script" and "src" not in names:
            self.found += [] if names.get("type") == "application/json" else [names]
        if tag == "style" or "style" in names:
            self.found.append((tag, names))
        self.found += [name for name in names if name.startswith("on")]
        for name in ("src", "href", "action"):
            if re.match(r"(javascript|https?|//)", names.get(name) or ""):
                self.found.append((tag, names))


@pytest.mark.parametrize("model", MODELS, ids=NAMES)
def test_every_page_keeps_to_the_content_security_policy(model, world, superuser):
    make_rows(world, 1)
    urls = [list_page(model), change_page(model.objects.first())]
    if admin.site._registry[model].has_add_permission(
        superuser.get("/admin/").wsgi_request
    ):
        urls.append(page(model, "add"))
    for url in urls:
        answer = superuser.get(url)
        policy = answer.headers["Content-Security-Policy"]
        assert "unsafe" not in policy
        parser = Inline()
        parser.feed(answer.content.decode())
        assert parser.found == [], url


@pytest.mark.parametrize("model", [Card, Comment, Event, Lease])
def test_a_card_is_found_by_its_key_in_its_own_workspace(model, world, superuser):
    make_rows(world, 3)
    other = a_workspace()
    Workspace.objects.filter(pk=other.pk).update(key="OTH")
    card = Card.objects.get(number=2)
    answer = superuser.get(list_page(model), {"q": " nov-2 "})
    found = answer.context["cl"].result_list
    path = {Card: "pk", Event: "card_id"}.get(model, "card_id")
    assert {getattr(row, path) for row in found} == {card.pk}
    assert not superuser.get(list_page(model), {"q": "OTH-2"}).context["cl"].result_list


@pytest.mark.parametrize("model", [Card, Comment, Event, Lease])
def test_a_big_table_is_never_counted_as_a_whole(model, world, superuser):
    make_rows(world, 2)
    with CaptureQueriesContext(connection) as captured:
        superuser.get(list_page(model))
    counts = [one["sql"] for one in captured if "COUNT(" in one["sql"]]
    assert len(counts) == 1
    assert "LIMIT 10000" in counts[0]
    table = model._meta.db_table
    whole = [
        one["sql"]
        for one in captured
        if f'FROM "{table}"' in one["sql"] and "LIMIT" not in one["sql"]
    ]
    # As few rows as fit on one page come without a LIMIT: the count has bounded them.
    assert len(whole) <= 1
    assert not [one for one in whole if re.search("MIN|MAX|DISTINCT", one)]


def test_events_of_the_past_hour_are_told_by_their_ids(world, superuser):
    make_rows(world, 1)
    old = Event.objects.order_by("pk")[0]
    Event.objects.filter(pk=old.pk).update(id="018f0000-0000-7000-8000-000000000000")
    shown = superuser.get(list_page(Event), {"since": "hour"}).context["cl"]
    assert shown.result_count == Event.objects.count() - 1
