"""From a token or a signed-in person to a caller, and no longer than they may."""

from datetime import timedelta

import pytest
from django.utils import timezone

from accounts import credentials
from accounts.credentials import caller_of_token, caller_of_user
from accounts.errors import Forbidden, Unauthenticated
from accounts.models import Actor, User, WorkerToken
from accounts.roles import WorkspaceRole
from accounts.tokens import AGENT_PREFIX, digest, mint
from tests.builders import a_person, a_seat, a_token, a_workspace


@pytest.fixture
def seat(db):
    return a_seat(a_workspace())


@pytest.fixture
def clock(monkeypatch):
    """The process's clock, moved by hand."""
    now = [1000.0]
    monkeypatch.setattr(credentials, "monotonic", lambda: now[0])

    def move(seconds):
        now[0] += seconds

    return move


def test_a_token_makes_its_seat_the_caller(seat):
    text, row = a_token(seat, ["read", "work"])
    caller = caller_of_token(text)
    assert (caller.workspace_id, caller.actor_id) == (seat.workspace_id, seat.pk)
    assert (caller.kind, caller.handle, caller.role) == ("agent", seat.handle, None)
    assert (caller.token_id, caller.credential_id) == (row.pk, row.pk)
    assert caller.scopes == {"read", "work"}
    assert not caller.is_admin()


def test_a_scope_that_it_lacks_is_named(seat):
    caller = caller_of_token(a_token(seat, ["read"])[0])
    caller.require_scope("read")
    with pytest.raises(Forbidden) as refused:
        caller.require_scope("work")
    assert refused.value.facts["needs"] == "work"


def test_many_tokens_of_one_seat_are_one_actor(seat):
    one, other = (caller_of_token(a_token(seat)[0]) for _ in range(2))
    assert one.actor_id == other.actor_id
    assert one.credential_id != other.credential_id


@pytest.mark.parametrize("token", ["", "nvma_", "x" * 54, None])
def test_an_unknown_token_is_refused(db, token):
    with pytest.raises(Unauthenticated):
        caller_of_token(mint(AGENT_PREFIX) if token is None else token)


def test_what_cannot_be_a_token_costs_no_query(db, django_assert_num_queries):
    with django_assert_num_queries(0), pytest.raises(Unauthenticated):
        caller_of_token(mint(AGENT_PREFIX)[:-1] + "!")


def test_revoked_expired_and_disabled_are_refused_alike(seat):
    past = timezone.now() - timedelta(seconds=1)
    future = timezone.now() + timedelta(hours=1)
    revoked, _ = a_token(seat, revoked_at=past)
    expired, _ = a_token(seat, expires_at=past)
    fresh, _ = a_token(seat, expires_at=future)
    assert caller_of_token(fresh)
    credentials.forget_tokens()
    Actor.objects.filter(pk=seat.pk).update(disabled_at=past)
    for token in (revoked, expired, fresh):
        with pytest.raises(Unauthenticated) as refused:
            caller_of_token(token)
        assert refused.value.detail == Unauthenticated().detail


def test_a_revoked_token_is_refused_within_two_seconds(seat, clock):
    text, row = a_token(seat)
    assert caller_of_token(text)
    WorkerToken.objects.filter(pk=row.pk).update(revoked_at=timezone.now())
    clock(1.9)
    assert caller_of_token(text)
    clock(0.1)
    with pytest.raises(Unauthenticated):
        caller_of_token(text)
    with pytest.raises(Unauthenticated):
        caller_of_token(text)


def test_a_known_token_costs_no_query(seat, clock, django_assert_num_queries):
    text, _ = a_token(seat)
    caller_of_token(text)
    with django_assert_num_queries(0):
        for _ in range(5):
            caller_of_token(text)


def test_the_cache_has_a_bound(seat, monkeypatch):
    monkeypatch.setattr(credentials, "CACHE_ENTRIES", 3)
    for _ in range(8):
        caller_of_token(a_token(seat)[0])
    assert len(credentials._cache) <= 3


def test_the_last_use_is_written_at_most_once_a_minute(seat, clock):
    text, row = a_token(seat)
    caller_of_token(text)
    first = WorkerToken.objects.get(pk=row.pk).last_used_at
    assert first is not None
    clock(3)
    caller_of_token(text)
    assert WorkerToken.objects.get(pk=row.pk).last_used_at == first
    earlier = first - timedelta(seconds=61)
    WorkerToken.objects.filter(pk=row.pk).update(last_used_at=earlier)
    clock(3)
    caller_of_token(text)
    assert WorkerToken.objects.get(pk=row.pk).last_used_at > first


def test_the_secret_is_stored_nowhere(seat):
    text, row = a_token(seat)
    caller_of_token(text)
    stored = WorkerToken.objects.values().get(pk=row.pk)
    assert text not in str(stored)
    assert bytes(stored["digest"]) == digest(text)
    assert text not in str(credentials._cache)


def test_a_person_is_who_they_are_in_the_workspace(db):
    workspace, other = a_workspace(), a_workspace()
    caller = a_person(workspace, WorkspaceRole.ADMIN)
    user = Actor.objects.get(pk=caller.actor_id).user
    elsewhere = Actor.objects.create(
        workspace=other,
        kind="person",
        handle="else",
        name="Else",
        user=user,
        role=WorkspaceRole.MEMBER,
    )
    assert caller_of_user(user) == caller
    there = caller_of_user(user, other.pk)
    assert (there.actor_id, there.role) == (elsewhere.pk, WorkspaceRole.MEMBER)
    assert there.credential_id == elsewhere.pk
    with pytest.raises(Unauthenticated):
        caller_of_user(user, a_workspace().pk)


def test_people_who_are_switched_off_are_nobody(db):
    caller = a_person(a_workspace())
    user = Actor.objects.get(pk=caller.actor_id).user
    user.is_active = False
    with pytest.raises(Unauthenticated):
        caller_of_user(user)
    user.is_active = True
    Actor.objects.filter(pk=caller.actor_id).update(disabled_at=timezone.now())
    with pytest.raises(Unauthenticated):
        caller_of_user(user)
    stranger = User.objects.create(username="stranger", handle="stranger")
    with pytest.raises(Unauthenticated):
        caller_of_user(stranger)
