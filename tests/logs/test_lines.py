"""Lines of the log: what they have, and what never stands in one."""

import io
import json
import logging
from uuid import UUID

import pytest
from django.db import DatabaseError

from novum.celery import app
from novum.logs.formatting import CENSORED, censored, formatter
from tests.doors.http import door_of
from webhooks.signing import new_secret

PASSWORD = "correct horse battery staple"


@pytest.fixture
def lines(monkeypatch):
    """What is logged, as a machine reads it, however slow the tests are."""
    monkeypatch.setattr("novum.logs.calls.SLOW_SECONDS", 1e9)
    # Celery sets up Django, and with it the log, when it loads the jobs.
    app.loader.import_default_modules()
    out = io.StringIO()
    handler = logging.StreamHandler(out)
    handler.setFormatter(formatter(as_json=True))
    root = logging.getLogger()
    level = root.level
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    yield lambda: [json.loads(line) for line in out.getvalue().splitlines()]
    root.removeHandler(handler)
    root.setLevel(level)


def calls(lines):
    return [line for line in lines() if line["logger"] == "novum.calls"]


def broken(monkeypatch, error):
    """Every operation runs into a fault of ours."""

    def fails(*arguments):
        raise error

    monkeypatch.setattr("novum.operations.perform._once", fails)


def test_a_call_has_an_id_that_its_answer_its_problem_and_its_lines_tell(
    world, lines, monkeypatch
):
    door = door_of(world.owner)
    answer = door.get("/v1/me")
    UUID(answer["X-Request-ID"])
    answer = door("GET", "/v1/me", headers={"X-Request-ID": "from-the-proxy.1"})
    assert answer["X-Request-ID"] == "from-the-proxy.1"
    for bad in ("a b", "x" * 200, ""):
        answer = door("GET", "/v1/me", headers={"X-Request-ID": bad})
        assert answer["X-Request-ID"] not in ("", bad)
    assert calls(lines) == []
    broken(monkeypatch, RuntimeError("of ours"))
    answer = door("GET", "/v1/me", headers={"X-Request-ID": "abc-1"})
    assert answer.json()["request_id"] == answer["X-Request-ID"] == "abc-1"
    (line,) = calls(lines)
    assert (line["level"], line["status"]) == ("error", 500)
    told = [one for one in lines() if one.get("request_id") == "abc-1"]
    assert any("RuntimeError: of ours" in one.get("exception", "") for one in told)


def test_where_asked_for_each_call_has_a_line(world, lines, settings):
    settings.LOG_REQUESTS = True
    world.add()
    door = door_of(world.worker)
    answer = door.post(f"/v1/boards/{world.board}/columns/{world.queue}:claim-next")
    held = answer.json()
    (line,) = calls(lines)
    assert line["operation"] == "claim_next_card"
    assert line["actor"] == str(world.worker.actor_id)
    assert line["lease"] == held["lease"]["id"]
    assert line["card"] == held["card"]["id"]
    assert (line["status"], line["level"]) == (200, "info")
    assert line["milliseconds"] > 0
    assert line["request_id"] == answer["X-Request-ID"]


def test_what_goes_wrong_by_the_callers_fault_is_only_for_debugging(world, lines):
    door_of(world.worker).get("/v1/boards/00000000-0000-0000-0000-000000000000")
    (line,) = calls(lines)
    assert (line["level"], line["status"]) == ("debug", 404)


def test_a_slow_call_has_a_line(world, lines, monkeypatch):
    monkeypatch.setattr("novum.logs.calls.SLOW_SECONDS", 0.0)
    door_of(world.worker).get("/v1/me")
    (line,) = calls(lines)
    assert line["level"] == "warning"


def test_a_jobs_lines_say_whose_they_are(db, lines, monkeypatch):
    def fails():
        logging.getLogger("leases").warning("On the way")
        raise DatabaseError

    monkeypatch.setattr("leases.background.reap_once", fails)
    app.tasks["leases.background.reap"].apply()
    (line,) = [one for one in lines() if one["event"] == "On the way"]
    assert line["job"] == "leases.background.reap"
    assert line["run"]


def test_no_secret_of_a_call_ever_stands_in_a_line(world, lines, settings, monkeypatch):
    """Canaries: a call with all kinds of secrets that fails with all of them in its
    error, in the worst of cases, with every line on."""
    settings.LOG_REQUESTS = True
    world.add()
    held = world.claim()
    door = door_of(world.worker)
    webhook = new_secret()
    secrets = [door.token, held.lease_token, webhook, PASSWORD, "s3ss10n-cookie"]
    error = RuntimeError(
        f"Authorization: Bearer {door.token}; lease_token='{held.lease_token}' {webhook}"
        f" postgres://novum:{'pw-of-db'}@host/db password={PASSWORD.split()[0]}"
    )
    log = logging.getLogger("anything")
    log.error("failed with %s", error, exc_info=error)
    log.error("said", extra={"facts": {"token": door.token, "new_password": PASSWORD}})
    log.error('{"lease_token": "%s", "cookie": "s3ss10n-cookie"}', held.lease_token)
    log.error("GET /welcome/01a22921-d583-7185-9b54-a19e738e2478/d4t6-abcdef0123")
    door.post(f"/v1/leases/{held.lease.id}:complete", {"lease_token": "wrong"})
    door.post(f"/v1/leases/{held.lease.id}:renew", {"lease_token": held.lease_token})
    broken(monkeypatch, error)
    door.post(f"/v1/leases/{held.lease.id}:complete", {"lease_token": held.lease_token})
    text = json.dumps(lines())
    for secret in [*secrets, "pw-of-db", "correct", "d4t6-abcdef0123"]:
        assert secret not in text
    assert text.count(CENSORED) > 8
    assert len(calls(lines)) == 3


@pytest.mark.parametrize(
    "text",
    [
        "token expired, cookie missing",
        "nvma_ is how a token begins",
        "https://novum.example.com/boards: seen",
        "basic work",
    ],
)
def test_what_is_no_secret_is_left_as_it_is(text):
    assert censored(text) == text


def test_on_a_terminal_a_line_is_to_be_read(world):
    record = logging.LogRecord("x", logging.INFO, "", 1, "Well: %s", ("done",), None)
    assert "Well: done" in formatter(as_json=False).format(record)
