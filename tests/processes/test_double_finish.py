"""R7: a lease ends once, however many say so at the same instant.

hatchet-dev/hatchet#1022: after a timeout the first run and its retry both went on.
"""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from boards.models import Card, Event
from leases.models import Lease
from tests.builders import as_json
from tests.doors.http import let_lapse
from tests.processes.fixtures import TELLING
from tests.processes.fleet import Fleet

WORKERS = 20
ROUNDS = 12
# What the telling application writes.
AT_ONCE = "stored at once"


@dataclass
class Race:
    """Workers, and how the lease that they all finish was given out."""

    workers: Fleet
    claim: Callable[[], Any]
    # How often a result was tried to be stored without a look at its lease.
    at_once: Callable[[], int] | None = None

    def rounds(self) -> Iterator[int]:
        for number in range(ROUNDS):
            before = self.at_once and self.at_once()
            yield number
            assert not self.at_once or self.at_once() > before


@pytest.fixture
def by_us(world, fleet) -> Race:
    """Given out by a process that none of the results comes to."""
    return Race(fleet(WORKERS), lambda: json.loads(as_json(world.claim())))


@pytest.fixture
def by_a_server(world, queue, serve, fleet_at) -> Iterator[Race]:
    """Given out by a server that knows the column's terms: results that come to it need
    no look (leases.handed). The first worker's do, whose connection is to that server.
    """
    with serve(TELLING) as server:
        workers: Fleet = fleet_at(server, WORKERS)

        def ask(path: str, body: Any) -> Any:
            workers.processes[0].tell("ask", path=path, body=body)
            answer = workers.processes[0].hear()
            assert answer["status"] == 200, answer
            return answer["body"]

        def claim() -> Any:
            return ask(f"{queue}:claim-next", {})

        world.add()
        held = claim()
        ask(f"/v1/leases/{held['lease']['id']}:complete", receipt(held))
        yield Race(workers, claim, lambda: server.log().count(AT_ONCE))


@pytest.fixture(params=["by_us", "by_a_server"])
def race(request) -> Race:
    return request.getfixturevalue(request.param)


def receipt(held: Any) -> dict[str, str]:
    return {"lease_token": held["lease_token"]}


def completions(card) -> int:
    return Event.objects.filter(card_id=card, type="card.lease.completed").count()


def test_of_many_equal_completions_one_counts_and_all_hear_the_same(race, world):
    for _ in race.rounds():
        card = world.add()
        held = race.claim()
        answers = race.workers.each_at_once(
            lambda number, held=held: {
                "path": f"/v1/leases/{held['lease']['id']}:complete",
                "body": {**receipt(held), "output": {"by": number}},
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


def test_of_complete_and_fail_and_release_one_wins(race, world):
    verbs = ("complete", "fail", "release", "renew")
    for _ in race.rounds():
        card = world.add()
        held = race.claim()
        answers = race.workers.each_at_once(
            lambda number, held=held: {
                "path": f"/v1/leases/{held['lease']['id']}:{verbs[number % 4]}",
                "body": receipt(held),
            }
        )
        lease = Lease.objects.get(pk=held["lease"]["id"])
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


def test_of_the_late_one_and_its_successor_the_successor_wins(race, world):
    """All bring results at the same instant; only those of the lease in force count."""
    for _ in race.rounds():
        card = world.add()
        late = race.claim()
        let_lapse(late["lease"]["id"])
        successor = race.claim()
        answers = race.workers.each_at_once(
            lambda number, both=(late, successor): {
                "path": f"/v1/leases/{both[number % 2]['lease']['id']}:complete",
                "body": {**receipt(both[number % 2]), "output": {"by": number}},
            }
        )
        assert {one["status"] for one in answers[1::2]} == {200}
        for late in answers[::2]:
            assert (late["status"], late["body"]["code"]) == (409, "lease_lost")
        (winner,) = [
            n for n in range(1, WORKERS, 2) if not answers[n]["body"]["replayed"]
        ]
        assert Card.objects.get(pk=card).output == {"by": winner}
        assert completions(card) == 1
