"""What PostgreSQL itself refuses of people, agents and tokens."""

import pytest
from django.db import IntegrityError, transaction
from django.db.models import ProtectedError

from accounts.ids import new_id
from accounts.models import Actor, RememberedCall, User, WorkerToken, Workspace
from boards.models import BoardMember
from tests.builders import a_seat, a_token, a_workspace


def refused(name):
    return pytest.raises(IntegrityError, match=name)


@pytest.fixture
def workspace(db):
    return a_workspace()


def test_one_handle_twice_in_a_workspace(workspace):
    seat = a_seat(workspace)
    with refused("actor_handle_once_per_workspace"), transaction.atomic():
        Actor.objects.create(
            workspace=workspace, kind="agent", handle=seat.handle, name="x"
        )
    Actor.objects.create(
        workspace=a_workspace(), kind="agent", handle=seat.handle, name="x"
    )


def test_one_person_twice_in_a_workspace(workspace):
    user = User.objects.create(username="ann", handle="ann")
    fields = {"workspace": workspace, "kind": "person", "user": user, "role": 1}
    Actor.objects.create(handle="ann", name="Ann", **fields)
    with refused("actor_user_once_per_workspace"), transaction.atomic():
        Actor.objects.create(handle="ann2", name="Ann", **fields)


@pytest.mark.parametrize(
    "fields",
    [
        {"kind": "person"},
        {"kind": "agent", "role": 1},
        {"kind": "robot"},
    ],
)
def test_an_actor_that_is_neither_a_person_nor_an_agent(workspace, fields):
    with refused("actor_is_person_or_agent"), transaction.atomic():
        Actor.objects.create(workspace=workspace, handle="x", name="x", **fields)


def test_an_agent_with_a_login(workspace):
    user = User.objects.create(username="ann", handle="ann")
    with refused("actor_is_person_or_agent"), transaction.atomic():
        Actor.objects.create(
            workspace=workspace, kind="agent", handle="x", name="x", user=user
        )


def test_two_workspaces_with_one_address(workspace):
    with refused("slug"), transaction.atomic():
        Workspace.objects.create(name="x", slug=workspace.slug)


def test_one_digest_twice(workspace):
    _, row = a_token(a_seat(workspace))
    with refused("digest"), transaction.atomic():
        row.pk, row._state.adding = new_id(), True
        row.save(force_insert=True)
    assert WorkerToken.objects.count() == 1


def test_one_key_of_a_credential_twice(workspace):
    fields = {"credential": new_id(), "operation": "x", "key": "k", "fingerprint": b""}
    RememberedCall.objects.create(**fields)
    with refused("remembered_call_once"), transaction.atomic():
        RememberedCall.objects.create(**fields)
    RememberedCall.objects.create(**{**fields, "credential": new_id()})
    RememberedCall.objects.create(**{**fields, "operation": "y"})


def test_one_member_of_a_board_twice(world):
    fields = {"board_id": world.board, "actor_id": world.worker.actor_id, "role": 1}
    BoardMember.objects.create(**fields)
    with refused("board_member_once"), transaction.atomic():
        BoardMember.objects.create(**fields)


def test_a_person_with_a_history_is_not_deleted(world):
    user = Actor.objects.get(pk=world.owner.actor_id).user
    with pytest.raises(ProtectedError):
        user.delete()
