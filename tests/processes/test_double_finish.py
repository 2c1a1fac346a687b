"""R7: a lease ends once, however many say so at the same instant.

hatchet-dev/hatchet#1022: after a timeout the first run and its retry both went on.
"""

from boards.models import Card, Event
from leases.models import Lease
from tests.builders import lapse, receipt
from tests.processes.fleet import Fleet

WORKERS = 20
ROUNDS = 12


def completions(card) -> int:
    return Event.objects.filter(card_id=card, type="card.lease.completed").count()


def test_of_many_equal_completions_one_counts_and_all_hear_the_same(fleet, world):
    workers: Fleet = fleet(WORKERS)
    for _ in range(ROUNDS):
        card = world.add()
        held = world.claim()
        answers = workers.each_at_once(
            lambda number, held=held: {
                "path": f"/v1/leases/{held.lease.id}:complete",
                "body": {"lease_token": held.lease_token, "output": {"by": number}},
            }
        )
        assert {one["status"] for one in answers} == {200}
        first = [one["body"] for one in answers if not one["body"]["replayed"]]
        assert len(first) == 1
        winner = answers.index(next(one for one in answers if one["body"] == first[0]))
        row = Card.objects.get(pk=card)
        assert (row.state, row.output) == ("done", {"by": winner})
        assert row.column_id == world.done
        assert completions(card) == 1
        for one in answers:
            assert one["body"]["lease"] == first[0]["lease"]
            assert one["body"]["card"] == first[0]["card"]


def test_of_complete_and_fail_and_release_one_wins(fleet, world):
    workers: Fleet = fleet(WORKERS)
    verbs = ("complete", "fail", "release", "renew")
    for _ in range(ROUNDS):
        card = world.add()
        held = world.claim()
        answers = workers.each_at_once(
            lambda number, held=held: {
                "path": f"/v1/leases/{held.lease.id}:{verbs[number % 4]}",
                "body": {"lease_token": held.lease_token},
            }
        )
        lease = Lease.objects.get(pk=held.lease.id)
        winner = {"completed": 0, "failed": 1, "released": 2}[lease.state]
        for number, one in enumerate(answers):
            if number % 4 == winner:
                assert one["status"] == 200
            elif number % 4 != 3:
                assert (one["status"], one["body"]["code"]) == (409, "lease_lost")
        endings = Event.objects.filter(card_id=card).exclude(
            type__in=("card.created", "card.lease.claimed")
        )
        assert endings.count() == 1
        Card.objects.filter(pk=card).update(archived_at="2026-01-01T00:00:00Z")


def test_of_the_late_one_and_its_successor_the_successor_wins(fleet, world):
    """Both bring a result at the same instant; only the lease in force counts."""
    workers: Fleet = fleet(2)
    for _ in range(ROUNDS):
        card = world.add()
        late = world.claim()
        lapse(late)
        successor = world.claim()
        answers = workers.each_at_once(
            lambda number, both=(late, successor): {
                "path": f"/v1/leases/{both[number].lease.id}:complete",
                "body": {
                    "lease_token": receipt(both[number])["lease_token"],
                    "output": {"by": number},
                },
            }
        )
        assert [one["status"] for one in answers] == [409, 200]
        assert answers[0]["body"]["code"] == "lease_lost"
        assert Card.objects.get(pk=card).output == {"by": 1}
        assert completions(card) == 1
