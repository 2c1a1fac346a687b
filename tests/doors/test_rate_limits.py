"""Rate limits of one process; many processes together are in tests/processes."""

import os
import signal
from itertools import count

import pytest
import redis
from django.test import Client

from novum import limits
from tests.doors.http import Http, token_of

_windows = count(step=2)
QUOTA = "https://iana.org/assignments/http-problem-types#quota-exceeded"


@pytest.fixture(autouse=True)
def _counted_anew(monkeypatch):
    """No grant and no rest of another test, and a window of this test alone."""
    monkeypatch.setattr(limits, "_grants", {})
    monkeypatch.setattr(limits, "_redis", None)
    monkeypatch.setattr(limits, "_redis_rests_until", 0.0)
    window = os.getpid() * 10_000 + next(_windows)
    moment = window * limits.WINDOW_SECONDS + 20
    monkeypatch.setattr(limits, "time", lambda: moment)


@pytest.fixture
def limit(settings):
    def to(**limits):
        settings.RATE_LIMITS = settings.RATE_LIMITS | limits

    return to


def statuses(door, number, path="/v1/me", **more):
    return [door("GET", path, **more).status_code for _ in range(number)]


def test_so_many_and_no_more(worker, limit):
    limit(work=5)
    assert statuses(worker, 7) == [200] * 5 + [429] * 2


def test_a_refusal_says_when_to_come_back(worker, limit):
    limit(work=1)
    worker.get("/v1/me")
    refused = worker.get("/v1/me")
    assert refused.json()["code"] == "rate_limited"
    assert refused.json()["type"] == QUOTA
    assert refused.json()["violated-policies"] == ["work"]
    assert refused.headers["Retry-After"] == "40"
    assert refused.headers["RateLimit-Policy"] == '"work";q=1;w=60'
    assert refused.headers["RateLimit"] == '"work";r=0;t=40'


def test_what_is_let_in_says_nothing_of_limits(worker, limit):
    """A process knows only its own grant."""
    limit(work=2)
    assert not [name for name in worker.get("/v1/me").headers if "RateLimit" in name]


def test_each_limit_is_told_by_its_own_name(worker, world, queue, limit):
    world.add()
    limit(work=2, finish=1, guess=1)
    held = worker.post(f"{queue}:claim-next").json()
    renew = f"/v1/leases/{held['lease']['id']}:renew"
    receipt = {"lease_token": held["lease_token"]}
    calls = {
        "work": lambda: worker.get("/v1/me"),
        "finish": lambda: worker.post(renew, receipt),
        "guess": lambda: Http("nvma_wrong").get("/v1/me"),
    }
    for name, call in calls.items():
        call()
        assert call().headers["RateLimit"] == f'"{name}";r=0;t=40'


def test_pages_and_figures_tell_it_by_the_same_headers(world, limit, settings):
    limit(guess=1)
    settings.METRICS_TOKEN, settings.METRICS_ALLOW = "right", []
    client, wrong = Client(), {"username": "nobody", "password": "wrong"}
    calls = {
        "sign-in": lambda: client.post("/sign-in", wrong),
        "guess": lambda: client.get("/metrics", headers={"Authorization": "Bearer w"}),
    }
    for name, call in calls.items():
        call()
        answer = call()
        assert answer.status_code == 429
        assert answer.headers["RateLimit-Policy"] == f'"{name}";q=1;w=60'
        assert answer.headers["RateLimit"] == f'"{name}";r=0;t=40'
        assert answer.headers["Retry-After"] == "40"


def test_the_next_window_is_a_new_one(worker, limit, monkeypatch):
    limit(work=1)
    assert statuses(worker, 2) == [200, 429]
    later = limits.time() + limits.WINDOW_SECONDS
    monkeypatch.setattr(limits, "time", lambda: later)
    assert statuses(worker, 2) == [200, 429]


def test_each_credential_has_its_own(worker, world, limit):
    limit(work=2)
    mate = Http(token_of(world.worker))
    assert statuses(worker, 3) == [200, 200, 429]
    assert statuses(mate, 3) == [200, 200, 429]


def test_an_address_in_a_header_starts_no_new_count(worker, limit):
    limit(work=2, guess=2)
    for number in range(4):
        spoofed = {"X-Forwarded-For": f"10.0.0.{number}", "Forwarded": "for=10.9.9.9"}
        expected = 200 if number < 2 else 429
        assert statuses(worker, 1, headers=spoofed) == [expected]
        expected = 401 if number < 2 else 429
        assert statuses(Http("nvma_x"), 1, headers=spoofed) == [expected]


def test_behind_a_trusted_proxy_its_word_counts_and_nobody_elses(
    world, limit, settings
):
    limit(guess=1)
    settings.TRUSTED_PROXIES = 1
    stranger = Http("nvma_x")
    for said, expected in [
        ("10.0.0.1", 401),
        ("1.1.1.1, 10.0.0.1", 429),
        ("10.0.0.1, 10.0.0.2", 401),
        ("10.0.0.2", 429),
    ]:
        header = {"X-Forwarded-For": said}
        assert statuses(stranger, 1, headers=header) == [expected]


def test_hard_polling_starves_no_heartbeat(worker, world, queue, limit):
    world.add()
    limit(work=4, finish=3)
    held = worker.post(f"{queue}:claim-next").json()
    polls = [worker.post(f"{queue}:claim-next").status_code for _ in range(5)]
    assert polls == [200] * 3 + [429] * 2
    lease = f"/v1/leases/{held['lease']['id']}"
    receipt = {"lease_token": held["lease_token"]}
    assert worker.post(f"{lease}:renew", receipt).status_code == 200
    assert worker.post(f"{lease}:heartbeat", receipt).status_code == 200
    assert worker.post(f"{lease}:complete", receipt).status_code == 200
    assert worker.post(f"{lease}:complete", receipt).status_code == 429


def test_guesses_at_tokens_are_counted_by_address(worker, limit):
    limit(guess=3)
    assert statuses(Http("nvma_wrong"), 5) == [401] * 3 + [429] * 2
    assert worker.get("/v1/me").status_code == 200


def test_zero_switches_a_limit_off(worker, limit):
    limit(work=0)
    assert statuses(worker, 20) == [200] * 20


def test_a_refused_call_does_nothing(worker, world, queue, limit):
    world.add()
    limit(work=1)
    worker.get("/v1/me")
    assert worker.post(f"{queue}:claim-next").status_code == 429
    assert world.claim()


def test_without_redis_each_process_counts_for_itself(worker, limit, settings):
    settings.REDIS_URL = "redis://127.0.0.1:1/0"
    limit(work=5)
    assert statuses(worker, 7) == [200] * 5 + [429] * 2


def test_a_redis_that_does_not_answer_holds_nobody_up(
    worker, limit, settings, monkeypatch
):
    monkeypatch.setattr(limits, "REDIS_REST_SECONDS", 600.0)
    limit(work=300)
    worker.get("/v1/me")
    asked, pipeline = [], limits._redis.pipeline
    monkeypatch.setattr(
        limits._redis, "pipeline", lambda: asked.append(1) or pipeline()
    )
    pid = redis.Redis.from_url(settings.REDIS_URL).info("server")["process_id"]
    os.kill(pid, signal.SIGSTOP)
    try:
        assert statuses(worker, 30) == [200] * 30
        # Of all of them one has asked.
        assert len(asked) == 1
    finally:
        os.kill(pid, signal.SIGCONT)
