"""R1 and R2: twenty processes claim at the same time, and each card goes to one."""

from collections import Counter

from leases.models import Lease
from tests.processes.history import check

WORKERS = 20
CARDS = 400
ROUNDS = 30


def test_many_workers_empty_a_queue_and_no_card_is_done_twice(
    fleet, world, queue, server
):
    cards = world.add_many(CARDS)
    workers = fleet(WORKERS)
    completed = workers.all("drain", queue=queue)
    assert sum(completed) == CARDS
    history = workers.history()
    claims = [
        one.facts["card"]
        for one in history
        if one.kind == "claim" and one.facts.get("card")
    ]
    assert len(claims) == len(set(claims)) == CARDS
    check(cards, history, max_attempts=5)
    assert not [one for one in history if one.outcome == "info"]
    assert {one.facts["status"] for one in history if "status" in one.facts} == {200}
    share = Counter(one.by for one in history if one.kind == "complete")
    assert min(share[process.name] for process in workers.processes) >= (
        CARDS / WORKERS * 0.1
    )
    log = server.log().lower()
    for trouble in ("duplicate key", "deadlock", "traceback"):
        assert trouble not in log


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
