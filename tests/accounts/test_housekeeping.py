"""Remembered calls live for a day, sessions until they expire."""

from datetime import timedelta

import pytest
from django.contrib.sessions.models import Session
from django.utils.timezone import now

from accounts.ids import new_id
from accounts.models import RememberedCall
from accounts.moments import first_id_ago, first_id_at
from accounts.verbs import housekeeping
from accounts.verbs.housekeeping import forget_calls, forget_sessions


def a_call(age: timedelta) -> int:
    row = RememberedCall.objects.create(
        credential=new_id(), operation="claim", key="k", fingerprint=b"f"
    )
    RememberedCall.objects.filter(pk=row.pk).update(created_at=now() - age)
    return row.pk


@pytest.mark.django_db
def test_calls_are_forgotten_after_a_day_and_not_before():
    old = [a_call(timedelta(days=1, seconds=5)), a_call(timedelta(days=400))]
    kept = [a_call(timedelta(days=1, seconds=-5)), a_call(timedelta(0))]
    assert forget_calls() == len(old)
    assert sorted(RememberedCall.objects.values_list("pk", flat=True)) == kept
    assert forget_calls() == 0


@pytest.mark.django_db
def test_many_calls_are_forgotten_in_batches(monkeypatch, django_assert_num_queries):
    monkeypatch.setattr(housekeeping, "BATCH", 2)
    for _ in range(5):
        a_call(timedelta(days=2))
    with django_assert_num_queries(6):
        assert forget_calls() == 5


@pytest.mark.django_db
def test_one_pass_is_bounded_and_the_next_goes_on(monkeypatch):
    monkeypatch.setattr(housekeeping, "BATCH", 2)
    monkeypatch.setattr(housekeeping, "MAX_BATCHES", 2)
    for _ in range(5):
        a_call(timedelta(days=2))
    assert [forget_calls(), forget_calls(), forget_calls()] == [4, 1, 0]


@pytest.mark.django_db
def test_expired_sessions_go_and_the_others_stay():
    for name, age in (("old", 1), ("live", -1)):
        expires = now() - timedelta(hours=age)
        Session.objects.create(session_key=name, session_data="", expire_date=expires)
    forget_sessions()
    assert [one.session_key for one in Session.objects.all()] == ["live"]


def test_a_boundary_lies_between_the_ids_of_two_moments():
    before = now()
    made = [new_id() for _ in range(100)]
    assert all(first_id_at(before) <= one for one in made)
    assert all(one < first_id_at(now() + timedelta(milliseconds=2)) for one in made)
    assert all(first_id_ago(timedelta(seconds=1)) < one for one in made)
