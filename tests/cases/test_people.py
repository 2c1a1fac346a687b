"""Public reports about people who move, put away and disable what a worker holds, tried
on Novum.

Each test names the thread it comes from (github.com/<repository>/issues/<number>);
symptoms in our own words.
"""

import pytest

from accounts.models import Actor
from boards.models import Card, Event
from leases.models import Lease
from tests.builders import event_types
from tests.doors.http import Http, door_of
from tests.processes.waiting import eventually

ROUNDS = 10
INTERFERENCES = ["move", "archive", "archive board", "switch off"]


@pytest.fixture
def interfere(world, queue):
    """(method, path, body) of what a person does to a card somebody works on."""

    def interfere(what, card, *, force):
        board = f"/v1/boards/{world.board}"
        to = {"column_id": str(world.done)}
        return {
            "move": ("POST", f"/v1/cards/{card}:move", to | {"force": force}),
            "archive": ("POST", f"/v1/cards/{card}:archive", {"force": force}),
            "archive board": ("POST", f"{board}:archive", {"force": force}),
            "switch off": (
                "PUT",
                f"{queue}/contract",
                {"enabled": False, "force": force},
            ),
        }[what]

    return interfere


@pytest.mark.parametrize("what", INTERFERENCES)
def test_what_a_worker_holds_is_left_alone(world, owner, interfere, what):
    """NousResearch/hermes-agent#66745: a running task was put away under its worker."""
    card = world.add()
    held = world.claim()
    refused = owner(*interfere(what, card, force=False))
    assert refused.status_code == 409
    assert f"@{world.worker.handle}" in refused.json()["detail"]
    assert Lease.objects.get().state == "active"
    assert event_types(card) == ["card.created", "card.lease.claimed"]
    worker = door_of(world.worker)
    path = f"/v1/leases/{held.lease.id}:complete"
    assert worker.post(path, {"lease_token": held.lease_token}).status_code == 200


@pytest.mark.parametrize("what", INTERFERENCES)
def test_by_force_the_lease_ends_in_the_same_step(world, owner, interfere, what):
    """NousResearch/hermes-agent#66745: the run was closed, the worker lived on and
    could still write."""
    card = world.add()
    held = world.claim()
    assert owner(*interfere(what, card, force=True)).status_code == 200
    assert Lease.objects.get().state == "revoked"
    row = Card.objects.get(pk=card)
    assert (row.holder_id, row.lease_id) == (None, None)
    worker = door_of(world.worker)
    before = Card.objects.values().get()
    for verb in ("renew", "complete", "fail", "release"):
        lost = worker.post(
            f"/v1/leases/{held.lease.id}:{verb}", {"lease_token": held.lease_token}
        )
        assert lost.status_code == 409
        assert lost.json()["code"] in ("lease_lost", "board_archived")
    assert Card.objects.values().get() == before


def test_text_and_comments_may_change_while_a_worker_holds_the_card(world, owner):
    """Design: what is said about a card is free; what it is done with isn't."""
    card = world.add()
    held = world.claim()
    path = f"/v1/cards/{card}"
    changed = owner.patch(path, {"title": "Better", "priority": 1, "labels": ["x"]})
    assert changed.status_code == 200
    assert owner.post(f"{path}/comments", {"text": "Go on."}).status_code == 201
    done = door_of(world.worker).post(
        f"/v1/leases/{held.lease.id}:complete", {"lease_token": held.lease_token}
    )
    assert done.status_code == 200
    assert Card.objects.get().title == "Better"


@pytest.mark.processes
@pytest.mark.parametrize("what", INTERFERENCES)
def test_force_and_completion_at_the_same_instant_agree_on_one_end(
    fleet_at, server, world, owner, interfere, what
):
    """NousResearch/hermes-agent#66745, in whatever order it falls out."""
    both = fleet_at(server, 1)
    both.start([owner.token])
    endings = set()
    for _ in range(ROUNDS):
        card = world.add()
        held = world.claim()
        method, path, body = interfere(what, card, force=True)
        calls = [
            {
                "path": f"/v1/leases/{held.lease.id}:complete",
                "body": {"lease_token": held.lease_token},
            },
            {"method": method, "path": path, "body": body},
        ]
        finished, forced = both.each_at_once(lambda number, calls=calls: calls[number])
        assert finished["status"] in (200, 409)
        assert forced["status"] == 200, forced
        lease = Lease.objects.get(pk=held.lease.id)
        assert lease.state == ("completed" if finished["status"] == 200 else "revoked")
        endings.add(lease.state)
        row = Card.objects.get(pk=card)
        assert (row.holder_id, row.lease_id) == (None, None)
        sequences = Event.objects.filter(card_id=card).order_by("sequence")
        numbers = list(sequences.values_list("sequence", flat=True))
        assert numbers == list(range(1, len(numbers) + 1))
        assert event_types(card).count(f"card.lease.{lease.state}") == 1
        undo(world, owner, what, card)
    assert endings <= {"completed", "revoked"}


def undo(world, owner, what, card):
    """The next round begins as the first one did."""
    if what == "archive board":
        owner.post(f"/v1/boards/{world.board}:restore")
    if what == "switch off":
        world.set()
    owner.post(f"/v1/cards/{card}:archive", {"force": True})


@pytest.mark.processes
@pytest.mark.parametrize("how", ["disable", "revoke"])
def test_a_dismissed_agent_is_out_and_its_work_comes_back(
    fleet_at, server, world, queue, owner, how
):
    """kitodo/kitodo-production#4184: deleting a user failed on a foreign key, or left
    their work in limbo."""
    world.set(lease_ttl_seconds=3)
    world.add_many(3)
    agent = f"/v1/agents/{world.worker.actor_id}"
    token = owner.post(f"{agent}/tokens", {"name": "Dismissed"}).json()
    fleet = fleet_at(server, 0)
    (dismissed,) = fleet.start([token["secret"]])
    dismissed.tell("ask", path=f"{queue}:claim-next", body={"count": 3})
    held = dismissed.hear()["body"]["claims"]
    assert len(held) == 3
    if how == "disable":
        gone = owner.patch(agent, {"disabled": True})
    else:
        gone = owner.post(f"{agent}/tokens/{token['token']['id']}:revoke")
    assert gone.status_code == 200

    def is_out():
        dismissed.tell("ask", path="/v1/me", method="GET")
        return dismissed.hear()["status"] == 401

    eventually(is_out, 30)
    lease = f"/v1/leases/{held[0]['lease']['id']}"
    receipt = {"lease_token": held[0]["lease_token"]}
    dismissed.tell("ask", path=f"{lease}:complete", body=receipt)
    assert dismissed.hear()["status"] == 401
    taken = []
    eventually(lambda: taken.extend(claim_all(owner, queue)) or len(taken) == 3, 30)
    for one in taken:
        assert one["previous_attempts"][0]["holder"] == world.worker.handle
    leases = owner.get(f"/v1/boards/{world.board}/leases", state="expired").json()
    assert {one["holder"]["name"] for one in leases["items"]} == {world.worker.name}
    assert Actor.objects.filter(pk=world.worker.actor_id).exists()


def claim_all(door: Http, queue: str) -> list[dict]:
    claims = door.post(f"{queue}:claim-next", {"count": 10}).json()["claims"]
    return [claim["card"] for claim in claims]


@pytest.mark.processes
def test_a_board_put_away_while_its_workers_finish_breaks_nobody(
    fleet_at, server, world, queue, owner
):
    """sourcegraph#45832 and others: deleting a running job broke its completer."""
    fleet = fleet_at(server, 6)
    fleet.start([owner.token])
    *workers, _ = fleet.processes
    for _ in range(ROUNDS):
        world.add_many(len(workers))
        claims = [world.claim() for _ in workers]
        calls = [
            {
                "path": f"/v1/leases/{held.lease.id}:complete",
                "body": {"lease_token": held.lease_token},
            }
            for held in claims
        ]
        force = {"force": True}
        calls.append({"path": f"/v1/boards/{world.board}:archive", "body": force})
        *finished, archived = fleet.each_at_once(
            lambda number, calls=calls: calls[number]
        )
        assert archived["status"] == 200
        assert {one["status"] for one in finished} <= {200, 404, 409}
        assert not Lease.objects.filter(state="active").exists()
        assert not Card.objects.filter(state="claimed").exists()
        owner.post(f"/v1/boards/{world.board}:restore")
        Card.objects.filter(state="open").update(state="done")
