"""Idempotency-Key: asked twice, made once.

draft-ietf-httpapi-idempotency-key-header-07; many at the same time and a server that
dies in between are tested with real processes.
"""

from datetime import timedelta

import pytest
from django.db.models import F

from accounts.models import Actor, RememberedCall
from boards.models import Board, Card, Column, Comment
from leases.models import Lease
from novum.operations.registry import OPERATIONS
from tests.builders import a_world, an_agent, lease_row
from tests.doors.http import Http, door_of, let_lapse, token_of
from tests.doors.recipes import sent

KEY = {"Idempotency-Key": '"first-try"'}
REMEMBERING = [operation for operation in OPERATIONS if operation.remembers]


@pytest.fixture
def claim(worker, queue):
    def call(body=None, *, by=worker, key="k1"):
        return by.post(f"{queue}:claim-next", body, headers={"Idempotency-Key": key})

    return call


def rows():
    kinds = (Actor, Board, Card, Column, Comment, Lease)
    return {kind.__name__: kind.objects.count() for kind in kinds}


def test_every_create_and_the_claim_take_a_key():
    creates = {one.name for one in OPERATIONS if one.status == 201}
    claims = {"claim_next_card", "claim_card", "tasks.claim"}
    assert {one.name for one in REMEMBERING} == creates | claims


@pytest.mark.parametrize("operation", REMEMBERING, ids=lambda one: one.name)
def test_the_same_call_again_makes_nothing_and_answers_the_same(world, operation):
    call = sent(operation, world, world.owner)
    with_key = Http(token_of(world.owner), headers={"Idempotency-Key": "once"})
    first = call.by(with_key, operation)
    assert first.status_code == operation.status
    made = rows()
    again = call.by(with_key, operation)
    assert again.status_code == operation.status
    assert rows() == made
    # What is told once only may be missing the second time.
    once = {"secret": None, "sign_in_url": None}
    told = {"server_time": None, "replayed": None} | once
    assert again.json() | told == first.json() | told
    assert again.headers.get("Location") == first.headers.get("Location")


def test_a_repeated_claim_gives_the_same_lease_and_receipt(claim, world):
    world.add_many(3)
    first, again = claim().json(), claim().json()
    assert again["replayed"] is True
    assert "replayed" not in first
    for part in ("lease", "lease_token", "card"):
        assert again[part] == first[part]
    assert Lease.objects.count() == 1


def test_a_repeated_claim_of_several_gives_the_same_ones(claim, world):
    world.add_many(5)
    first, again = claim({"count": 3}).json(), claim({"count": 3}).json()
    assert again["claims"] == first["claims"]
    assert Lease.objects.count() == 3


def test_a_key_is_quoted_or_not_and_is_the_same_key(claim, world):
    world.add_many(2)
    first = claim(key='"k1"').json()
    assert claim(key="k1").json()["lease"]["id"] == first["lease"]["id"]
    assert claim(key=" k1 ").json()["lease"]["id"] == first["lease"]["id"]
    assert claim(key="K1").json()["lease"]["id"] != first["lease"]["id"]


def test_a_key_with_another_body_is_refused(claim, world):
    world.add_many(2)
    claim()
    for body in ({"count": 1}, {"lease_ttl_seconds": 60}):
        refused = claim(body)
        assert refused.status_code == 422
        assert refused.json()["code"] == "idempotency_key_reused"
    assert Lease.objects.count() == 1


def test_a_key_for_another_column_is_refused(worker, owner, world, queue):
    world.add()
    worker.post(f"{queue}:claim-next", headers=KEY)
    other = f"/v1/boards/{world.board}/columns/{world.done}"
    owner.put(f"{other}/contract", {"enabled": True})
    refused = worker.post(f"{other}:claim-next", headers=KEY)
    assert refused.json()["code"] == "idempotency_key_reused"


def test_a_key_belongs_to_one_credential(claim, world):
    world.add_many(4)
    seat_mate = Http(token_of(world.worker))
    elsewhere = a_world()
    elsewhere.add()
    ids = {
        claim().json()["lease"]["id"],
        claim(by=seat_mate).json()["lease"]["id"],
        claim(by=door_of(an_agent(world.workspace))).json()["lease"]["id"],
        door_of(elsewhere.worker)
        .post(
            f"/v1/boards/{elsewhere.board}/columns/{elsewhere.queue}:claim-next",
            headers={"Idempotency-Key": "k1"},
        )
        .json()["lease"]["id"],
    }
    assert len(ids) == 4


def test_a_key_belongs_to_one_operation(owner, world, queue):
    world.add()
    claimed = owner.post(f"{queue}:claim-next", headers=KEY)
    board = owner.post("/v1/boards", {"name": "News"}, headers=KEY)
    assert (claimed.status_code, board.status_code) == (200, 201)


def test_an_empty_claim_is_not_remembered(claim, world):
    assert claim().json()["reason"] == "drained"
    assert RememberedCall.objects.count() == 0
    world.add()
    assert claim().json()["card"]


def test_what_was_refused_is_not_remembered(owner, world):
    body = {"board_id": str(world.board), "column_id": str(world.queue), "title": "A"}
    wrong = owner.post("/v1/cards", body | {"assignee": "nobody"}, headers=KEY)
    assert wrong.status_code == 422
    assert owner.post("/v1/cards", body, headers=KEY).status_code == 201


def test_a_claim_repeated_after_the_loss_shows_the_lost_lease_and_takes_no_other(
    claim, worker, world
):
    world.add_many(2)
    first = claim().json()
    let_lapse(first["lease"]["id"])
    taken_over = claim(key="another").json()
    assert taken_over["card"]["id"] == first["card"]["id"]
    again = claim().json()
    assert again["lease"]["id"] == first["lease"]["id"]
    assert again["lease"]["state"] == "expired"
    lost = worker.post(
        f"/v1/leases/{again['lease']['id']}:complete",
        {"lease_token": again["lease_token"]},
    )
    assert lost.json()["code"] == "lease_lost"


def test_a_key_is_forgotten_after_24_hours(claim, world):
    world.add_many(2)
    first = claim().json()["lease"]["id"]
    move_back(hours=23, minutes=59)
    assert claim().json()["lease"]["id"] == first
    move_back(minutes=2)
    assert claim().json()["lease"]["id"] != first


def move_back(**time):
    RememberedCall.objects.update(created_at=F("created_at") - timedelta(**time))


def test_a_secret_is_not_given_twice(owner, world):
    path = f"/v1/agents/{world.worker.actor_id}/tokens"
    first = owner.post(path, {"name": "Laptop"}, headers=KEY).json()
    again = owner.post(path, {"name": "Laptop"}, headers=KEY).json()
    assert first["secret"]
    assert again == {"token": first["token"], "secret": None}


@pytest.mark.parametrize("key", ["", '""', "x" * 256, "a\tb", "a\x7fb"])
def test_a_key_is_visible_and_not_too_long(claim, world, key):
    world.add()
    refused = claim(key=key)
    assert refused.status_code == 422
    assert refused.json()["errors"][0]["pointer"] == "/idempotency_key"
    assert Lease.objects.count() == 0


def test_a_key_of_255_characters_is_taken(claim, world):
    world.add()
    assert claim(key="x" * 255).json()["card"]
    assert claim(key='"' + "x" * 255 + '"').json()["replayed"] is True


def test_at_rest_lies_no_receipt_and_no_secret(claim, owner, world):
    world.add()
    token = claim().json()["lease_token"]
    path = f"/v1/agents/{world.worker.actor_id}/tokens"
    secret = owner.post(path, {"name": "Laptop"}, headers=KEY).json()["secret"]
    kept = repr(list(RememberedCall.objects.values())) + repr(
        [vars(lease_row(lease.pk)) for lease in Lease.objects.all()]
    )
    for text in (token, token[5:], secret, secret[5:]):
        assert text not in kept
