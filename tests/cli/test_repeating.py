"""After a cut a call is sent again, if that is safe; and done once."""

import time

import pytest

from boards.models import Card
from leases.models import Lease

pytestmark = pytest.mark.processes


@pytest.fixture
def wired(shell, wire):
    shell.environment["NOVUM_URL"] = wire.url
    assert shell("get_me").code == 0
    return shell


def test_a_card_whose_answer_was_lost_is_made_once(wired, wire, column):
    wire.lose(2, "/v1/cards")
    card = wired("create_card", *column, "title=Once").json
    assert wire.count("POST /v1/cards") == 3
    assert [str(one.pk) for one in Card.objects.all()] == [card["id"]]


def test_a_claim_whose_answer_was_lost_is_the_same_claim(wired, wire, column, world):
    world.add_many(2)
    wire.lose(1, ":claim-next")
    claim = wired("claim_next_card", *column).json
    assert claim["replayed"] is True
    assert Lease.objects.count() == 1
    assert claim["lease_token"]


def test_a_completion_whose_answer_was_lost_is_told_as_replayed(wired, wire, world):
    world.add()
    held = world.claim()
    wire.lose(1, ":complete")
    receipt = [f"lease_id={held.lease.id}", f"lease_token={held.lease_token}"]
    done = wired("complete_lease", *receipt, 'output:={"rows":312}').json
    assert done["replayed"] is True
    assert done["lease"]["state"] == "completed"


def test_what_is_not_safe_is_not_sent_again(wired, wire, world):
    card = world.add()
    wire.lose(1, ":move")
    move = wired("move_card", f"card_id={card}", f"column_id={world.done}")
    move.failed(8, "It may have been done or not")
    assert wire.count(":move") == 1


def test_no_answer_at_all_ends_in_a_few_seconds(wired, wire, column):
    wire.lose(99, "/v1/cards")
    started = time.monotonic()
    wired("create_card", *column, "title=Never heard of").failed(8)
    assert time.monotonic() - started < 30
    assert wire.count("POST /v1/cards") == 5
    assert Card.objects.count() == 1


def test_a_key_of_ones_own_makes_one_thing_of_two_commands(shell, column):
    words = ["create_card", *column, "title=Nightly", "--key", "nightly 2026-11-29"]
    first, second = shell(*words).json, shell(*words).json
    assert first["id"] == second["id"]
    words[-3] = "title=Other"
    shell(*words).failed(6, "idempotency_key_reused")
