"""Is it alive, can it work."""

import pytest
from django.db import connection
from django.test import Client

from novum.rest import health


@pytest.fixture
def ask(db):
    def ask(path):
        answer = Client().get(path)
        return answer.status_code, answer.json()

    return ask


def test_a_process_that_answers_is_alive_without_a_look_at_anything(
    ask, django_assert_num_queries
):
    with django_assert_num_queries(0):
        assert ask("/v1/healthz") == (200, {"status": "ok"})


def test_it_is_ready_when_the_database_and_redis_answer(ask):
    status, body = ask("/v1/readyz")
    assert status == 200
    assert body == {"status": "ready", "checks": {"database": "ok", "redis": "ok"}}


def test_it_is_ready_without_redis_and_says_so(ask, settings):
    settings.REDIS_URL = "redis://127.0.0.1:1/0"
    status, body = ask("/v1/readyz")
    assert (status, body["status"]) == (200, "ready")
    assert body["checks"]["redis"].startswith("unreachable: ")
    settings.REDIS_URL = ""
    assert ask("/v1/readyz")[1]["checks"]["redis"] == "not configured"


def test_it_is_not_ready_while_migrations_are_missing(ask):
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM django_migrations WHERE app = 'leases'")
    status, body = ask("/v1/readyz")
    assert (status, body["status"]) == (503, "not ready")
    assert body["checks"]["database"].endswith("migrations missing")


def test_it_is_not_ready_without_a_database_and_gives_nothing_away(ask, monkeypatch):
    class Gone:
        def __init__(self, connection):
            raise ConnectionError("password=secret host=10.0.0.1")

    monkeypatch.setattr(health, "MigrationExecutor", Gone)
    status, body = ask("/v1/readyz")
    assert status == 503
    assert body["checks"]["database"] == "unreachable: ConnectionError"
