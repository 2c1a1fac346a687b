"""Further workspaces, their names, and people who come into them."""

import pytest

from accounts import reads
from accounts.credentials import caller_of_user
from accounts.errors import DomainError, Forbidden, Invalid, NotFound
from accounts.models import Actor, User, Workspace
from accounts.roles import WorkspaceRole
from accounts.verbs.agents import HandleTaken
from accounts.verbs.people import edit_member
from accounts.verbs.workspaces import (
    AlreadyMember,
    add_person,
    create_workspace,
    edit_workspace,
)
from tests.builders import a_person, a_workspace, an_agent
from tests.connections import together

pytestmark = pytest.mark.django_db


def user_of(caller) -> User:
    return Actor.objects.select_related("user").get(pk=caller.actor_id).user


def names(caller) -> list[str]:
    return [one.name for one in reads.workspaces(caller)]


def test_whoever_makes_a_workspace_owns_it_and_keeps_the_first_one():
    ann = a_person(a_workspace())
    made = create_workspace(ann, name=" Beta ", key="bet")
    there = caller_of_user(user_of(ann), made)
    assert (there.role, there.handle, there.name) == (
        WorkspaceRole.OWNER,
        ann.handle,
        ann.name,
    )
    assert there.workspace_key == "BET"
    assert names(ann)[-1] == names(there)[-1] == "Beta"
    assert len(names(ann)) == 2


@pytest.mark.parametrize(
    ("given", "pointer"),
    [
        ({"name": " "}, "/name"),
        ({"name": "\u200b"}, "/name"),
        ({"name": "x" * 101}, "/name"),
        ({"name": "Fine", "key": "N"}, "/key"),
        ({"name": "Fine", "key": "1AB"}, "/key"),
        ({"name": "Fine", "key": "TOOLONGKEY"}, "/key"),
        ({"name": "Fine", "key": "Ä-B"}, "/key"),
    ],
)
def test_names_and_keys_that_make_no_sense_are_refused(given, pointer):
    with pytest.raises(Invalid) as refused:
        create_workspace(a_person(a_workspace()), **given)
    assert [one.pointer for one in refused.value.errors] == [pointer]


def test_members_and_agents_make_and_rename_none():
    workspace = a_workspace()
    member = a_person(workspace, WorkspaceRole.MEMBER)
    for caller in (member, an_agent(workspace)):
        with pytest.raises(Forbidden):
            create_workspace(caller, name="Beta")
        with pytest.raises(Forbidden):
            edit_workspace(caller, workspace_id=workspace.pk, name="Beta")


@pytest.mark.django_db(transaction=True)
def test_of_many_of_one_name_each_has_a_short_name_of_its_own():
    people = [a_person(a_workspace()) for _ in range(4)]
    before = Workspace.objects.count()
    together(*[lambda one=one: create_workspace(one, name="Same") for one in people])
    assert Workspace.objects.count() == before + 4


def test_a_workspace_is_renamed_from_inside_only():
    workspace, other = a_workspace(), a_workspace()
    ann = a_person(workspace)
    edit_workspace(ann, workspace_id=workspace.pk, name="Acme two")
    assert reads.workspace(ann).name == "Acme two"
    with pytest.raises(NotFound):
        edit_workspace(ann, workspace_id=other.pk, name="Mine")


def test_somebody_who_signs_in_already_comes_in_as_who_they_are():
    bob, ann = a_person(a_workspace()), a_person(a_workspace())
    added = add_person(ann, username=user_of(bob).username)
    here = Actor.objects.get(pk=added)
    assert (here.workspace_id, here.handle, here.name) == (
        ann.workspace_id,
        bob.handle,
        bob.name,
    )
    assert here.role == WorkspaceRole.MEMBER
    assert len(names(bob)) == 2
    with pytest.raises(AlreadyMember):
        add_person(ann, username=user_of(bob).username)


def test_a_handle_that_an_agent_has_here_keeps_its_owner():
    bob, workspace = a_person(a_workspace()), a_workspace()
    Actor.objects.create(
        workspace=workspace, kind=Actor.Kind.AGENT, handle=bob.handle, name="Bot"
    )
    with pytest.raises(HandleTaken):
        add_person(a_person(workspace), username=user_of(bob).username)
    assert len(names(bob)) == 1


def outcome(verb, *arguments, **options) -> str:
    try:
        verb(*arguments, **options)
    except DomainError as error:
        return type(error).__name__
    return "done"


@pytest.mark.parametrize(
    ("role", "given", "wanted"),
    [
        (WorkspaceRole.MEMBER, WorkspaceRole.MEMBER, "Forbidden"),
        (WorkspaceRole.ADMIN, WorkspaceRole.ADMIN, "done"),
        (WorkspaceRole.ADMIN, WorkspaceRole.OWNER, "Forbidden"),
        (WorkspaceRole.OWNER, WorkspaceRole.OWNER, "done"),
    ],
)
def test_who_may_let_whom_in(role, given, wanted):
    bob, by = a_person(a_workspace()), a_person(a_workspace(), role)
    username = user_of(bob).username
    assert outcome(add_person, by, username=username, role=given) == wanted


def test_nobody_who_cannot_sign_in_comes_in():
    ann = a_person(a_workspace())
    bob = a_person(a_workspace())
    User.objects.filter(pk=user_of(bob).pk).update(is_active=False)
    for username in ("nobody-at-all", user_of(bob).username, ""):
        assert outcome(add_person, ann, username=username) == "Invalid"


def test_who_was_shut_out_is_let_in_again_and_not_added():
    bob, ann = a_person(a_workspace()), a_person(a_workspace())
    username = user_of(bob).username
    added = add_person(ann, username=username)
    edit_member(ann, member_id=added, disabled=True)
    assert outcome(add_person, ann, username=username) == "AlreadyMember"
