"""One given card, cancelling, progress and explanations, over HTTP."""

import pytest

from accounts.models import Actor, WorkerToken
from boards.verbs.comments import add_comment
from tests.doors.http import Http, token_of


@pytest.fixture
def card(world):
    return f"/v1/cards/{world.add()}"


def test_a_card_is_claimed_by_its_own_address_or_the_columns(worker, world, queue):
    second, third = [world.add() for _ in range(3)][1:]
    claimed = worker.post(f"/v1/cards/{second}:claim", {"lease_ttl_seconds": 60}).json()
    assert claimed["card"]["id"] == str(second)
    assert claimed["lease_token"].startswith("nvml_")
    by_column = worker.post(f"{queue}:claim-next", {"card_id": str(third)}).json()
    assert by_column["card"]["id"] == str(third)
    elsewhere = f"/v1/boards/{world.board}/columns/{world.done}:claim-next"
    assert worker.post(elsewhere, {"card_id": str(third)}).status_code == 404
    both = worker.post(f"{queue}:claim-next", {"card_id": str(third), "count": 2})
    assert both.status_code == 422


def test_a_lost_answer_costs_nothing(worker, card):
    with_key = {"headers": {"Idempotency-Key": "one"}}
    first = worker.post(f"{card}:claim", {}, **with_key).json()
    again = worker.post(f"{card}:claim", {}, **with_key).json()
    assert again["replayed"] is True
    assert again["lease_token"] == first["lease_token"]


def test_the_refusal_says_who_has_it_until_when_and_all_rules(owner, worker, card):
    held = worker.post(f"{card}:claim").json()
    problem = owner.post(f"{card}:claim")
    assert problem.status_code == 409
    told = problem.json()
    assert (told["code"], told["current"]["reason"]) == ("not_claimable", "held")
    assert told["current"]["held_by"]["handle"] == held["lease"]["holder"]["handle"]
    assert told["current"]["until"] == held["lease"]["expires_at"]
    assert [rule["code"] for rule in told["current"]["rules"]] == ["held"]
    assert "lease_token" not in problem.content.decode()


def test_a_seat_at_its_limit_hears_what_it_holds(world, queue):
    Actor.objects.filter(pk=world.worker.actor_id).update(max_leases=1)
    door = Http(token_of(world.worker))
    world.add_many(2)
    held = door.post(f"{queue}:claim-next").json()
    refused = door.post(f"{queue}:claim-next")
    assert (refused.status_code, refused.json()["code"]) == (409, "seat_at_capacity")
    assert refused.json()["current"]["held"][0]["lease_id"] == held["lease"]["id"]


def test_skills_of_seat_and_token_count_together(world, queue):
    card = world.add(skills=["seo", "german"], labels=["blog"])
    Actor.objects.filter(pk=world.worker.actor_id).update(skills=["seo"])
    token = token_of(world.worker)
    assert Http(token).post(f"{queue}:claim-next").json()["card"] is None
    WorkerToken.objects.update(skills=["german"])
    door = Http(token_of(world.worker, skills=["german"]))
    claimed = door.post(f"{queue}:claim-next", {"labels": ["blog"], "skills": ["SEO"]})
    assert claimed.json()["card"]["id"] == str(card)
    assert claimed.json()["card"]["skills"] == ["german", "seo"]


def test_a_holder_hears_of_comments_and_of_a_cancellation(owner, worker, world, card):
    held = worker.post(f"{card}:claim").json()
    lease, receipt = f"/v1/leases/{held['lease']['id']}", held["lease_token"]
    add_comment(world.owner, card_id=held["card"]["id"], text="Mind the title")
    told = worker.post(f"{lease}:renew", {"lease_token": receipt, "doing": "Page 3"})
    assert [one["text"] for one in told.json()["comments"]] == ["Mind the title"]
    assert owner.get(lease).json()["doing"] == "Page 3"
    asked = owner.post(f"{card}:cancel", {"reason": "Too late"}).json()
    assert (asked["cancelled"], asked["cancel_requested"]) == (False, True)
    told = worker.post(f"{lease}:heartbeat", {"lease_token": receipt}).json()
    assert (told["cancel_requested"], told["cancel"]["reason"]) == (True, "Too late")
    lost = worker.post(f"{lease}:complete", {"lease_token": receipt})
    assert (lost.status_code, lost.json()["code"]) == (409, "lease_lost")
    assert lost.json()["current"]["cancelled"] is True
    assert owner.get(card).json()["state"] == "failed"
    assert owner.get(card).json()["cancelled_at"]
    assert owner.post(f"{card}:cancel").json()["cancelled"] is True


def test_progress_is_said_under_a_lease_and_without_one(owner, worker, world, card):
    said = worker.put(f"{card}/activity", {"doing": "Looking"}).json()
    assert (said["doing"], said["by"]["handle"]) == ("Looking", world.worker.handle)
    assert owner.get(card).json()["doing"] == "Looking"
    held = worker.post(f"{card}:claim").json()
    assert owner.get(card).json()["doing"] == ""
    refused = owner.put(f"{card}/activity", {"doing": "Mine"})
    assert (refused.status_code, refused.json()["code"]) == (409, "card_held")
    lease = f"/v1/leases/{held['lease']['id']}/activity"
    said = worker.put(lease, {"lease_token": held["lease_token"], "doing": "Writing"})
    assert said.json()["doing"] == "Writing"
    assert worker.put(lease, {"lease_token": "x", "doing": "No"}).status_code == 409
    long = {"lease_token": held["lease_token"], "doing": "x" * 201}
    assert worker.put(lease, long).status_code == 422


def test_why_nobody_takes_a_card(owner, worker, card):
    told = owner.get(f"{card}:explain").json()
    assert (told["claimable"], told["place"]) == (True, 1)
    worker.post(f"{card}:claim")
    told = owner.get(f"{card}:explain").json()
    assert (told["claimable"], told["rules"][0]["code"]) == (False, "held")
    assert told["summary"] == told["rules"][0]["detail"]


def test_a_wait_for_a_quota(worker, card):
    held = worker.post(f"{card}:claim").json()
    fail, receipt = f"/v1/leases/{held['lease']['id']}:fail", held["lease_token"]
    body = {"lease_token": receipt, "kind": "wait_until"}
    assert worker.post(fail, body).json()["errors"][0]["pointer"] == "/until"
    ended = worker.post(fail, body | {"retry_after_seconds": 60}).json()
    assert (ended["lease"]["failure"], ended["card"]["attempts"]) == ("wait_until", 0)
    naive = body | {"until": "2026-01-01T00:00:00"}
    assert worker.post(fail, naive).status_code == 422
