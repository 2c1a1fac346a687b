"""What nobody can store, in every field of every page: a sentence that names the field,
and nothing has changed."""

from urllib.parse import urlencode

import pytest
from django.apps import apps
from django.contrib.sessions.models import Session
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from accounts.models import Actor, Workspace
from accounts.verbs.profile import create_my_token
from boards.verbs.comments import add_comment
from tasks_people.verbs.create import create
from tests.admin.pages import MODELS, list_page, sign_in, user_of
from tests.builders import a_person, a_token
from tests.supervision import dead_letter_recipes
from tests.supervision.dead import a_dead_letter
from tests.transfer.recipes import RECIPES as TRANSFER
from tests.web import reading
from tests.webhooks.recipes import a_failed_delivery

ROUTES = sorted(set(reading.routes()))
# Who is signed in is sent on from here.
FOR_NOBODY = {"sign-in", "first-run", "welcome/<uuid:user_id>/<slug:token>"}
# No encoding of a browser's forms, but Python knows them.
CHARSETS = ["utf-7", "unicode_escape", "utf-16", "latin-1"]


def values(world, route):
    """Of the parameters in an address, all of them things that are there."""
    card = world.add("Held")
    world.claim()
    agent = Actor.objects.get(pk=world.worker.actor_id)
    person = a_person(world.workspace)
    delivery = a_failed_delivery(world)
    found = {
        "board_id": world.board,
        "column_id": world.queue,
        "card_id": card,
        "comment_id": add_comment(world.owner, card_id=card, text="Well."),
        "agent_id": agent.pk,
        "token_id": a_token(agent)[1].pk,
        "member_id": person.actor_id,
        "user_id": user_of(person).pk,
        "token": "token",
        "task_id": create(
            world.owner, queue="people", title="Call", assignee=world.owner.handle
        ),
        "import_id": TRANSFER["get_import"](world, world.owner)["import_id"],
        "endpoint_id": delivery.endpoint_id,
        "delivery_id": delivery.pk,
        "name": "title",
        "state": "done",
    }
    if route.startswith("profile/tokens"):
        found["token_id"] = create_my_token(world.owner, name="Laptop")[0]
    if route.startswith("dead-letters"):
        found["card_id"] = a_dead_letter(world)
        action = dead_letter_recipes._action(world, world.owner)
        found["action_id"] = action["bulk_action_id"]
    return found


def everything():
    """What's in all tables."""
    return {
        model._meta.label: sorted(map(repr, model.objects.values_list()))
        for model in apps.get_models()
        if model is not Session and model._meta.managed
    }


@pytest.fixture
def enter(world, settings):
    """A browser on that page, by somebody who owns the workspace if it's for them."""
    settings.MIDDLEWARE = [*settings.MIDDLEWARE, reading.MIDDLEWARE]
    settings.RATE_LIMITS = dict.fromkeys(settings.RATE_LIMITS, 100_000)

    def entered(route):
        browser = Client()
        if route not in FOR_NOBODY:
            browser.force_login(user_of(world.owner))
        return browser

    return entered


def refused(answer, name, said, status=422):
    assert answer.status_code == status, name
    text = answer.content.decode()
    assert said in text, name
    assert "Nothing was changed" in text


@pytest.mark.parametrize("route", ROUTES)
def test_what_nobody_can_store_is_refused_by_every_page(route, world, enter):
    address = reading.filled(route, values(world, route))
    asked, posted = reading.names_read(enter(route), route, address)
    browser, before = enter(route), everything()
    for name in [*posted, "any/th~ing"]:
        form = dict.fromkeys(posted, "1") | {name: "a\0b"}
        refused(browser.post(address, form), name, f"{name}: The text holds U+0000")
        sent = urlencode(form)
        kind = "application/x-www-form-urlencoded"
        refused(browser.generic("POST", address, sent, kind), name, f"{name}: ")
        part = browser.post(address, form, headers={"HX-Request": "true"})
        assert part.status_code == 422
        assert f"{name}: The text holds U+0000" in part["HX-Trigger"]
    refused(browser.post(address, {"a\0b": "1"}), "", "The name of a member holds")
    file = SimpleUploadedFile("a.csv", b"title\na\n")
    refused(browser.post(address, {"a\0": file}), "", "The name of a member holds")
    for name in [*asked, "anything"]:
        query = urlencode(dict.fromkeys(asked, "1") | {name: "a\0b"})
        refused(browser.get(f"{address}?{query}"), name, f"{name}: The text holds")
        refused(browser.post(f"{address}?{query}", {}), name, f"{name}: The text")
    assert everything() == before


@pytest.mark.parametrize("next", ["1", "home", "1#a", "?", "#", ".", "//x", "x:y"])
def test_what_is_no_address_here_leads_home(next, world, enter):
    pause = f"/queues/{world.queue}/pause"
    answer = enter("queues").post(pause, {"next": next})
    assert (answer.status_code, answer.url) == (302, "/")


@pytest.mark.parametrize("charset", CHARSETS)
def test_only_utf_8_is_read(charset, world, enter):
    browser, before = enter("workspace"), everything()
    half = b"a\\ud800 +2AA- \xc3\xa9"
    head = b'--B\r\nContent-Disposition: form-data; name="name"\r\n\r\n'
    form = head + half + b"\r\n--B--\r\n"
    for kind, sent in (
        ("multipart/form-data; boundary=B", form),
        ("application/x-www-form-urlencoded", b"name=" + half),
    ):
        kind += f"; charset={charset}"
        answer = browser.generic("POST", "/workspace", sent, kind)
        refused(answer, charset, f"Send forms in UTF-8, not in {charset}.", 400)
    assert everything() == before
    # A query is UTF-8 in any case.
    said = {"CONTENT_TYPE": f"text/plain; charset={charset}"}
    shown = browser.get("/tasks?queue=%C3%A9%5Cud800%2B2AA-", **said)
    assert shown.status_code == 200
    assert shown.wsgi_request.GET["queue"] == "é\\ud800+2AA-"


def test_a_form_may_say_that_it_is_utf_8(world, enter):
    kind = "application/x-www-form-urlencoded; charset=UTF-8"
    answer = enter("workspace").post("/workspace", "name=%C3%A9", content_type=kind)
    assert answer.status_code == 302
    assert Workspace.objects.get(pk=world.workspace.pk).name == "é"


@pytest.mark.parametrize("name", ["sessionid", "csrftoken", "messages", "other"])
@pytest.mark.parametrize("address", ["/", "/sign-in", "/v1/me", "/admin/"])
def test_a_cookie_that_nobody_can_store_is_none(name, address, world):
    browser = Client(HTTP_COOKIE=f'{name}="\\000aaaaaaaaaaa"')
    assert browser.get(address).status_code in (200, 302, 401)


@pytest.mark.parametrize("path", ["?q=%00", "?id=a%00b", "%00/change/", "add/?x=%00"])
def test_the_admin_is_no_other_way_in(path, world, enter):
    browser = enter("admin")
    sign_in(browser, user_of(world.owner), is_superuser=True)
    for model in MODELS:
        assert browser.get(list_page(model) + path).status_code in (302, 404, 422)
