"""The workspace's own page, further workspaces, people from other ones."""

import pytest
from django.test import Client

from accounts.models import Actor, Workspace
from accounts.roles import WorkspaceRole
from tests.builders import a_person, a_workspace
from tests.web.account.conftest import client_of


def test_an_admin_renames_the_workspace(ann, world):
    answer = ann.post("/workspace", {"name": "Acme & more"}, follow=True)
    assert "Acme &amp; more" in answer.content.decode()
    assert Workspace.objects.get(pk=world.workspace.pk).name == "Acme & more"
    refused = ann.post("/workspace", {"name": " \u200b "})
    assert refused.status_code == 422


def test_a_new_workspace_is_gone_to_and_the_old_one_a_click_away(ann, world):
    answer = ann.post("/workspaces", {"name": "Beta", "key": "bet"}, follow=True)
    page = answer.content.decode()
    assert answer.redirect_chain == [("/", 302)]
    assert '<h1 class="user-text">Beta</h1>' in page
    assert f'name="workspace" value="{world.workspace.pk}"' in page
    assert str(world.board) not in page
    back = ann.post("/choose-workspace", {"workspace": world.workspace.pk}, follow=True)
    assert str(world.board) in back.content.decode()


@pytest.mark.parametrize(
    "given", [{"name": "", "key": "NOV"}, {"name": "B", "key": "?"}]
)
def test_what_makes_no_sense_is_said_beside_the_field(ann, given):
    before = Workspace.objects.count()
    answer = ann.post("/workspaces", given)
    assert answer.status_code == 422
    assert 'class="error"' in answer.content.decode()
    assert Workspace.objects.count() == before


def test_members_see_the_page_but_change_nothing(bob, world):
    page = bob.get("/workspace").content.decode()
    assert '<form method="post" action="/workspace"' not in page
    bob.post("/workspace", {"name": "Mine"})
    bob.post("/workspaces", {"name": "Mine", "key": "NOV"})
    assert not Workspace.objects.filter(name="Mine").exists()


def test_somebody_from_another_workspace_comes_in_and_may_switch(ann, world):
    stranger = a_person(a_workspace())
    user = Actor.objects.get(pk=stranger.actor_id).user
    said = {"username": user.username, "role": "admin", "next": "/members"}
    page = ann.post("/members/add", said, follow=True).content.decode()
    assert stranger.name in page
    again = ann.post("/members/add", said)
    assert again.status_code == 422
    assert "already" in again.content.decode()
    theirs = Client()
    theirs.force_login(user)
    theirs.post("/choose-workspace", {"workspace": world.workspace.pk})
    assert str(world.board) in theirs.get("/").content.decode()


def test_nobody_of_that_name_is_said_beside_the_field(ann):
    answer = ann.post("/members/add", {"username": "nobody", "role": "member"})
    assert answer.status_code == 422
    assert "Nobody signs in with that name" in answer.content.decode()


def test_members_let_nobody_in(bob, world):
    stranger = a_person(a_workspace())
    user = Actor.objects.get(pk=stranger.actor_id).user
    bob.post("/members/add", {"username": user.username, "role": "member"})
    mine = Actor.objects.filter(user=user, workspace=world.workspace)
    assert not mine.exists()


def test_an_admin_makes_no_owner(world):
    admin = client_of(a_person(world.workspace, WorkspaceRole.ADMIN))
    stranger = a_person(a_workspace())
    user = Actor.objects.get(pk=stranger.actor_id).user
    answer = admin.post("/members/add", {"username": user.username, "role": "owner"})
    assert answer.status_code == 422
    assert not Actor.objects.filter(user=user, workspace=world.workspace).exists()
