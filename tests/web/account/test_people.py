"""Profile, members, a board's members, as pages."""

import re

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils.html import escape

from accounts.credentials import caller_of_token
from accounts.models import Actor, User, WorkerToken
from accounts.roles import BoardRole, WorkspaceRole
from accounts.verbs.people import set_up
from boards.models import Board, BoardMember
from boards.verbs.boards import edit_board, set_board_member
from tests.builders import World, a_person, a_workspace
from tests.web.account.conftest import client_of

PASSWORD = "tulip-harbour-9"
NASTY = "<img src=x onerror=alert(1)>"
SECRET = re.compile(r"nvm[ap]_[0-9A-Za-z]{49}")


def notices(answer) -> str:
    return " ".join(str(one) for one in answer.context["messages"])


def role_of(member) -> int:
    return Actor.objects.get(pk=member.actor_id).role


def test_the_theme_chosen_is_the_theme_of_the_next_page(ann, world: World):
    handle = world.owner.handle
    ann.post("/profile", {"name": "Ann", "handle": handle, "theme": "dark"})
    page = ann.get("/").content.decode()
    assert 'data-theme="dark"' in page
    assert "<bdi>Ann</bdi>" in page


def test_a_profile_says_what_is_wrong(ann, world: World):
    form = {"name": "A", "handle": world.worker.handle, "theme": "dark"}
    answer = ann.post("/profile", form)
    assert answer.status_code == 422
    assert "is taken" in answer.content.decode()


@pytest.mark.django_db
def test_a_new_password_signs_out_other_places_and_not_this_one():
    first = {"workspace": "A", "username": "ann", "name": "A", "password": PASSWORD}
    set_up(**first)
    here, there = Client(), Client()
    for one in (here, there):
        one.force_login(User.objects.get())
    wrong = here.post("/profile/password", {"old": "no", "new": "another-one-7"})
    assert wrong.status_code == 422
    form = {"old": PASSWORD, "new": "another-one-7", "next": "/profile"}
    assert here.post("/profile/password", form).url == "/profile"
    assert here.get("/profile").status_code == 200
    assert there.get("/profile").status_code == 302


def test_a_personal_token_is_shown_once(ann, world: World):
    answer = ann.post("/profile/tokens", {"name": "laptop"})
    assert "no-store" in answer["Cache-Control"]
    (secret,) = set(SECRET.findall(answer.content.decode()))
    assert caller_of_token(secret).actor_id == world.owner.actor_id
    page = ann.get("/profile").content.decode()
    assert "laptop" in page
    assert not SECRET.findall(page)
    token = WorkerToken.objects.get(name="laptop")
    ann.post(f"/profile/tokens/{token.pk}/revoke")
    assert "revoked" in ann.get("/profile").content.decode()


def test_admins_add_people_with_a_password(ann, bob):
    form = {"name": "Cy", "username": "cy", "role": "admin", "password": PASSWORD}
    assert ann.post("/members", form).status_code == 302
    assert Client().login(username="cy", password=PASSWORD)
    assert "Cy" in bob.get("/members").content.decode()


def test_without_a_password_there_is_a_link_once(ann):
    answer = ann.post("/members", {"name": "Cy", "username": "cy", "role": "member"})
    assert "no-store" in answer["Cache-Control"]
    link = re.search(r"http://testserver(/welcome/[^<\s]+)", answer.content.decode())
    assert Client().get(link[1]).status_code == 200
    assert "/welcome/" not in ann.get("/members").content.decode()


@pytest.mark.parametrize(
    "wrong",
    [
        {"username": "a b"},
        {"name": ""},
        {"email": "x"},
        {"password": "1"},
        {"role": "x"},
    ],
)
def test_a_bad_person_is_not_made(ann, wrong):
    form = {"name": "Cy", "username": "cy", "role": "member", **wrong}
    answer = ann.post("/members", form)
    assert answer.status_code == 422
    assert 'class="error"' in answer.content.decode()
    assert not User.objects.filter(username__in=["cy", "a b"]).exists()
    assert Actor.objects.filter(kind="person").count() == 1


def test_roles_change_but_never_the_last_owners(ann, world: World, member):
    ann.post(f"/members/{member.actor_id}", {"role": "admin"})
    assert role_of(member) == WorkspaceRole.ADMIN
    answer = ann.post(
        f"/members/{world.owner.actor_id}",
        {"role": "member", "next": "/members"},
        follow=True,
    )
    assert "at least one owner" in notices(answer)
    assert role_of(world.owner) == WorkspaceRole.OWNER


def test_the_disabled_are_out_at_their_next_click(ann, bob, member):
    assert bob.get("/").status_code == 200
    ann.post(f"/members/{member.actor_id}", {"disabled": "yes"})
    assert bob.get("/").status_code == 403
    ann.post(f"/members/{member.actor_id}", {"disabled": "no"})
    assert bob.get("/").status_code == 200


def test_members_see_members_but_no_actions(bob, world: World, member):
    page = bob.get("/members").content.decode()
    assert f"@{world.owner.handle}" in page
    assert "Add a person" not in page
    assert "Make Admin" not in page
    for path in (f"/members/{world.owner.actor_id}", f"/members/{member.actor_id}"):
        bob.post(path, {"role": "owner"})
        bob.post(path, {"disabled": "yes"})
        bob.post(path + "/link")
    assert role_of(member) == WorkspaceRole.MEMBER
    assert role_of(world.owner) == WorkspaceRole.OWNER
    assert not Actor.objects.exclude(disabled_at=None).exists()


def test_an_admin_is_offered_no_owners(world: World):
    admin = client_of(a_person(world.workspace, WorkspaceRole.ADMIN))
    assert "Make Owner" not in admin.get("/members").content.decode()


def test_nobody_of_another_workspace_is_seen_or_changed(ann, world: World):
    stranger = a_person(a_workspace())
    assert f"@{stranger.handle}" not in ann.get("/members").content.decode()
    ann.post(f"/members/{stranger.actor_id}", {"disabled": "yes"})
    assert Actor.objects.get(pk=stranger.actor_id).disabled_at is None


def test_members_take_the_same_queries_however_many(
    ann, world: World, django_assert_num_queries
):
    with CaptureQueriesContext(connection) as few:
        ann.get("/members")
    for _ in range(20):
        a_person(world.workspace, WorkspaceRole.MEMBER)
    with django_assert_num_queries(len(few)):
        ann.get("/members")


def test_a_board_gives_roles_and_takes_them(ann, world: World, member):
    path = f"/boards/{world.board}/members"
    ann.post(path, {"handle": member.handle, "role": "viewer"})
    found = BoardMember.objects.get(board_id=world.board, actor_id=member.actor_id)
    assert found.role == BoardRole.VIEWER
    assert f'data-member="{member.handle}"' in ann.get(path).content.decode()
    ann.post(path, {"handle": member.handle, "role": ""})
    assert not BoardMember.objects.filter(actor_id=member.actor_id).exists()


def test_a_board_can_be_made_private(ann, bob, world: World):
    path = f"/boards/{world.board}/members"
    assert bob.get(path).status_code == 200
    ann.post(f"{path}/everybody", {"role": ""})
    assert Board.objects.get(pk=world.board).default_role is None
    assert bob.get(path).status_code == 404


def test_only_a_boards_managers_change_its_members(bob, world: World, member):
    path = f"/boards/{world.board}/members"
    set_board_member(
        world.owner, board_id=world.board, handle=member.handle, role=BoardRole.EDITOR
    )
    page = bob.get(path).content.decode()
    assert "Give the role" not in page
    bob.post(path, {"handle": member.handle, "role": "manager"})
    bob.post(f"{path}/everybody", {"role": ""})
    found = BoardMember.objects.get(board_id=world.board, actor_id=member.actor_id)
    assert found.role == BoardRole.EDITOR
    assert Board.objects.get(pk=world.board).default_role == BoardRole.EDITOR


@pytest.mark.parametrize("path", ["/", "/members", "/agents", "/profile"])
def test_names_of_people_and_agents_are_text(ann, world: World, path):
    Actor.objects.update(name=NASTY)
    edit_board(world.owner, board_id=world.board, name=NASTY)
    page = ann.get(path).content.decode()
    assert NASTY not in page
    assert escape(NASTY) in page
