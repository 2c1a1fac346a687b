"""Signing in and out, the first run, one-time links."""

from itertools import count
from time import time

import pytest
from django.test import Client
from django.urls import reverse

from accounts.models import User
from accounts.verbs.links import sign_in_link
from accounts.verbs.people import create_person, set_up
from novum import limits
from tests.builders import World

pytestmark = pytest.mark.django_db
_far = count(1_000, step=10)
PASSWORD = "tulip-harbour-9"
FIRST = {"workspace": "Acme", "username": "ann", "name": "Ann", "password": PASSWORD}


@pytest.fixture
def ann_exists():
    set_up(**FIRST)


@pytest.fixture(autouse=True)
def _one_window(monkeypatch):
    """All tries of a test are counted in one minute, and those of no other test."""
    moment = time() + next(_far) * limits.WINDOW_SECONDS
    monkeypatch.setattr(limits, "time", lambda: moment)


def sign_in(client: Client, password=PASSWORD, username="ann", **more):
    form = {"username": username, "password": password, **more}
    return client.post("/sign-in", form)


def test_a_page_leads_to_sign_in_and_back(client, ann_exists):
    answer = client.get("/members")
    assert answer.url == "/sign-in?next=/members"
    assert b'value="/members"' in client.get(answer.url).content
    assert sign_in(client, next="/members").url == "/members"
    assert client.get("/members").status_code == 200


@pytest.mark.parametrize(
    "target", ["https://evil.example/", "//evil.example", "evil:x", "1", "profile"]
)
def test_sign_in_leads_nowhere_else(client, ann_exists, target):
    assert sign_in(client, next=target).url == "/"
    assert client.get("/sign-in", {"next": target}).url == "/"


@pytest.mark.parametrize(
    "wrong", [{"password": "wrong"}, {"username": "nobody"}, {"username": "\0"}]
)
def test_the_wrong_ones_are_not_told_apart(client, ann_exists, wrong):
    answer = sign_in(client, **wrong)
    assert answer.status_code == 422
    assert "_auth_user_id" not in client.session


def test_guessing_at_an_account_ends_even_with_the_right_password(
    client, ann_exists, settings
):
    settings.RATE_LIMITS = {**settings.RATE_LIMITS, "guess": 8}
    assert [sign_in(client, "wrong").status_code for _ in range(3)] == [422, 422, 429]
    answer = sign_in(client)
    assert answer.status_code == 429
    assert 1 <= int(answer["Retry-After"]) <= 60
    assert "_auth_user_id" not in client.session


def test_guessing_from_an_address_ends_for_all_accounts(client, ann_exists, settings):
    settings.RATE_LIMITS = {**settings.RATE_LIMITS, "guess": 4}
    for number in range(4):
        assert sign_in(client, username=f"user{number}").status_code == 422
    assert sign_in(client).status_code == 429
    assert sign_in(Client(REMOTE_ADDR="10.1.1.1")).status_code == 302


def test_signing_out_takes_a_post(client, ann_exists):
    sign_in(client)
    assert client.get("/sign-out").status_code == 405
    assert client.get("/").status_code == 200
    assert client.post("/sign-out").url == "/sign-in"
    assert client.get("/").status_code == 302


def test_forms_ask_for_the_csrf_token(ann_exists):
    assert sign_in(Client(enforce_csrf_checks=True)).status_code == 403


def test_the_first_one_makes_the_workspace_and_is_in(client):
    assert client.get("/sign-in").url == "/first-run"
    assert client.get("/first-run").status_code == 200
    assert client.post("/first-run", FIRST).url == "/"
    assert b"Acme" in client.get("/").content


def test_the_first_run_says_what_is_wrong(client):
    answer = client.post("/first-run", {**FIRST, "password": "short"})
    assert answer.status_code == 422
    assert b"too short" in answer.content
    assert not User.objects.exists()


def test_there_is_no_second_first_run(client, ann_exists):
    other = {**FIRST, "username": "eve"}
    assert client.get("/first-run").url == "/sign-in"
    assert client.post("/first-run", other).url == "/sign-in"
    assert User.objects.count() == 1


def test_a_link_asks_for_a_password_once_and_lets_in(client, world: World):
    made = create_person(world.owner, username="bob")
    path = reverse("welcome", args=sign_in_link(world.owner, member_id=made))
    assert b"bob" in client.get(path).content
    assert client.post(path, {"password": "short"}).status_code == 422
    assert client.post(path, {"password": PASSWORD}).url == "/"
    assert client.get("/").status_code == 200
    again = Client().get(path)
    assert again.status_code == 404
    assert b"work any more" in again.content


def test_a_fragment_of_a_signed_out_page_hears_where_to_sign_in(client, ann_exists):
    answer = client.get("/counts", headers={"HX-Request": "true"})
    assert answer.status_code == 401
    assert answer["HX-Redirect"].startswith("/sign-in")


def test_whoever_is_in_no_workspace_is_told(client):
    client.force_login(User.objects.create(username="lost", handle="lost"))
    answer = client.get("/")
    assert answer.status_code == 403
    assert b"no workspace" in answer.content
