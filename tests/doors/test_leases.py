"""The loop over HTTP: claim, renew, complete, fail, release, revoke, and what is seen."""

import pytest

from tests.builders import event_types, make_due
from tests.doors.http import let_lapse, pages


@pytest.fixture
def claimed(worker, queue, world):
    """What the claim of the world's only card answered."""
    world.add("Otters", payload={"words": 800})
    return worker.post(f"{queue}:claim-next").json()


@pytest.fixture
def lease(claimed):
    return f"/v1/leases/{claimed['lease']['id']}"


@pytest.fixture
def token(claimed):
    return {"lease_token": claimed["lease_token"]}


def test_a_claim_answers_with_all_that_the_work_needs(claimed, world):
    assert claimed["card"]["title"] == "Otters"
    assert claimed["card"]["payload"] == {"words": 800}
    assert claimed["card"]["state"] == "claimed"
    assert claimed["card"]["attempts"] == 1
    assert claimed["card"]["max_attempts"] == 5
    assert claimed["card"]["previous_attempts"] == []
    assert claimed["lease"]["state"] == "active"
    assert claimed["lease"]["seconds"] == 300
    assert claimed["lease"]["holder"]["handle"] == world.worker.handle
    assert claimed["lease"]["expires_at"] > claimed["server_time"]
    assert claimed["lease_token"].startswith("nvml_")


def test_a_drained_queue_is_no_error(worker, queue):
    answer = worker.post(f"{queue}:claim-next")
    assert answer.status_code == 200
    body = answer.json()
    assert body.pop("server_time")
    assert body == {
        "lease": None,
        "lease_token": None,
        "card": None,
        "reason": "drained",
        "retry_after_seconds": None,
    }
    many = worker.post(f"{queue}:claim-next", {"count": 3}).json()
    assert (many["claims"], many["reason"]) == ([], "drained")


def test_a_waiting_queue_says_when_to_come_back(worker, queue, world):
    world.set(backoff_seconds=[90])
    world.add()
    world.fail_card()
    answer = worker.post(f"{queue}:claim-next")
    assert answer.json()["reason"] == "waiting"
    assert 80 < answer.json()["retry_after_seconds"] <= 90
    assert 80 < int(answer.headers["Retry-After"]) <= 90


def test_a_paused_and_a_full_queue_say_so(worker, queue, world):
    world.set(concurrency_limit=1)
    world.add_many(2)
    assert worker.post(f"{queue}:claim-next").json()["card"]
    assert worker.post(f"{queue}:claim-next").json()["reason"] == "at_capacity"
    world.set(paused=True)
    assert worker.post(f"{queue}:claim-next").json()["reason"] == "paused"


@pytest.mark.parametrize("verb", ["claim-next", "claimNext"])
def test_several_cards_come_in_one_call(worker, queue, world, verb):
    cards = world.add_many(5)
    first = worker.post(f"{queue}:{verb}", {"count": 3, "lease_ttl_seconds": 60}).json()
    assert [one["card"]["id"] for one in first["claims"]] == [
        str(card) for card in cards[:3]
    ]
    assert {one["lease"]["seconds"] for one in first["claims"]} == {60}
    rest = worker.post(f"{queue}:claim-next", {"count": 50}).json()
    assert len(rest["claims"]) == 2


@pytest.mark.parametrize("verb", ["renew", "heartbeat"])
def test_a_renewal_prolongs_and_is_silent(worker, claimed, lease, token, verb):
    before = worker.get(f"/v1/cards/{claimed['card']['id']}").json()
    answer = worker.post(f"{lease}:{verb}", token | {"lease_ttl_seconds": 900})
    assert answer.status_code == 200
    renewed = answer.json()
    assert renewed["expires_at"] > claimed["lease"]["expires_at"]
    assert renewed["expires_at"] > renewed["server_time"]
    assert renewed["cancel_requested"] is False
    assert worker.get(f"/v1/cards/{claimed['card']['id']}").json() == before
    assert event_types(claimed["card"]["id"])[-1] == "card.lease.claimed"
    assert worker.get(lease).json()["renewals"] == 1


def test_a_completion_stores_the_result_and_moves_the_card(
    worker, claimed, lease, token, world
):
    done = worker.post(
        f"{lease}:complete",
        token | {"output": {"text": "Otters…"}, "properties": {"words": 790}},
    )
    assert done.status_code == 200
    assert done.json()["lease"]["state"] == "completed"
    assert done.json()["card"]["column_id"] == str(world.done)
    card = worker.get(f"/v1/cards/{claimed['card']['id']}").json()
    assert (card["state"], card["output"]) == ("done", {"text": "Otters…"})
    assert (card["properties"], card["holder"]) == ({"words": 790}, None)


def test_a_repeated_completion_is_the_first_one_again(worker, claimed, lease, token):
    first = worker.post(f"{lease}:complete", token | {"output": 1}).json()
    card = worker.get(f"/v1/cards/{claimed['card']['id']}").json()
    again = worker.post(f"{lease}:complete", token | {"output": 2})
    assert again.status_code == 200
    assert again.json()["replayed"] is True
    assert again.json()["lease"] == first["lease"]
    assert worker.get(f"/v1/cards/{claimed['card']['id']}").json() == card


def test_the_next_card_comes_with_the_completion(worker, lease, token, world):
    world.add("Seals")
    done = worker.post(f"{lease}:complete", token | {"claim_next": True}).json()
    assert done["next"]["card"]["title"] == "Seals"
    following = f"/v1/leases/{done['next']['lease']['id']}"
    receipt = {"lease_token": done["next"]["lease_token"], "claim_next": True}
    last = worker.post(f"{following}:complete", receipt).json()
    assert last["next"]["card"] is None
    assert last["next"]["reason"] == "drained"


def test_a_result_that_does_not_fit_is_refused_and_the_lease_stays(
    worker, lease, token, world
):
    world.set(output_schema={"type": "object", "required": ["text"]})
    refused = worker.post(f"{lease}:complete", token | {"output": {}})
    assert refused.status_code == 422
    assert refused.json()["code"] == "output_rejected"
    assert refused.json()["errors"][0]["pointer"].startswith("/output")
    assert worker.get(lease).json()["state"] == "active"
    good = worker.post(f"{lease}:complete", token | {"output": {"text": "…"}})
    assert good.status_code == 200


def test_a_failure_waits_out_the_backoff_and_is_told_to_the_next_worker(
    worker, queue, claimed, lease, token, world
):
    world.set(backoff_seconds=[60])
    failed = worker.post(f"{lease}:fail", token | {"reason": "No sources."}).json()
    assert failed["lease"]["outcome"] == "requeued"
    assert failed["lease"]["next_due"] == failed["card"]["available_at"]
    again = worker.post(f"{lease}:fail", token | {"reason": "Other."}).json()
    assert again["replayed"] is True
    assert again["lease"] == failed["lease"]
    make_due(claimed["card"]["id"])
    card = worker.post(f"{queue}:claim-next").json()["card"]
    assert card["attempts"] == 2
    assert card["previous_attempts"][0]["reason"] == "No sources."
    assert card["previous_attempts"][0]["state"] == "failed"


def test_a_failure_may_ask_for_its_own_pause(worker, lease, token):
    failed = worker.post(f"{lease}:fail", token | {"retry_after_seconds": 0.5}).json()
    assert failed["card"]["available_at"] > failed["server_time"]


def test_a_hopeless_card_goes_to_the_failure_column(worker, lease, token, world):
    failed = worker.post(f"{lease}:fail", token | {"requeue": False}).json()
    assert failed["lease"]["outcome"] == "dead_lettered"
    assert failed["card"]["column_id"] == str(world.failed)
    assert failed["card"]["state"] == "failed"


def test_a_released_card_is_open_at_once_and_carries_the_note(
    worker, queue, lease, token
):
    given = worker.post(f"{lease}:release", token | {"note": "Half done."}).json()
    assert (given["card"]["state"], given["card"]["attempts"]) == ("open", 0)
    card = worker.post(f"{queue}:claim-next").json()["card"]
    assert card["attempts"] == 1
    assert card["previous_attempts"][0]["note"] == "Half done."


def test_a_manager_takes_a_card_away_and_the_worker_hears_it(
    owner, worker, lease, token
):
    taken = owner.post(f"{lease}:revoke", {"reason": "Wrong card."})
    assert taken.json()["lease"]["state"] == "revoked"
    assert owner.post(f"{lease}:revoke").json()["replayed"] is True
    lost = worker.post(f"{lease}:complete", token)
    assert (lost.status_code, lost.json()["code"]) == (409, "lease_lost")
    assert lost.json()["current"]["lease_state"] == "revoked"


@pytest.mark.parametrize("verb", ["renew", "complete", "fail", "release"])
@pytest.mark.parametrize("wrong", ["", "nvml_" + "0" * 43, "é\u202e", "x" * 10_000])
def test_a_wrong_receipt_is_a_lost_lease(worker, lease, verb, wrong):
    before = worker.get(lease).json()
    lost = worker.post(f"{lease}:{verb}", {"lease_token": wrong})
    assert (lost.status_code, lost.json()["code"]) == (409, "lease_lost")
    assert worker.get(lease).json() == before


@pytest.mark.parametrize("verb", ["renew", "complete", "fail", "release"])
def test_a_lapsed_lease_is_lost_and_the_answer_explains_itself(
    worker, queue, claimed, lease, token, verb
):
    let_lapse(claimed["lease"]["id"])
    lost = worker.post(f"{lease}:{verb}", token)
    assert (lost.status_code, lost.json()["code"]) == (409, "lease_lost")
    current = lost.json()["current"]
    assert current["lease_state"] == "expired"
    assert current["held_by_another"] is False
    assert current["card"]["id"] == claimed["card"]["id"]
    assert "claim again" in current["next"]
    second = worker.post(f"{queue}:claim-next").json()
    assert second["card"]["id"] == claimed["card"]["id"]
    lost = worker.post(f"{lease}:{verb}", token)
    assert lost.json()["current"]["held_by_another"] is True


def test_many_leases_are_renewed_and_completed_each_with_its_answer(
    worker, queue, world
):
    world.add_many(3)
    claims = worker.post(f"{queue}:claim-next", {"count": 3}).json()["claims"]
    receipts = [
        {"lease_id": one["lease"]["id"], "lease_token": one["lease_token"]}
        for one in claims
    ]
    receipts[1] = receipts[1] | {"lease_token": "nvml_wrong"}
    gone = {"lease_id": str(world.board), "lease_token": "nvml_x"}
    for verb, key in (("renew", "renewed"), ("complete", "ended")):
        answer = worker.post(f"/v1/leases:{verb}", {"leases": [*receipts, gone]})
        assert answer.status_code == 200
        results = answer.json()["results"]
        assert [one["lease_id"] for one in results] == [
            one["lease_id"] for one in [*receipts, gone]
        ]
        assert [bool(one[key]) for one in results] == [True, False, True, False]
        assert [one["error"] and one["error"]["code"] for one in results] == [
            None,
            "lease_lost",
            None,
            "not_found",
        ]


def test_leases_are_listed_by_state(owner, worker, queue, world):
    world.add_many(4)
    claims = worker.post(f"{queue}:claim-next", {"count": 4}).json()["claims"]
    ids = [one["lease"]["id"] for one in claims]
    let_lapse(ids[0])
    worker.post(
        f"/v1/leases/{ids[1]}:complete", {"lease_token": claims[1]["lease_token"]}
    )
    path = f"/v1/boards/{world.board}/leases"

    def listed(**query):
        return {one["id"] for page in pages(owner, path, **query) for one in page}

    assert listed(state="all") == set(ids)
    assert listed(state="expired") == {ids[0]}
    assert listed(state="active") == {ids[0], ids[2], ids[3]}
    assert listed(state="all", column_id=world.done) == set()
    assert listed(state="all", column_id=world.queue) == set(ids)
    assert listed(state="all", card_id=claims[1]["card"]["id"]) == {ids[1]}


def test_a_caller_sees_what_its_seat_holds(owner, worker, claimed):
    held = worker.get("/v1/me/leases").json()["items"]
    assert [one["id"] for one in held] == [claimed["lease"]["id"]]
    assert owner.get("/v1/me/leases").json()["items"] == []
