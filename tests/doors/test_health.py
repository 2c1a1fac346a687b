"""Is it alive, can it work."""

import re
from datetime import timedelta

import pytest
from django.db import connection
from django.db.models import F
from django.test import Client

from novum import health
from novum.timetable import timetable
from supervision import loops
from supervision.models import Loop

ALL_WELL = dict.fromkeys(["database", "redis", *timetable()], "ok")


@pytest.fixture
def ask(db):
    def ask(path="/v1/readyz"):
        answer = Client().get(path)
        return answer.status_code, answer.json()

    return ask


@pytest.fixture(autouse=True)
def _all_ran(db, monkeypatch):
    """However slow the machine is that the tests run on."""
    monkeypatch.setattr(health, "LATE_SECONDS", 600.0)
    monkeypatch.setattr(health, "REDIS_SECONDS", 30.0)
    loops.forget()
    for name in timetable():
        loops.ran(name)
    yield
    loops.forget()


def make_late(name, seconds):
    Loop.objects.filter(pk=name).update(ran_at=F("ran_at") - timedelta(seconds=seconds))


def test_a_process_that_answers_is_alive_without_a_look_at_anything(
    ask, django_assert_num_queries
):
    with django_assert_num_queries(0):
        assert ask("/v1/healthz") == (200, {"status": "ok"})


def test_it_is_ready_when_everything_is_there(ask):
    assert ask() == (200, {"status": "ready", "checks": ALL_WELL})


@pytest.mark.parametrize("name", ["reap", "webhooks-deliver", "gather-messages"])
def test_a_loop_that_is_late_makes_it_red_and_is_named(ask, name):
    make_late(name, 300)
    assert ask()[0] == 200
    make_late(name, 1000)
    status, body = ask()
    assert (status, body["status"]) == (503, "not ready")
    assert [k for k, told in body["checks"].items() if told != "ok"] == [name]
    assert re.fullmatch(r"it last ran 1[3-9]\d\d s ago", body["checks"][name])


def test_a_loop_that_never_ran_or_keeps_failing_says_so(ask):
    Loop.objects.filter(pk="housekeeping").delete()
    assert ask()[1]["checks"]["housekeeping"] == "it never ran"
    loops.expect(["housekeeping", "reap"])
    assert ask()[1]["checks"]["housekeeping"] == "ok"
    Loop.objects.filter(pk="housekeeping").update(
        known_at=F("known_at") - timedelta(days=1)
    )
    assert ask()[1]["checks"]["housekeeping"] == "it never ran"
    loops.ran("housekeeping")
    loops.failed("reap", ValueError("a secret word"))
    assert ask()[1]["checks"]["reap"] == "ok"
    make_late("reap", 1000)
    told = ask()[1]["checks"]["reap"]
    assert told.endswith("s ago, then failed with ValueError")


def test_redis_makes_it_red_but_calls_need_neither_it_nor_the_loops(ask, settings):
    Loop.objects.all().delete()
    for url, told in (("redis://127.0.0.1:1/0", "unreachable: "), ("", "not conf")):
        settings.REDIS_URL = url
        status, body = ask()
        assert status == 503
        assert body["checks"]["redis"].startswith(told)
        assert ask("/v1/readyz?for=calls") == (
            200,
            {"status": "ready", "checks": {"database": "ok"}},
        )


@pytest.mark.parametrize("path", ["/v1/readyz", "/v1/readyz?for=calls"])
def test_it_is_not_ready_while_migrations_are_missing(ask, path):
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM django_migrations WHERE app = 'leases'")
    status, body = ask(path)
    assert (status, body["status"]) == (503, "not ready")
    assert body["checks"]["database"].endswith("migrations missing")


@pytest.mark.parametrize("path", ["/v1/readyz", "/v1/readyz?for=calls"])
def test_it_is_not_ready_without_a_database_and_gives_nothing_away(
    ask, monkeypatch, path
):
    class Gone:
        def __init__(self, connection):
            raise ConnectionError("password=secret host=10.0.0.1")

    monkeypatch.setattr(health, "MigrationExecutor", Gone)
    status, body = ask(path)
    assert status == 503
    assert body["checks"]["database"] == "unreachable: ConnectionError"
