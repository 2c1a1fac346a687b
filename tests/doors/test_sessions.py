"""The page's own session at the REST door: a signed-in person, with CSRF protection."""

import pytest
from django.test import Client

from accounts.models import Actor, User
from accounts.roles import WorkspaceRole
from novum.rest.authentication import WORKSPACE_KEY
from tests.builders import a_person, a_workspace
from tests.doors.http import Http


@pytest.fixture
def user(world) -> User:
    return Actor.objects.get(pk=world.owner.actor_id).user


@pytest.fixture
def page(user) -> Http:
    door = Http()
    door.client.force_login(user)
    return door


def with_csrf(page: Http) -> dict[str, str]:
    page.client.get("/admin/login/")
    return {"X-CSRFToken": page.client.cookies["csrftoken"].value}


def test_a_signed_in_person_reads(page, world):
    me = page.get("/v1/me").json()
    assert me["actor"]["handle"] == world.owner.handle
    assert me["role"] == "owner"
    assert me["token_id"] is None
    assert me["scopes"] == ["manage", "read", "work", "write"]


def test_a_change_takes_the_csrf_token(page):
    refused = page.post("/v1/boards", {"name": "News"})
    assert (refused.status_code, refused.json()["code"]) == (403, "forbidden")
    assert b"CSRF" in refused.content
    made = page.post("/v1/boards", {"name": "News"}, headers=with_csrf(page))
    assert made.status_code == 201


@pytest.mark.parametrize(
    "kind", ["multipart/form-data; boundary=x", "application/x-www-form-urlencoded", ""]
)
def test_the_check_leaves_the_body_as_it_is(page, kind):
    answer = page.client.generic(
        "POST", "/v1/boards", b'{"name": "News"}', kind, headers=with_csrf(page)
    )
    assert answer.status_code == 201


def test_a_csrf_token_of_somebody_else_is_none(page):
    other = with_csrf(Http())
    with_csrf(page)
    refused = page.post("/v1/boards", {"name": "News"}, headers=other)
    assert refused.status_code == 403


def test_a_token_needs_no_csrf_token_and_goes_before_the_session(page, worker, world):
    both = Http(worker.token, client=page.client)
    assert both.get("/v1/me").json()["actor"]["handle"] == world.worker.handle
    assert both.post("/v1/boards", {"name": "News"}).status_code == 201


def test_a_wrong_token_is_not_saved_by_the_session(page):
    assert Http("nvma_x", client=page.client).get("/v1/me").status_code == 401


def test_a_person_works_in_the_workspace_they_have_chosen(page, user, world):
    second = a_workspace()
    there = Actor.objects.create(
        workspace=second, kind="person", handle="me", name="Me", user=user, role=1
    )
    assert page.get("/v1/me").json()["workspace"]["id"] == str(world.workspace.pk)
    choose(page, str(second.pk))
    me = page.get("/v1/me").json()
    assert (me["workspace"]["id"], me["role"]) == (str(second.pk), "member")
    assert page.get(f"/v1/boards/{world.board}").status_code == 404
    Actor.objects.filter(pk=there.pk).update(disabled_at="2001-01-01T00:00:00Z")
    assert page.get("/v1/me").status_code == 401


def test_a_workspace_of_others_cannot_be_chosen(page):
    stranger = a_person(a_workspace(), WorkspaceRole.OWNER)
    choose(page, str(stranger.workspace_id))
    assert page.get("/v1/me").status_code == 401


def choose(page: Http, workspace: str) -> None:
    session = page.client.session
    session[WORKSPACE_KEY] = workspace
    session.save()


def test_a_person_who_may_not_sign_in_any_more_is_out(page, user):
    User.objects.filter(pk=user.pk).update(is_active=False)
    assert page.get("/v1/me").status_code == 401


def test_a_person_in_no_workspace_is_nobody(db):
    door = Http()
    door.client.force_login(User.objects.create(username="new", handle="new"))
    assert door.get("/v1/me").status_code == 401


def test_a_person_without_a_session_is_nobody(db):
    assert Client().get("/v1/me").status_code == 401


def test_a_person_holds_a_card_without_end_where_the_contract_says_so(page, world):
    world.set(lease_ttl_seconds=None)
    world.add()
    path = f"/v1/boards/{world.board}/columns/{world.queue}:claim-next"
    claimed = page.post(path, headers=with_csrf(page)).json()
    assert claimed["lease"]["expires_at"] is None
    renewed = page.post(
        f"/v1/leases/{claimed['lease']['id']}:renew",
        {"lease_token": claimed["lease_token"]},
        headers=with_csrf(page),
    ).json()
    assert renewed["expires_at"] is None
