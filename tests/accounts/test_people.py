"""People: the first one, further ones, their roles, their links, their profile."""

from uuid import uuid4

import pytest
from django.contrib.auth import authenticate

from accounts import reads
from accounts.credentials import caller_of_token, caller_of_user
from accounts.errors import DomainError, Forbidden, Invalid, NotFound, Unauthenticated
from accounts.models import Actor, User, Workspace
from accounts.roles import WorkspaceRole
from accounts.verbs.agents import HandleTaken
from accounts.verbs.links import LinkUsedUp, follow_link, sign_in_link
from accounts.verbs.passwords import change_password
from accounts.verbs.people import (
    AlreadySetUp,
    LastOwner,
    UsernameTaken,
    create_person,
    edit_member,
    set_up,
)
from accounts.verbs.profile import create_my_token, edit_profile, revoke_my_token
from tests.builders import a_person, a_seat, a_workspace, an_agent
from tests.connections import together

pytestmark = pytest.mark.django_db
PASSWORD = "tulip-harbour-9"
FIRST = {"workspace": "Acme", "username": "ann", "name": "Ann", "password": PASSWORD}


def user_of(actor_id) -> User:
    return Actor.objects.select_related("user").get(pk=actor_id).user


def outcome(verb, *arguments, **options) -> str:
    try:
        verb(*arguments, **options)
    except DomainError as error:
        return type(error).__name__
    return "done"


def pointers(error) -> list[str]:
    return [one.pointer for one in error.value.errors]


def test_the_first_person_gets_a_workspace_and_owns_it():
    user = set_up(**FIRST)
    caller = caller_of_user(authenticate(username="ann", password=PASSWORD))
    assert (caller.handle, caller.role) == ("ann", WorkspaceRole.OWNER)
    assert reads.workspace(caller).name == "Acme"
    assert user.is_superuser


def test_setting_up_works_once_only():
    a_person(a_workspace())
    with pytest.raises(AlreadySetUp):
        set_up(**FIRST)


@pytest.mark.django_db(transaction=True)
def test_of_many_who_set_up_at_once_one_does():
    def by(number):
        return lambda: outcome(set_up, **{**FIRST, "username": f"ann{number}"})

    found = together(*[by(number) for number in range(4)])
    assert sorted(found) == ["AlreadySetUp"] * 3 + ["done"]
    assert Workspace.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_two_owners_cannot_depose_each_other_at_once():
    workspace = a_workspace()
    owners = [a_person(workspace), a_person(workspace)]

    def depose(by, whom):
        change = {"member_id": whom.actor_id, "role": WorkspaceRole.ADMIN}
        return lambda: outcome(edit_member, by, **change)

    found = together(depose(*owners), depose(*reversed(owners)))
    assert sorted(found) == ["LastOwner", "done"]


@pytest.mark.parametrize(
    ("changed", "pointer"),
    [
        ({"workspace": "\u200b"}, "/workspace"),
        ({"name": " "}, "/name"),
        ({"username": "a b"}, "/username"),
        ({"username": "___"}, "/handle"),
        ({"password": "short"}, "/password"),
        ({"password": "password"}, "/password"),
        ({"password": "x" * 1001}, "/password"),
    ],
)
def test_setting_up_says_what_is_wrong_and_leaves_nothing_behind(changed, pointer):
    with pytest.raises(Invalid) as error:
        set_up(**{**FIRST, **changed})
    assert pointer in pointers(error)
    assert not User.objects.exists()
    assert not Workspace.objects.exists()


def test_an_admin_creates_a_person_who_can_sign_in():
    admin = a_person(a_workspace(), WorkspaceRole.ADMIN)
    made = create_person(admin, username="bob", name="Bob", password=PASSWORD)
    assert authenticate(username="bob", password=PASSWORD).pk == user_of(made).pk
    caller = caller_of_user(user_of(made))
    assert caller.workspace_id == admin.workspace_id
    assert (caller.handle, caller.role) == ("bob", WorkspaceRole.MEMBER)


@pytest.mark.parametrize("who", ["member", "agent"])
def test_nobody_else_creates_people(who):
    workspace = a_workspace()
    by = (
        a_person(workspace, WorkspaceRole.MEMBER)
        if who == "member"
        else an_agent(workspace)
    )
    with pytest.raises(Forbidden):
        create_person(by, username="bob")
    assert not User.objects.filter(username="bob").exists()


def test_only_owners_make_owners():
    workspace = a_workspace()
    admin, owner = a_person(workspace, WorkspaceRole.ADMIN), a_person(workspace)
    member = a_person(workspace, WorkspaceRole.MEMBER).actor_id
    with pytest.raises(Forbidden):
        create_person(admin, username="bob", role=WorkspaceRole.OWNER)
    with pytest.raises(Forbidden):
        edit_member(admin, member_id=member, role=WorkspaceRole.OWNER)
    with pytest.raises(Forbidden):
        edit_member(admin, member_id=owner.actor_id, role=WorkspaceRole.MEMBER)
    with pytest.raises(Forbidden):
        edit_member(admin, member_id=owner.actor_id, disabled=True)
    edit_member(owner, member_id=member, role=WorkspaceRole.OWNER)
    assert Actor.objects.get(pk=member).role == WorkspaceRole.OWNER


def test_taken_names_are_told_apart():
    workspace = a_workspace()
    owner, seat = a_person(workspace), a_seat(workspace)
    create_person(owner, username="bob", handle="bobby")
    with pytest.raises(UsernameTaken):
        create_person(owner, username="bob", handle="other")
    with pytest.raises(HandleTaken):
        create_person(owner, username="other", handle="bobby")
    with pytest.raises(HandleTaken):
        create_person(owner, username="username", handle=seat.handle)


def test_a_workspace_keeps_an_owner():
    owner = a_person(a_workspace())
    for change in ({"role": WorkspaceRole.ADMIN}, {"disabled": True}):
        with pytest.raises(LastOwner):
            edit_member(owner, member_id=owner.actor_id, **change)
    actor = Actor.objects.get(pk=owner.actor_id)
    assert (actor.role, actor.disabled_at) == (WorkspaceRole.OWNER, None)


def test_a_disabled_owner_does_not_count_as_the_last_one():
    workspace = a_workspace()
    owner, other = a_person(workspace), a_person(workspace)
    edit_member(owner, member_id=other.actor_id, disabled=True)
    with pytest.raises(LastOwner):
        edit_member(owner, member_id=owner.actor_id, role=WorkspaceRole.MEMBER)


def test_the_disabled_are_out_with_their_tokens_and_come_back():
    workspace = a_workspace()
    owner, other = a_person(workspace), a_person(workspace, WorkspaceRole.MEMBER)
    _, secret = create_my_token(other, name="laptop")
    user = user_of(other.actor_id)
    edit_member(owner, member_id=other.actor_id, disabled=True)
    with pytest.raises(Unauthenticated):
        caller_of_user(user)
    with pytest.raises(Unauthenticated):
        caller_of_token(secret)
    edit_member(owner, member_id=other.actor_id, disabled=False)
    assert caller_of_token(secret).actor_id == caller_of_user(user).actor_id


def test_people_of_other_workspaces_and_agents_are_not_found():
    workspace = a_workspace()
    owner, stranger = a_person(workspace), a_person(a_workspace())
    for one in (stranger.actor_id, a_seat(workspace).pk, uuid4()):
        with pytest.raises(NotFound):
            edit_member(owner, member_id=one, disabled=True)
        with pytest.raises(NotFound):
            sign_in_link(owner, member_id=one)


def test_a_link_works_once():
    owner = a_person(a_workspace())
    made = create_person(owner, username="bob")
    user_id, token = sign_in_link(owner, member_id=made)
    with pytest.raises(Invalid):
        follow_link(user_id=user_id, token=token, password="short")
    follow_link(user_id=user_id, token=token, password=PASSWORD)
    assert authenticate(username="bob", password=PASSWORD)
    with pytest.raises(LinkUsedUp):
        follow_link(user_id=user_id, token=token, password="another-one-7")


def test_nobody_gets_a_link_into_somebody_with_more_rights():
    workspace = a_workspace()
    admin, owner = a_person(workspace, WorkspaceRole.ADMIN), a_person(workspace)
    with pytest.raises(Forbidden, match="owners"):
        sign_in_link(admin, member_id=owner.actor_id)
    member = a_person(workspace, WorkspaceRole.MEMBER)
    with pytest.raises(Forbidden):
        sign_in_link(member, member_id=member.actor_id)
    User.objects.filter(actors=member.actor_id).update(is_staff=True)
    with pytest.raises(Forbidden, match="outside"):
        sign_in_link(owner, member_id=member.actor_id)
    elsewhere = a_person(workspace, WorkspaceRole.MEMBER)
    Actor.objects.create(
        workspace=a_workspace(),
        kind=Actor.Kind.PERSON,
        handle="elsewhere",
        name="E",
        user=user_of(elsewhere.actor_id),
        role=WorkspaceRole.OWNER,
    )
    with pytest.raises(Forbidden, match="outside"):
        sign_in_link(owner, member_id=elsewhere.actor_id)


def test_the_password_changes_by_the_old_one_only():
    user = set_up(**FIRST)
    caller = caller_of_user(user)
    with pytest.raises(Invalid) as error:
        change_password(caller, old="wrong", new="another-one-7")
    assert pointers(error) == ["/old"]
    with pytest.raises(Invalid) as error:
        change_password(caller, old=PASSWORD, new="123")
    assert set(pointers(error)) == {"/new"}
    change_password(caller, old=PASSWORD, new="another-one-7")
    assert authenticate(username="ann", password="another-one-7")
    assert authenticate(username="ann", password=PASSWORD) is None


def test_a_token_cannot_change_the_password():
    user = set_up(**FIRST)
    _, secret = create_my_token(caller_of_user(user), name="laptop")
    with pytest.raises(Forbidden):
        change_password(caller_of_token(secret), old=PASSWORD, new="another-one-7")


def test_a_profile_is_the_same_in_every_workspace():
    here = a_person(a_workspace())
    there = Actor.objects.create(
        workspace=a_workspace(),
        kind=Actor.Kind.PERSON,
        handle="old",
        name="Old",
        user=user_of(here.actor_id),
        role=WorkspaceRole.MEMBER,
    )
    edit_profile(here, name=" Anna ", handle="@anna", theme="dark")
    for pk in (here.actor_id, there.pk):
        actor = Actor.objects.get(pk=pk)
        assert (actor.name, actor.handle) == ("Anna", "anna")
    assert reads.me(here).theme == "dark"


def test_a_profile_takes_no_handle_of_others_and_no_nonsense():
    workspace = a_workspace()
    me, seat = a_person(workspace), a_seat(workspace)
    with pytest.raises(HandleTaken):
        edit_profile(me, name="Me", handle=seat.handle, theme="dark")
    with pytest.raises(Invalid) as error:
        edit_profile(me, name="", handle="A B", theme="pink")
    assert pointers(error) == ["/name", "/handle", "/theme"]
    assert reads.me(me).theme == "system"


def test_a_personal_token_acts_as_the_person_until_it_is_revoked():
    me = a_person(a_workspace())
    token_id, secret = create_my_token(me, name="laptop", scopes=["read"])
    assert secret.startswith("nvmp_")
    caller = caller_of_token(secret)
    assert (caller.actor_id, caller.role) == (me.actor_id, me.role)
    assert caller.scopes == {"read"}
    assert secret not in str(reads.my_tokens(me))
    revoke_my_token(me, token_id=token_id)
    revoke_my_token(me, token_id=token_id)
    with pytest.raises(Unauthenticated):
        caller_of_token(secret)


def test_a_token_gives_no_more_than_it_has():
    _, secret = create_my_token(a_person(a_workspace()), name="a", scopes=["read"])
    with pytest.raises(Forbidden):
        create_my_token(caller_of_token(secret), name="b", scopes=["manage"])


def test_nobody_revokes_the_tokens_of_others_this_way():
    workspace = a_workspace()
    token_id, secret = create_my_token(a_person(workspace), name="laptop")
    with pytest.raises(NotFound):
        revoke_my_token(a_person(workspace), token_id=token_id)
    assert caller_of_token(secret)


def test_agents_have_no_profile():
    agent = an_agent(a_workspace())
    with pytest.raises(Forbidden):
        edit_profile(agent, name="A", handle="a", theme="dark")
    with pytest.raises(Forbidden):
        create_my_token(agent, name="a")


def test_only_admins_and_the_person_see_what_they_sign_in_with():
    workspace = a_workspace()
    owner, member = a_person(workspace), a_person(workspace, WorkspaceRole.MEMBER)
    seen = {
        who: reads.people(who, page_size=50, page_token="").items
        for who in (owner, member)
    }
    assert all(one.username for one in seen[owner])
    assert not any(one.username or one.email for one in seen[member])
    assert reads.me(member).username
