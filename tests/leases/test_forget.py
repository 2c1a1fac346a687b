"""Old leases go only where it's wanted, and only those of finished cards."""

import subprocess
import sys
from datetime import timedelta
from uuid import UUID

import pytest

from accounts.moments import first_id_ago
from boards.models import Card
from boards.verbs.cards import archive_card
from boards.verbs.housekeeping import forget_events
from leases.models import Lease, Refusal
from leases.verbs import forget
from leases.verbs.complete import complete
from leases.verbs.forget import forget_leases
from leases.verbs.give_back import fail, release
from novum.running.settings import ROOT
from supervision.verbs.forget import forget_minutes
from tasks_people.verbs.housekeeping import forget_messages
from tests.builders import receipt
from webhooks import conf
from webhooks.verbs.forget import forget as forget_deliveries


def made_ago(lease_id, days):
    old = UUID(int=first_id_ago(timedelta(days=days)).int + lease_id.int % (1 << 70))
    Refusal.objects.filter(lease_id=lease_id).delete()
    Lease.objects.filter(pk=lease_id).update(id=old)
    Card.objects.filter(lease_id=lease_id).update(lease_id=old)
    return old


@pytest.fixture
def leases(world):
    """Of a card each that is done (long ago and lately), failed, archived, held."""
    world.set(max_attempts=1)
    world.add_many(5)
    done, late, failed, away, held = (world.claim() for _ in range(5))
    for one in (done, late):
        complete(world.worker, **receipt(one), output={"ok": 1})
    fail(world.worker, **receipt(failed))
    release(world.worker, **receipt(away))
    archive_card(world.owner, card_id=away.card.id)
    found = {"late": late.lease.id}
    for name, one in (("done", done), ("failed", failed), ("away", away)):
        found[name] = made_ago(one.lease.id, 40)
    found["held"] = held.lease.id
    return found, done.card.id


def test_what_is_finished_goes_and_the_rest_stays(leases, monkeypatch):
    found, card = leases
    monkeypatch.setattr(forget, "BATCH", 1)
    assert forget_leases(30) == 2
    left = set(Lease.objects.values_list("pk", flat=True))
    assert left == {found["late"], found["failed"], found["held"]}
    assert Card.objects.get(pk=card).output == {"ok": 1}
    assert forget_leases(30) == 0


def test_none_is_for_ever(leases, monkeypatch):
    monkeypatch.setattr(conf, "KEPT_DAYS", 0)
    before = Lease.objects.count()
    for forgotten in (
        forget_leases(0),
        forget_events(0),
        forget_messages(0),
        forget_minutes(0),
        forget_deliveries(),
    ):
        assert forgotten == 0
    assert Lease.objects.count() == before


@pytest.mark.parametrize("what", ["EVENT", "MESSAGE", "STATS", "LEASE"])
def test_less_than_none_is_refused_at_the_start(what):
    done = subprocess.run(
        [sys.executable, "-c", "import novum.settings"],
        cwd=ROOT,
        env={f"NOVUM_{what}_RETENTION_DAYS": "-1", "SECRET_KEY": "k" * 50},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 1
    assert "RETENTION_DAYS is below 0" in done.stderr
