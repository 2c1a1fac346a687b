"""No row is locked while a schema is at work, whoever has opened a transaction round it:
an Idempotency-Key, a seat with a limit, a claim of several (design section 5)."""

from dataclasses import replace

import pytest
from django.db import connection, transaction

from accounts.models import RememberedCall
from boards.models import Card
from boards.verbs.cards import edit_card
from leases import asking, schemas
from leases.errors import OutputRejected
from leases.models import Ask, Contract, Lease
from leases.statements.gate import gate
from leases.statements.running import run
from leases.verbs import judge as judging
from leases.verbs.give_back import fail
from novum.operations.perform import perform
from novum.operations.registry import OPERATIONS
from tests.builders import card_row, lapse, receipt
from tests.connections import outcome, start
from tests.leases.test_budgets import at_most
from tests.leases.test_judge import NEEDS_TOPIC

pytestmark = pytest.mark.django_db(transaction=True)

NAMED = {operation.name: operation for operation in OPERATIONS}
GOOD = {"topic": "bees"}
KEYS = pytest.mark.parametrize("key", [None, "a key"])
LIMITS = pytest.mark.parametrize("limit", [None, 3])


def do(name, caller, key=None, **given):
    return perform(NAMED[name], caller, given, idempotency_key=key)


@pytest.fixture
def checked(world, monkeypatch):
    """More misfits than three passes judge, and the cards behind them. A pass is short in
    cards, not in time: what is found must not depend on the machine."""
    monkeypatch.setattr(judging, "BATCH", 7)
    for place in ("claim", "claim_card", "judge"):
        monkeypatch.setattr(f"leases.verbs.{place}.PASS_SECONDS", 600)
    world.set(input_schema=NEEDS_TOPIC, queue="checked")
    world.add_many(25)
    return world


@pytest.fixture
def at_work(checked, monkeypatch):
    """How often a schema was at work; each time all was free that a call may lock."""
    times, real = [], schemas.problems

    def watched(schema, value):
        times.append(value)
        seat = checked.worker.actor_id
        found = outcome(start(lambda: locked(checked, seat)))
        assert found == [], found
        return real(schema, value)

    monkeypatch.setattr(schemas, "problems", watched)
    return times


def locked(world, seat):
    """What can't be had at once, seen from another connection."""
    with transaction.atomic():
        cards = Card.objects.filter(board_id=world.board)
        leases = Lease.objects.filter(board_id=world.board)
        contracts = Contract.objects.filter(column_id=world.queue)
        found = [
            rows.model.__name__
            for rows in (cards, leases, contracts)
            if len(rows.select_for_update(skip_locked=True).values_list("pk"))
            < rows.count()
        ]
        for what, of in (("seat", seat), ("gate", world.queue)):
            (row,) = run(
                "SELECT pg_try_advisory_xact_lock(%(gate)s) AS free", {"gate": gate(of)}
            )
            found += [] if row.free else [what]
        return found


def place(world):
    return {"board_id": str(world.board), "column_id": str(world.queue)}


def test_the_spy_sees_what_is_locked(checked):
    with transaction.atomic():
        list(Card.objects.filter(board_id=checked.board).select_for_update())
        list(Contract.objects.filter(column_id=checked.queue).select_for_update())
        seat = checked.worker.actor_id
        run("SELECT pg_advisory_xact_lock(%(gate)s)", {"gate": gate(seat)})
        assert outcome(start(lambda: locked(checked, seat))) == [
            "Card",
            "Contract",
            "seat",
        ]


@KEYS
@LIMITS
def test_a_claim(checked, at_work, key, limit):
    good = checked.add_many(2, payload=GOOD)
    worker = replace(checked.worker, max_leases=limit)
    first = do("claim_next_card", worker, key, **place(checked))
    assert first.card.id == good[0]
    assert len(at_work) == 27
    if key:
        again = do("claim_next_card", worker, key, **place(checked))
        assert (again.lease.id, again.lease_token) == (
            first.lease.id,
            first.lease_token,
        )
        assert again.replayed
    assert do("claim_next_card", worker, **place(checked)).card.id == good[1]
    assert len(at_work) == 27


@KEYS
@LIMITS
def test_a_claim_of_several_with_cards_kept_for_the_caller(
    checked, at_work, key, limit
):
    mine = checked.worker.handle
    good = [checked.add(payload=GOOD, assignee=who) for who in (mine, None, mine, None)]
    worker = replace(checked.worker, max_leases=limit)
    first = do("claim_next_card", worker, key, **place(checked), count=4)
    # From what the pass has judged in which something was found, as without a key.
    got = [one.card.id for one in first.claims]
    assert got == good[: len(got)]
    assert len(got) == 3
    if key:
        again = do("claim_next_card", worker, key, **place(checked), count=4)
        assert [(one.lease.id, one.lease_token) for one in again.claims] == [
            (one.lease.id, one.lease_token) for one in first.claims
        ]
    assert at_work


@KEYS
@LIMITS
def test_a_claim_of_a_task_by_the_names_of_queues(checked, at_work, key, limit):
    """The first queue has nothing, however long it takes to find out."""
    second = checked.column("Second")
    checked.queue, first = second, checked.queue
    checked.terms = {"enabled": True}
    checked.set(input_schema=NEEDS_TOPIC, queue="second")
    checked.add_many(10)
    good = checked.add(payload=GOOD)
    checked.queue = first
    worker = replace(checked.worker, max_leases=limit)
    queues = ["checked", "second"]
    answer = do("tasks.claim", worker, key, queue=queues)
    assert answer.task.id == good
    assert len(at_work) == 25 + 11
    if key:
        again = do("tasks.claim", worker, key, queue=queues)
        assert again.lease_token == answer.lease_token


@KEYS
@LIMITS
@pytest.mark.parametrize("name", ["claim_card", "claim_next_card"])
def test_a_claim_of_one_card(checked, at_work, name, key, limit):
    good = checked.add(payload=GOOD)
    worker = replace(checked.worker, max_leases=limit)
    given = {"card_id": str(good)}
    if name == "claim_next_card":
        given |= place(checked)
    first = do(name, worker, key, **given)
    assert first.card.id == good
    assert len(at_work) == 1
    if key:
        assert do(name, worker, key, **given).lease_token == first.lease_token


@KEYS
def test_a_claim_of_one_card_whose_lease_lapsed_while_the_schema_changed(
    checked, at_work, key
):
    card = checked.add(payload=GOOD)
    held = do("claim_card", checked.worker, card_id=str(card))
    checked.set(input_schema={**NEEDS_TOPIC, "title": "Other"})
    lapse(held)
    at_work.clear()
    again = do("claim_card", checked.worker, key, card_id=str(card))
    assert again.lease.attempt == 2
    assert len(at_work) == 1


@KEYS
def test_start_and_decline_of_a_task(checked, at_work, key):
    first, second = checked.add_many(2, payload=GOOD)
    do("tasks.start", checked.owner, key, id=str(first))
    do("tasks.decline", checked.owner, key, id=str(second), reason="No.")
    assert card_row(first).state == "claimed"
    assert card_row(second).state == "failed"
    assert len(at_work) == 2


@KEYS
@LIMITS
def test_complete(checked, at_work, key, limit):
    """Also where the next card is claimed by it and the ones before it don't fit."""
    checked.set(output_schema={"required": ["text"]})
    checked.add_many(2, payload=GOOD)
    worker = replace(checked.worker, max_leases=limit)
    held = do("claim_next_card", worker, **place(checked))
    given = receipt(held) | {"lease_id": str(held.lease.id)}
    checked.set(input_schema={**NEEDS_TOPIC, "title": "Other"})
    at_work.clear()
    with pytest.raises(OutputRejected):
        do("complete_lease", worker, key, **given, output={})
    ended = do(
        "complete_lease", worker, key, **given, output={"text": ""}, claim_next=True
    )
    assert ended.lease.state == "completed"
    assert ended.next.card
    assert len(at_work) > 26


@KEYS
@LIMITS
def test_what_comes_free_and_was_held_while_the_schema_changed(
    checked, at_work, key, limit
):
    good = checked.add_many(2, payload=GOOD)
    held = [checked.claim() for _ in good]
    checked.set(input_schema={**NEEDS_TOPIC, "title": "Other"})
    assert checked.ask().reason == "drained"
    lapse(held[0])
    fail(checked.worker, **receipt(held[1]))
    at_work.clear()
    worker = replace(checked.worker, max_leases=limit)
    for card in good:
        # Of the two tries with a key the first one's is what's remembered.
        found = do("claim_next_card", worker, key and str(card), **place(checked))
        assert found.card.id == card
    assert len(at_work) == 2


@KEYS
@LIMITS
def test_much_that_is_not_judged_keeps_nobody_waiting(checked, monkeypatch, key, limit):
    """With time for one pass only: what it found is given out, whatever is left; where it
    found nothing the next call goes on, and nothing is remembered meanwhile."""
    monkeypatch.setattr("leases.verbs.claim.PASS_SECONDS", 0)
    worker = replace(checked.worker, max_leases=limit)
    front = checked.add(payload=GOOD, priority=1)
    found = do("claim_next_card", worker, key and "one", **place(checked))
    assert found.card.id == front
    left = Card.objects.unjudged(checked.queue).count
    assert left() == 25 + 1 - 7
    back = checked.add(payload=GOOD)
    for passes in (2, 3):
        found = do("claim_next_card", worker, key and "two", **place(checked))
        assert (found.card, found.reason, found.retry_after_seconds) == (
            None,
            "waiting",
            0,
        )
        assert left() == 25 + 2 - 7 * passes
    assert RememberedCall.objects.filter(key="two").count() == 0
    found = do("claim_next_card", worker, key and "two", **place(checked))
    assert found.card.id == back


@KEYS
def test_cards_without_an_attempt_left_keep_nobody_from_what_is_judged(checked, key):
    spent, good = checked.add_many(2, payload=GOOD, priority=1)
    Card.objects.filter(pk=spent).update(attempts=5)
    assert do("claim_next_card", checked.worker, key, **place(checked)).card.id == good
    assert card_row(spent).state == "failed"
    assert Card.objects.unjudged(checked.queue).count() == 25 + 2 - 7


def test_that_somebody_asked_is_written_though_the_call_began_anew(checked):
    asking._written.clear()
    checked.add(payload=GOOD)
    do("claim_next_card", checked.worker, "key", **place(checked))
    assert Ask.objects.filter(column_id=checked.queue).exists()


def test_inside_of_a_transaction_nothing_is_judged(checked):
    with transaction.atomic(), pytest.raises(RuntimeError):
        judging.judge(checked.queue)
    assert Card.objects.unjudged(checked.queue).count() == 25
    assert not connection.in_atomic_block


@LIMITS
def test_with_everything_judged_a_key_costs_what_it_did(checked, limit):
    """The key: five statements and two marks; the seat: its lock, what it holds, and two
    marks where there is a key."""
    checked.add_many(3, payload=GOOD)
    checked.claim()
    worker = replace(checked.worker, max_leases=limit)
    do("claim_next_card", worker, "first", **place(checked))
    with at_most(12 if limit else 8) as sent:
        do("claim_next_card", worker, "second", **place(checked))
    assert sum("leases_contract" in one for one in sent) == 1


def test_an_edit_of_the_card_between_look_and_lock(checked, at_work, monkeypatch):
    """It's judged anew, not under the lock."""
    card = checked.add(payload=GOOD)
    real, edits = judging.judge_card, []

    def and_edited(seen):
        real(seen)
        if not edits:
            edits.append(edit_card(checked.owner, card_id=card, title="Other"))

    monkeypatch.setattr("leases.verbs.claim_card.judge_card", and_edited)
    found = do("claim_card", checked.worker, "key", card_id=str(card))
    assert found.card.title == "Other"
    assert len(at_work) == 2
