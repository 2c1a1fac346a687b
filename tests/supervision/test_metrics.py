"""/metrics: the figures are the rows', who may read them, and that none can flood it."""

from datetime import timedelta

import pytest
from django.db.models import F
from django.test import Client
from prometheus_client.openmetrics.parser import (
    text_string_to_metric_families as parse_open,
)
from prometheus_client.parser import text_string_to_metric_families as parse

from leases.verbs.complete import complete
from novum import health
from novum.timetable import timetable
from supervision import loops
from supervision.models import Loop, QueueTotals
from supervision.scrape import OTHER
from tests.builders import a_world, lapse, receipt

ORDER = ("board", "queue", "column", "loop", "state", "le")
TOKEN = "scrape-me-0123456789"


@pytest.fixture(autouse=True)
def _nothing_written():
    loops.forget()
    yield
    loops.forget()


def scraped(**headers):
    answer = Client().get("/metrics", headers=headers)
    assert answer.status_code == 200, answer.content
    found = {}
    for family in parse(answer.content.decode()):
        for sample in family.samples:
            labels = [sample.labels[one] for one in ORDER if one in sample.labels]
            found[sample.name, *labels] = sample.value
    return found


def test_a_queue_is_told_as_it_is_and_as_it_ever_was(world):
    world.set(max_attempts=1)
    world.add_many(3)
    complete(world.worker, **receipt(world.claim()))
    lapse(world.claim())
    wait, run = [0] * 9 + [4], [0] * 30 + [3, 1]
    QueueTotals.objects.create(
        column_id=world.queue, claims=4, completed=3, expired=1, wait=wait, run=run
    )
    found = scraped()
    queue = ("Content", "Drafting", str(world.queue))
    assert found["novum_queue_claims_total", *queue] == 4
    assert found["novum_queue_completed_total", *queue] == 3
    assert found["novum_queue_dead_lettered_total", *queue] == 0
    assert found["novum_queue_ready", *queue] == 1
    assert found["novum_queue_working", *queue] == 1
    assert found["novum_queue_lapsed", *queue] == 1
    assert found["novum_reaper_lag_seconds",] >= 1
    # Waits of 0.16 to 0.23 s, runs of 226 to 453 s.
    at = {
        edge: found["novum_queue_wait_seconds_bucket", *queue, edge]
        for edge in ("0.16", "0.64", "+Inf")
    }
    assert at == {"0.16": 0, "0.64": 4, "+Inf": 4}
    assert found["novum_queue_run_seconds_count", *queue] == 4
    assert 4 * 200 < found["novum_queue_run_seconds_sum", *queue] < 4 * 460


def test_loops_and_webhooks_are_told(db, monkeypatch):
    monkeypatch.setattr(health, "LATE_SECONDS", 600.0)
    for name in timetable():
        loops.ran(name, seconds=0.25)
    Loop.objects.filter(pk="reap").update(ran_at=F("ran_at") - timedelta(hours=1))
    found = scraped()
    assert found["novum_loop_is_late", "reap"] == 1
    assert {
        name
        for kind, name, *_ in filter(lambda key: len(key) == 2, found)
        if kind == "novum_loop_last_run_timestamp_seconds"
    } == set(timetable())
    assert found["novum_loop_is_late", "roll-up"] == 0
    assert found["novum_loop_run_seconds", "roll-up"] == 0.25
    assert found["novum_webhook_lag_seconds",] == 0
    assert found["novum_webhook_endpoints", "on"] == 0


def test_many_queues_cost_a_few_statements_and_a_bounded_number_of_lines(
    world, settings, django_assert_max_num_queries
):
    settings.METRICS_QUEUES = 2
    worlds = [world, *(a_world() for _ in range(4))]
    for one in worlds:
        one.add()
        QueueTotals.objects.create(column_id=one.queue, claims=5, run=[0, 2, 1])
    with django_assert_max_num_queries(6):
        found = scraped()
    told = [key for key in found if key[0] == "novum_queue_ready"]
    assert len(told) == 3
    others = (OTHER,) * 3
    assert found["novum_queue_ready", *others] == 3
    assert found["novum_queue_claims_total", *others] == 15
    assert found["novum_queue_run_seconds_count", *others] == 9


def test_openmetrics_is_given_to_those_who_ask(world):
    world.add()
    answer = Client().get(
        "/metrics", headers={"Accept": "application/openmetrics-text; version=1.0.0"}
    )
    assert answer["Content-Type"].startswith("application/openmetrics-text")
    assert list(parse_open(answer.content.decode()))


def status(address="127.0.0.1", **headers):
    return Client().get("/metrics", headers=headers, REMOTE_ADDR=address).status_code


def test_without_a_token_it_is_for_this_machine_alone(db):
    assert [status(one) for one in ("127.0.0.1", "::1", "::ffff:127.0.0.1")] == [
        200
    ] * 3
    assert [status(one) for one in ("10.0.0.1", "2001:db8::1", "nonsense")] == [403] * 3
    # A proxy on this machine, which nobody has said to trust.
    assert status(**{"X-Forwarded-For": "203.0.113.9"}) == 403


def test_addresses_may_be_named_and_trusted_proxies_are_seen_through(db, settings):
    settings.METRICS_ALLOW = ["10.1.0.0/16"]
    assert (status("10.1.2.3"), status("127.0.0.1")) == (200, 403)
    settings.TRUSTED_PROXIES = 1
    assert status(**{"X-Forwarded-For": "203.0.113.9, 10.1.2.3"}) == 200
    assert status(**{"X-Forwarded-For": "10.1.2.3, 203.0.113.9"}) == 403


def test_a_token_lets_in_from_anywhere_and_guesses_are_counted(db, settings):
    settings.METRICS_TOKEN, settings.METRICS_ALLOW = TOKEN, []
    settings.RATE_LIMITS = {**settings.RATE_LIMITS, "guess": 2}
    assert status() == 403
    assert status("192.0.2.77", Authorization=f"Bearer {TOKEN}") == 200
    assert status("192.0.2.77", Authorization=f"Basic {TOKEN}") == 403
    # Enough of them for two minutes, should one end just now.
    guesses = [status("192.0.2.77", Authorization="Bearer wrong") for _ in range(6)]
    assert 429 in guesses
    settings.METRICS_TOKEN = ""
    assert status("192.0.2.78", Authorization="Bearer ") == 403
    assert Client().post("/metrics").status_code == 405
