"""Logins: ended and given back by whoever runs the server."""

from uuid import uuid4

import pytest

from accounts.credentials import caller_of_token
from accounts.errors import Forbidden, NotFound, Unauthenticated
from accounts.models import Actor, User
from accounts.roles import WorkspaceRole
from accounts.verbs.logins import set_login_active
from accounts.verbs.people import LastOwner, edit_member
from accounts.verbs.profile import create_my_token
from tests.accounts.test_people import outcome, user_of
from tests.builders import a_person, a_workspace
from tests.connections import together

pytestmark = pytest.mark.django_db


def runs_the_server(caller) -> User:
    User.objects.filter(actors=caller.actor_id).update(is_superuser=True)
    return user_of(caller.actor_id)


def test_an_ended_login_is_out_with_its_tokens_at_once_and_comes_back():
    workspace = a_workspace()
    by, bob = runs_the_server(a_person(workspace)), a_person(workspace)
    _, secret = create_my_token(bob, name="laptop")
    caller_of_token(secret)
    user = user_of(bob.actor_id).pk
    set_login_active(by=by, user_id=user, active=False)
    with pytest.raises(Unauthenticated):
        caller_of_token(secret)
    set_login_active(by=by, user_id=user, active=True)
    assert caller_of_token(secret)


def test_it_takes_a_superuser_and_somebody():
    owner, bob = a_person(a_workspace()), a_person(a_workspace())
    with pytest.raises(Forbidden):
        set_login_active(
            by=user_of(owner.actor_id), user_id=user_of(bob.actor_id).pk, active=False
        )
    with pytest.raises(NotFound):
        set_login_active(by=runs_the_server(owner), user_id=uuid4(), active=False)
    assert user_of(bob.actor_id).is_active


def test_every_workspace_keeps_an_owner_who_can_sign_in():
    here, there = a_workspace(), a_workspace()
    by, bob = a_person(here), a_person(here)
    user = user_of(bob.actor_id)
    Actor.objects.create(
        workspace=there,
        kind=Actor.Kind.PERSON,
        handle="there",
        name="T",
        user=user,
        role=WorkspaceRole.OWNER,
    )
    server = runs_the_server(by)
    with pytest.raises(LastOwner):
        set_login_active(by=server, user_id=user.pk, active=False)
    a_person(there)
    set_login_active(by=server, user_id=user.pk, active=False)
    # And whose login has ended doesn't count as an owner any more.
    with pytest.raises(LastOwner):
        edit_member(by, member_id=by.actor_id, role=WorkspaceRole.ADMIN)


@pytest.mark.django_db(transaction=True)
def test_two_owners_are_not_shut_out_by_two_ways_at_once():
    workspace = a_workspace()
    ann, bob = a_person(workspace), a_person(workspace)
    server, user = runs_the_server(a_person(a_workspace())), user_of(bob.actor_id).pk
    found = together(
        lambda: outcome(edit_member, bob, member_id=ann.actor_id, disabled=True),
        lambda: outcome(set_login_active, by=server, user_id=user, active=False),
    )
    assert sorted(found) == ["LastOwner", "done"]
