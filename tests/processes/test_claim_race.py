"""R1 and R2: twenty processes claim at the same time, and each card goes to one."""

from collections import Counter

import pytest

from leases.models import Lease
from tests.processes.history import check

WORKERS = 20
CARDS = 400
ROUNDS = 30
FAIR_WITHIN = 3


def test_many_workers_empty_a_queue_and_no_card_is_done_twice(
    fleet, world, queue, server
):
    """And nobody starves. A product that lets somebody starve does so each time, and a
    machine that is busy elsewhere doesn't: so that is looked for in several rounds."""
    workers = fleet(WORKERS)
    workers.at_once(f"{queue}:claim-next")
    seen, shares = 0, []
    for _ in range(FAIR_WITHIN):
        cards = world.add_many(CARDS)
        assert sum(workers.at_once_all("drain", queue=queue)) == CARDS
        history = workers.history()
        check_round(cards, history[seen:])
        check(cards, history, max_attempts=5)
        shares.append(completed_by_each(workers, history[seen:]))
        seen = len(history)
        if min(shares[-1]) >= CARDS / WORKERS * 0.1:
            break
    else:
        pytest.fail(f"somebody starves: {shares}")
    log = server.log().lower()
    for trouble in ("duplicate key", "deadlock", "traceback"):
        assert trouble not in log


def check_round(cards, history):
    claims = [
        one.facts["card"]
        for one in history
        if one.kind == "claim" and one.facts.get("card")
    ]
    assert sorted(claims) == sorted(map(str, cards))
    assert not [one for one in history if one.outcome == "info"]
    assert {one.facts["status"] for one in history if "status" in one.facts} == {200}


def completed_by_each(workers, history):
    share = Counter(one.by for one in history if one.kind == "complete")
    return sorted(share[process.name] for process in workers.processes)


def test_one_card_goes_to_one_of_many_that_ask_at_the_same_instant(fleet, world, queue):
    """gastownhall/beads#3570: looking and taking were two steps, so both got it."""
    workers = fleet(WORKERS)
    for _ in range(ROUNDS):
        card = world.add()
        answers = workers.at_once(f"{queue}:claim-next")
        assert {one["status"] for one in answers} == {200}
        winners = [one["body"] for one in answers if one["body"]["card"]]
        assert [one["card"]["id"] for one in winners] == [str(card)]
        assert winners[0]["lease"]["attempt"] == 1
        losers = [one["body"] for one in answers if not one["body"]["card"]]
        assert {one["reason"] for one in losers} == {"drained"}
    assert Lease.objects.count() == ROUNDS
