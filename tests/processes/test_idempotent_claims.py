"""R6: one key, one lease, however often and however broken the calls are.

jcagarcia/grape-idempotency#10: two requests with one key both ran, because the key was
only kept at the end.
"""

from urllib.parse import quote

import pytest
from django.db import connection
from psycopg import ConnectionInfo

from accounts.models import RememberedCall
from boards.models import Card
from leases.models import Lease
from tests.processes.proxy import Proxy

WORKERS = 25
ROUNDS = 8


def key(text):
    return {"Idempotency-Key": text}


def check_answers(answers) -> dict:
    """All the same lease, or the request to come again; the lease's reply."""
    told = [one["body"] for one in answers if one["status"] == 200]
    for one in answers:
        if one["status"] != 200:
            assert one["status"] == 409, one
            assert one["body"]["code"] == "idempotency_key_in_use"
            assert int(one["retry_after"]) >= 1
    assert len({one["lease"]["id"] for one in told}) == 1
    assert len({one["lease_token"] for one in told}) == 1
    assert len([one for one in told if not one.get("replayed")]) <= 1
    return told[0]


def test_of_many_claims_with_one_key_at_the_same_instant_one_makes_a_lease(
    fleet_at, server, world, queue, tokens
):
    """Fifty calls a round, by twenty-five processes that share one token."""
    (token,) = tokens(1)
    workers = fleet_at(server, 0)
    workers.start([token] * WORKERS)
    cards = world.add_many(3 * ROUNDS)
    for number in range(ROUNDS):
        again = workers.at_once(f"{queue}:claim-next", headers=key(f"k{number}"))
        again += workers.at_once(f"{queue}:claim-next", headers=key(f"k{number}"))
        assert len(again) == 50
        claimed = check_answers(again)
        assert claimed["card"]["id"] == str(cards[number])
        assert claimed["lease"]["attempt"] == 1
    assert Lease.objects.count() == RememberedCall.objects.count() == ROUNDS
    assert set(
        Card.objects.filter(state="claimed").values_list("attempts", flat=True)
    ) == {1}


def test_another_workers_equal_key_is_its_own(fleet, world, queue):
    workers = fleet(5)
    world.add_many(10)
    answers = workers.at_once(f"{queue}:claim-next", headers=key("same"))
    assert len({one["body"]["lease"]["id"] for one in answers}) == 5


def test_cards_made_with_one_key_at_the_same_instant_are_one_card(
    fleet_at, server, world, tokens
):
    (token,) = tokens(1)
    workers = fleet_at(server, 0)
    workers.start([token] * 10)
    body = {"board_id": str(world.board), "column_id": str(world.queue), "title": "One"}
    answers = workers.at_once("/v1/cards", body=body, headers=key("make"))
    made = [one["body"]["id"] for one in answers if one["status"] == 201]
    assert made
    assert {one["status"] for one in answers} <= {201, 409}
    assert set(made) == {str(Card.objects.get().pk)}


@pytest.fixture
def proxy(transactional_db):
    proxy = Proxy(database().host, database().port)
    yield proxy
    proxy.close()


def database() -> ConnectionInfo:
    """As it really is, whether an address or a socket."""
    connection.ensure_connection()
    return connection.connection.info


def through(proxy: Proxy) -> str:
    login = f"{quote(database().user)}:{quote(database().password)}"
    return f"postgres://{login}@127.0.0.1:{proxy.port}/{database().dbname}"


def test_a_server_killed_between_commit_and_reply_gives_the_same_lease_afterwards(
    serve, fleet_at, proxy, world, queue
):
    world.add_many(5)
    with serve(DATABASE_URL=through(proxy)) as server:
        workers = fleet_at(server, 1)
        (worker,) = workers.processes
        worker.tell("ask", path="/v1/me", method="GET")
        assert worker.hear()["status"] == 200
        proxy.arm()
        worker.tell("ask", path=f"{queue}:claim-next", headers=key("cut"))
        assert proxy.committed.wait(20)
        server.kill()
        assert worker.hear()["status"] == 0
        held = Lease.objects.get()
        server.start()
        for _ in range(2):
            worker.tell("ask", path=f"{queue}:claim-next", headers=key("cut"))
            answer = worker.hear()
            assert answer["status"] == 200
            assert answer["body"]["replayed"] is True
            assert answer["body"]["lease"]["id"] == str(held.pk)
            assert answer["body"]["lease"]["attempt"] == 1
        worker.tell(
            "ask",
            path=f"/v1/leases/{held.pk}:complete",
            body={"lease_token": answer["body"]["lease_token"]},
        )
        assert worker.hear()["status"] == 200
    assert Lease.objects.count() == 1


def test_a_completion_whose_reply_was_lost_is_repeated_without_a_second_effect(
    serve, fleet_at, world, queue
):
    world.add()
    with serve() as server:
        (worker,) = fleet_at(server, 1).processes
        worker.tell("ask", path=f"{queue}:claim-next")
        held = worker.hear()["body"]
        finish = {
            "path": f"/v1/leases/{held['lease']['id']}:complete",
            "body": {"lease_token": held["lease_token"], "output": 1},
        }
        worker.tell("ask", **finish)
        first = worker.hear()["body"]
        server.kill()
        worker.tell("ask", **finish)
        assert worker.hear()["status"] == 0
        server.start()
        worker.tell("ask", **finish)
        again = worker.hear()
        assert again["status"] == 200
        assert again["body"]["replayed"] is True
        assert again["body"]["lease"] == first["lease"]
