"""People, their tokens and workspaces, over HTTP."""

from urllib.parse import urlsplit

import pytest
from django.test import Client

from accounts.models import Actor, User
from accounts.roles import WorkspaceRole
from tests.builders import a_person, a_workspace
from tests.doors.http import Http, door_of, pages


@pytest.fixture
def invited(owner):
    made = owner.post("/v1/people", {"username": "bob", "name": "Bob"})
    assert made.status_code == 201
    return made.json()


def test_who_is_invited_sets_a_password_by_a_link_that_works_once(owner, invited):
    assert invited["person"]["waiting"] is True
    assert (invited["person"]["handle"], invited["person"]["role"]) == ("bob", "member")
    page = urlsplit(invited["sign_in_url"]).path
    set_to = {"password": "tulip-harbour-9"}
    assert Client().post(page, set_to).status_code == 302
    assert Client().post(page, set_to).status_code == 404
    assert User.objects.get(username="bob").check_password("tulip-harbour-9")
    again = owner.get(f"/v1/people/{invited['person']['id']}/sign-in-link").json()
    assert Client().get(urlsplit(again["url"]).path).status_code == 200


def test_the_same_invitation_twice_gives_no_second_link(owner):
    said = {"username": "bob"}
    first, second = (
        owner.post("/v1/people", said, headers={"Idempotency-Key": "bob"})
        for _ in range(2)
    )
    assert first.json()["person"]["id"] == second.json()["person"]["id"]
    assert (second.status_code, second.json()["sign_in_url"]) == (201, None)
    assert owner.post("/v1/people", said).json()["code"] == "username_taken"


def test_a_role_is_given_and_somebody_shut_out(owner, invited):
    path = f"/v1/people/{invited['person']['id']}"
    assert owner.patch(path, {"role": "admin"}).json()["role"] == "admin"
    assert owner.patch(path, {"disabled": True}).json()["disabled"] is True
    assert owner.get(path).json()["role"] == "admin"
    (page,) = pages(owner, "/v1/people")
    assert [one["handle"] for one in page][1:] == ["bob"]


def test_the_last_owner_stays(owner, world):
    path = f"/v1/people/{world.owner.actor_id}"
    answer = owner.patch(path, {"role": "member"})
    assert (answer.status_code, answer.json()["code"]) == (409, "last_owner")


def test_members_see_people_but_not_how_they_sign_in(world, invited):
    member = door_of(a_person(world.workspace, WorkspaceRole.MEMBER))
    seen = member.get(f"/v1/people/{invited['person']['id']}").json()
    assert (seen["name"], seen["username"], seen["waiting"]) == ("Bob", "", False)


def test_somebody_who_signs_in_already_comes_in_too(owner, world):
    stranger = a_person(a_workspace())
    user = Actor.objects.get(pk=stranger.actor_id).user
    added = owner.post("/v1/people:add", {"username": user.username, "role": "admin"})
    assert added.status_code == 201
    assert added.json()["handle"] == stranger.handle
    assert added.headers["Location"] == f"/v1/people/{added.json()['id']}"
    listed = door_of(stranger).get("/v1/workspaces").json()["items"]
    assert str(world.workspace.pk) in [one["id"] for one in listed]


def test_a_personal_token_acts_as_its_person_until_it_is_revoked(owner, world):
    made = owner.post("/v1/me/tokens", {"name": "CI", "scopes": ["read"]}).json()
    door = Http(made["secret"])
    assert door.get("/v1/me").json()["actor"]["handle"] == world.owner.handle
    assert door.post("/v1/boards", {"name": "No"}).status_code == 403
    path = f"/v1/me/tokens/{made['token']['id']}:revoke"
    assert owner.post(path).json()["revoked_at"]
    assert door.get("/v1/me").status_code == 401
    listed = owner.get("/v1/me/tokens").json()["items"]
    assert made["token"]["id"] in [one["id"] for one in listed]
    assert made["secret"] not in owner.get("/v1/me/tokens").content.decode()


def test_a_token_gives_no_token_that_may_more(owner):
    weak = owner.post("/v1/me/tokens", {"name": "A", "scopes": ["manage"]}).json()
    door = Http(weak["secret"])
    more = door.post("/v1/me/tokens", {"name": "B", "scopes": ["manage", "work"]})
    assert more.status_code == 403
    same = door.post("/v1/me/tokens", {"name": "C"}).json()
    assert same["token"]["scopes"] == ["manage"]


def test_what_is_not_given_of_a_profile_stays(owner, world):
    changed = owner.patch("/v1/me/profile", {"theme": "dark"}).json()
    assert (changed["theme"], changed["handle"]) == ("dark", world.owner.handle)
    assert owner.patch("/v1/me/profile", {"handle": "A b"}).status_code == 422
    assert owner.get("/v1/me/profile").json() == changed


def test_a_workspace_is_made_and_renamed(owner, world):
    made = owner.post("/v1/workspaces", {"name": "Beta", "key": "BETA"})
    assert made.status_code == 201
    assert owner.get(made.headers["Location"]).json()["key"] == "BETA"
    assert owner.patch(made.headers["Location"], {"name": "B"}).status_code == 404
    own = f"/v1/workspaces/{world.workspace.pk}"
    assert owner.patch(own, {"name": "Acme"}).json()["name"] == "Acme"


@pytest.mark.parametrize(
    ("template", "queues"), [("pipeline", 2), ("kanban", 0), ("empty", 0)]
)
def test_a_board_starts_from_a_template(owner, template, queues):
    made = owner.post("/v1/boards:start", {"name": "New", "template": template})
    assert made.headers["Location"] == f"/v1/boards/{made.json()['id']}"
    columns = owner.get(made.headers["Location"] + "/columns").json()["items"]
    assert sum(one["is_queue"] for one in columns) == queues
