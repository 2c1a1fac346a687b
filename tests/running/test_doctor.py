"""The doctor: each thing that can be wrong is found, with what to do."""

import pytest
from django.core.management import call_command
from django.db import connection

from novum import health
from novum.doctor import of_services, of_settings
from novum.doctor.examine import CHECKS, examine
from novum.timetable import timetable
from supervision import loops
from tests.builders import an_agent
from tests.doors.http import door_of

GOOD = "kR7vX2mQ9tL4wZ8nB3cY6hJ1pF5sD0gA7uE2iO9xV4bN6mC8qT1wE5"


@pytest.fixture
def well(db, settings, monkeypatch):
    """A deployment that nothing is wrong with, however slow its machine is."""
    monkeypatch.setattr(health, "LATE_SECONDS", 600.0)
    monkeypatch.setattr(health, "REDIS_SECONDS", 30.0)
    monkeypatch.setattr(of_services, "SKEW_SECONDS", 600.0)
    monkeypatch.setattr(of_services, "OLD_SECONDS", 3600.0)
    loops.forget()
    settings.SECRET_KEY = GOOD
    settings.NOVUM_URL, settings.TRUSTED_PROXIES = "https://novum.example.com", 1
    settings.ALLOWED_HOSTS = ["novum.example.com", "testserver"]
    for name in timetable():
        loops.ran(name)
    yield
    loops.forget()


def wrong():
    return {one.area: one for one in examine() if one.level != "ok"}


def test_where_nothing_is_wrong_everything_was_looked_at(well, capsys):
    assert wrong() == {}
    call_command("doctor")
    told = capsys.readouterr().out
    assert "PROBLEM" not in told
    looked_at = {area for area, _, _ in CHECKS} - {"disk"}
    assert looked_at == {one.area for one in examine()}


def a_weak_key(settings):
    settings.SECRET_KEY = "x" * 60


def debugging(settings):
    settings.DEBUG = True


def no_tls(settings):
    settings.NOVUM_URL = "http://novum.example.com"


def any_host(settings):
    settings.ALLOWED_HOSTS = ["*"]


def untrusted(settings):
    settings.TRUSTED_PROXIES = 0


def no_redis(settings):
    settings.REDIS_URL = ""


def dead_redis(settings):
    settings.REDIS_URL = "redis://:pass-word@127.0.0.1:1/0"


@pytest.mark.parametrize(
    ("spoil", "area", "level", "words"),
    [
        (a_weak_key, "keys", "problem", "guessed"),
        (debugging, "debug", "problem", "DEBUG"),
        (no_tls, "https", "warning", "without TLS"),
        (any_host, "https", "warning", "Any name"),
        (untrusted, "https", "warning", "No proxy"),
        (no_redis, "redis", "problem", "None is named"),
        (dead_redis, "redis", "problem", "ConnectionError"),
    ],
)
def test_settings_and_redis(well, settings, spoil, area, level, words):
    spoil(settings)
    found = wrong()[area]
    assert found.level == level
    assert words in found.what
    assert found.advice
    assert "pass-word" not in str(examine())


@pytest.mark.parametrize(
    ("name", "value", "area", "words"),
    [
        ("POSTGRES", 99, "database", "too old"),
        ("REDIS", 99, "redis", "too old"),
        ("SKEW_SECONDS", -1.0, "clocks", "clock is"),
        ("MANY", 0.0, "connections", "connections are open"),
    ],
)
def test_services(well, monkeypatch, name, value, area, words):
    monkeypatch.setattr(of_services, name, value)
    found = wrong()[area]
    assert words in found.what
    assert found.advice


def test_a_session_that_begins_otherwise(well, settings):
    settings.DATABASE_SESSION = {**settings.DATABASE_SESSION, "jit": "on"}
    assert "begin without jit" in wrong()["sessions"].what


def test_migrations_that_are_missing_or_from_elsewhere(well):
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM django_migrations WHERE app = 'leases'")
        cursor.execute(
            "INSERT INTO django_migrations (app, name, applied)"
            " VALUES ('supervision', '9999_later', now())"
        )
    told = [one for one in examine() if one.area == "migrations"]
    assert [one.level for one in told] == ["problem", "warning"]
    assert "supervision.9999_later" in told[1].what


def test_a_full_disk(well, settings, monkeypatch):
    settings.EMBEDDED = True
    monkeypatch.setattr(of_settings, "TOO_FEW_BYTES", 1 << 62)
    assert wrong()["disk"].level == "problem"
    monkeypatch.setattr(of_settings, "TOO_FEW_BYTES", 0)
    monkeypatch.setattr(of_settings, "FEW_BYTES", 1 << 62)
    assert wrong()["disk"].level == "warning"


def test_without_a_database_it_says_so_and_goes_on(well, monkeypatch, capsys):
    def gone(*_):
        raise ConnectionError("password=secret")

    with monkeypatch.context() as patched:
        patched.setattr(connection, "cursor", gone)
        found = wrong()
        assert {"database", "sessions", "migrations", "loops"} <= set(found)
        with pytest.raises(SystemExit) as ended:
            call_command("doctor")
    assert ended.value.code == 1
    told = capsys.readouterr().out
    assert "PROBLEM  database" in told
    assert "DATABASE_URL" in told
    assert "secret" not in told


def test_loops_that_stand_still_are_named(well, world):
    loops.Loop.objects.filter(pk="reap").delete()
    assert "reap: it never ran" in wrong()["loops"].what


def test_admins_can_ask_at_every_door(world):
    answer = door_of(world.owner).get("/v1/findings")
    assert answer.status_code == 200
    areas = {one["area"] for one in answer.json()["items"]}
    assert {"database", "loops", "clocks"} <= areas
    agent = an_agent(world.workspace)
    assert door_of(agent).get("/v1/findings").status_code == 403
