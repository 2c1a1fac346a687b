"""Agent seats as pages: tokens shown once, what they hold, stopping them."""

import html
import re

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts.credentials import caller_of_token
from accounts.models import Actor, WorkerToken
from boards.verbs.boards import edit_board
from leases.models import Lease
from tests.builders import World, a_seat, a_token, a_workspace

SECRET = re.compile(r"nvma_[0-9A-Za-z]{49}")
TOKEN = {"name": "worker 1", "scopes": ["read", "work"]}


@pytest.fixture
def seat(world: World) -> str:
    """The page of the seat that works in this world."""
    return f"/agents/{world.worker.actor_id}"


def shown(answer) -> str:
    return html.unescape(answer.content.decode())


def test_admins_make_seats(ann):
    answer = ann.post("/agents", {"name": "Drafter", "handle": "@drafter"})
    made = Actor.objects.get(handle="drafter")
    assert answer.url == f"/agents/{made.pk}"
    again = ann.post("/agents", {"name": "Drafter", "handle": "drafter"})
    assert again.status_code == 422
    assert "is taken" in shown(again)


def test_a_token_comes_once_with_a_curl_and_a_worker_that_name_this_queue(
    ann, world: World, seat, settings
):
    settings.NOVUM_URL = "https://novum.example"
    answer = ann.post(f"{seat}/tokens", TOKEN)
    assert "no-store" in answer["Cache-Control"]
    page = shown(answer)
    (secret,) = set(SECRET.findall(page))
    caller = caller_of_token(secret)
    assert caller.actor_id == world.worker.actor_id
    assert caller.scopes == {"read", "work"}
    column = f"/boards/{world.board}/columns/{world.queue}"
    assert f"https://novum.example/v1{column}:claim-next" in page
    mcp = re.search(r'<pre id="mcp"[^>]*>(.*?)</pre>', page, re.DOTALL)[1]
    assert "https://novum.example/v1/mcp " in mcp
    assert secret in mcp
    worker = re.search(r'<pre id="worker"[^>]*>(.*?)</pre>', page, re.DOTALL)[1]
    compile(worker, "worker.py", "exec")
    assert secret in worker
    assert f'QUEUE = "{column}"' in worker
    assert not SECRET.findall(shown(ann.get(seat)))


def test_a_seat_is_offered_only_queues_that_it_may_claim_from(ann, world: World, seat):
    edit_board(world.owner, board_id=world.board, default_role=None)
    page = shown(ann.post(f"{seat}/tokens", TOKEN))
    assert SECRET.findall(page)
    assert "no queue yet" in page
    assert "/v1/mcp" in page
    assert str(world.queue) not in page


@pytest.mark.parametrize(
    "wrong", [{"name": ""}, {"scopes": []}, {"scopes": ["root"]}, {"expires_at": "x"}]
)
def test_a_bad_token_is_not_made(ann, seat, wrong):
    answer = ann.post(f"{seat}/tokens", {**TOKEN, **wrong})
    assert answer.status_code == 422
    assert not SECRET.findall(shown(answer))
    assert not WorkerToken.objects.filter(name="worker 1").exists()


def test_a_token_can_end_at_the_end_of_a_day(ann, seat):
    ann.post(f"{seat}/tokens", {**TOKEN, "expires_at": "2099-01-02"})
    found = WorkerToken.objects.get(name="worker 1").expires_at
    assert found.isoformat().startswith("2099-01-02T23:59:59")


def test_a_revoked_token_stays_listed(ann, world: World, seat):
    token = world.worker.token_id
    ann.post(f"{seat}/tokens/{token}/revoke")
    assert WorkerToken.objects.get(pk=token).revoked_at
    assert "revoked" in shown(ann.get(seat))


def test_the_page_shows_what_is_held_and_stops_it(ann, world: World, seat):
    world.add("Write a poem")
    held = world.claim()
    page = shown(ann.get(seat))
    assert f'data-lease="{held.lease.id}"' in page
    assert f"/boards/{world.board}/cards/{held.card.id}" in page
    assert "Write a poem" in page
    assert held.lease_token not in page
    assert "1 card" in shown(ann.get("/agents"))
    ann.post(f"{seat}/stop")
    assert Lease.objects.get(pk=held.lease.id).state == Lease.State.REVOKED
    assert "data-lease" not in shown(ann.get(seat))


def test_a_seat_is_renamed_disabled_and_enabled(ann, world: World, seat):
    ann.post(f"{seat}/edit", {"name": "New name"})
    ann.post(f"{seat}/edit", {"disabled": "yes"})
    row = Actor.objects.get(pk=world.worker.actor_id)
    assert row.name == "New name"
    assert row.disabled_at
    assert "disabled" in shown(ann.get("/agents"))
    ann.post(f"{seat}/edit", {"disabled": "no"})
    assert Actor.objects.get(pk=row.pk).disabled_at is None


def test_a_seat_has_skills_and_a_limit_from_the_beginning_and_later(
    ann, world: World, seat
):
    fields = {"name": "D", "handle": "d", "skills": "German, x", "max_leases": "3"}
    ann.post("/agents", fields)
    made = Actor.objects.get(handle="d")
    assert (made.skills, made.max_leases) == (["german", "x"], 3)
    ann.post(f"{seat}/edit", {"skills": "research", "max_leases": "2"})
    row = Actor.objects.get(pk=world.worker.actor_id)
    assert (row.skills, row.max_leases) == (["research"], 2)
    ann.post(f"{seat}/edit", {"name": "Only renamed"})
    row.refresh_from_db()
    assert (row.skills, row.max_leases) == (["research"], 2)
    for page in (shown(ann.get(seat)), shown(ann.get("/agents"))):
        assert "<bdi>research</bdi>" in page
        assert "at most 2 cards at once" in page
    assert "0 of 2" in shown(ann.get(seat))
    ann.post(f"{seat}/edit", {"skills": "", "max_leases": ""})
    row.refresh_from_db()
    assert (row.skills, row.max_leases) == ([], None)


@pytest.mark.parametrize("wrong", [{"skills": "x" * 51}, {"max_leases": "0"}])
def test_bad_skills_and_limits_are_refused_where_they_were_typed(
    ann, world: World, seat, wrong
):
    answer = ann.post("/agents", {"name": "D", "handle": "d", **wrong})
    assert answer.status_code == 422
    assert 'class="error"' in shown(answer)
    assert "1 to" not in shown(ann.get(seat))
    assert "1 to" in shown(ann.post(f"{seat}/edit", wrong, follow=True))
    row = Actor.objects.get(pk=world.worker.actor_id)
    assert (row.skills, row.max_leases) == ([], None)


def test_a_token_brings_skills_of_its_own(ann, world: World, seat):
    answer = ann.post(f"{seat}/tokens", {**TOKEN, "skills": "german, german"})
    (secret,) = set(SECRET.findall(shown(answer)))
    assert caller_of_token(secret).skills == {"german"}
    assert "<bdi>german</bdi>" in shown(ann.get(seat))
    assert "<bdi>german</bdi>" not in shown(ann.get("/agents"))


def test_members_read_and_change_nothing(bob, world: World, seat):
    world.add("Write a poem")
    held = world.claim()
    page = shown(bob.get(seat))
    assert "Write a poem" in page
    for action in ("Stop this agent", "Worker tokens", "Rename", "Skills,"):
        assert action not in page
    assert "New agent" not in shown(bob.get("/agents"))
    bob.post("/agents", {"name": "X", "handle": "x"})
    bob.post(f"{seat}/edit", {"name": "X", "disabled": "yes"})
    bob.post(f"{seat}/stop")
    answer = bob.post(f"{seat}/tokens", TOKEN)
    bob.post(f"{seat}/tokens/{world.worker.token_id}/revoke")
    assert not SECRET.findall(shown(answer))
    assert Lease.objects.get(pk=held.lease.id).state == Lease.State.ACTIVE
    assert not Actor.objects.filter(name="X").exists()
    assert not Actor.objects.exclude(disabled_at=None).exists()
    assert WorkerToken.objects.filter(revoked_at=None).count() == 1


def test_cards_of_private_boards_are_not_told(bob, world: World, seat):
    world.add("Write a poem")
    world.claim()
    edit_board(world.owner, board_id=world.board, default_role=None)
    assert "Write a poem" not in shown(bob.get(seat))
    assert "1 card" not in shown(bob.get("/agents"))


def test_agents_of_other_workspaces_do_not_exist(ann):
    stranger = a_seat(a_workspace())
    assert ann.get(f"/agents/{stranger.pk}").status_code == 404
    ann.post(f"/agents/{stranger.pk}/edit", {"disabled": "yes"})
    assert Actor.objects.get(pk=stranger.pk).disabled_at is None


def test_agents_take_the_same_queries_however_many(
    ann, world: World, django_assert_num_queries
):
    with CaptureQueriesContext(connection) as few:
        ann.get("/agents")
    for _ in range(20):
        a_token(a_seat(world.workspace))
    with django_assert_num_queries(len(few)):
        ann.get("/agents")


def test_no_agents_teach_how_to_begin(ann, world: World):
    Actor.objects.filter(kind="agent").update(workspace=a_workspace())
    assert "No agents yet" in shown(ann.get("/agents"))
