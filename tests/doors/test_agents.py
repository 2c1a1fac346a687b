"""The caller, members, agent seats and their tokens, over HTTP."""

import pytest
from django.db.models.functions import Now

from accounts import credentials
from accounts.models import WorkerToken
from tests.doors.http import Http, pages


@pytest.fixture
def agent(owner):
    made = owner.post("/v1/agents", {"handle": "drafter", "name": "Drafter"})
    assert made.status_code == 201
    assert made.headers["Location"] == f"/v1/agents/{made.json()['id']}"
    return made.headers["Location"]


def test_the_caller_learns_who_they_are_and_where_to_wait(owner, worker, world):
    me = worker.get("/v1/me").json()
    assert me["actor"]["handle"] == world.worker.handle
    assert (me["actor"]["kind"], me["role"]) == ("agent", None)
    assert me["scopes"] == ["manage", "read", "work", "write"]
    assert me["token_id"]
    assert me["workspace"]["id"] == str(world.workspace.pk)
    assert me["url"].startswith("http")
    assert me["live_url"] != me["url"]
    assert owner.get("/v1/me").json()["role"] == "owner"


def test_people_and_agents_are_members(owner, world):
    found = [one for page in pages(owner, "/v1/members") for one in page]
    assert {(one["handle"], one["kind"], one["role"]) for one in found} == {
        (world.owner.handle, "person", "owner"),
        (world.worker.handle, "agent", None),
    }


def test_a_seat_is_made_renamed_and_listed(owner, agent):
    renamed = owner.patch(agent, {"name": "Writer"}).json()
    assert (renamed["handle"], renamed["name"]) == ("drafter", "Writer")
    assert owner.get(agent).json() == renamed
    listed = [one for page in pages(owner, "/v1/agents") for one in page]
    assert renamed in listed


def test_a_handle_is_given_once(owner, agent):
    refused = owner.post("/v1/agents", {"handle": "@drafter"})
    assert (refused.status_code, refused.json()["code"]) == (409, "handle_taken")


@pytest.mark.parametrize(
    "handle", ["", "-x", "Drafter", "a b", "x" * 40, "dr\u0430fter"]
)
def test_a_handle_is_plain(owner, handle):
    refused = owner.post("/v1/agents", {"handle": handle})
    assert refused.status_code == 422
    assert refused.json()["errors"][0]["pointer"] == "/handle"


@pytest.mark.parametrize("name", ["", " ", "x" * 101, "a\u202eb", "a\nb"])
def test_a_seats_name_can_be_seen_and_is_what_it_seems(owner, agent, name):
    refused = owner.patch(agent, {"name": name})
    assert refused.status_code == 422
    assert refused.json()["errors"][0]["pointer"] == "/name"


def test_a_secret_is_shown_once_and_works(owner, agent):
    made = owner.post(f"{agent}/tokens", {"name": "Laptop"})
    assert made.status_code == 201
    secret = made.json()["secret"]
    assert secret.startswith("nvma_")
    assert made.json()["token"]["scopes"] == ["read", "work", "write"]
    worker = Http(secret)
    assert worker.get("/v1/me").json()["actor"]["handle"] == "drafter"
    listed = owner.get(f"{agent}/tokens")
    assert len(listed.json()["items"]) == 1
    assert secret not in listed.content.decode()
    assert listed.json()["items"][0]["hint"] == f"nvma_…{secret[-4:]}"
    assert owner.get(agent).json()["last_seen_at"]


def test_a_token_has_the_scopes_it_was_given(owner, agent):
    secret = owner.post(
        f"{agent}/tokens", {"name": "Reader", "scopes": ["read"]}
    ).json()["secret"]
    assert Http(secret).get("/v1/me").json()["scopes"] == ["read"]
    for scopes in ([], ["admin"], ["read", "everything"]):
        refused = owner.post(f"{agent}/tokens", {"name": "X", "scopes": scopes})
        assert refused.status_code == 422


def test_a_revoked_token_is_refused(owner, agent):
    made = owner.post(f"{agent}/tokens", {"name": "Laptop"}).json()
    worker = Http(made["secret"])
    assert worker.get("/v1/me").status_code == 200
    path = f"{agent}/tokens/{made['token']['id']}:revoke"
    revoked = owner.post(path)
    assert revoked.json()["revoked_at"]
    assert owner.post(path).json() == revoked.json()
    assert worker.get("/v1/me").status_code == 401


def test_a_disabled_seat_is_refused_until_enabled(owner, agent):
    worker = Http(owner.post(f"{agent}/tokens", {"name": "Laptop"}).json()["secret"])
    assert owner.patch(agent, {"disabled": True}).json()["disabled"] is True
    assert worker.get("/v1/me").status_code == 401
    owner.patch(agent, {"disabled": False})
    assert worker.get("/v1/me").status_code == 200


def test_a_token_expires(owner, agent):
    soon = {"name": "Short", "expires_at": "2100-01-01T00:00:00Z"}
    made = owner.post(f"{agent}/tokens", soon).json()
    worker = Http(made["secret"])
    assert worker.get("/v1/me").status_code == 200
    WorkerToken.objects.filter(pk=made["token"]["id"]).update(expires_at=Now())
    credentials.forget_tokens()
    assert worker.get("/v1/me").status_code == 401


def test_a_token_of_another_seat_is_not_found_there(owner, agent, world):
    token = owner.post(f"{agent}/tokens", {"name": "Laptop"}).json()["token"]
    other = f"/v1/agents/{world.worker.actor_id}"
    assert owner.post(f"{other}/tokens/{token['id']}:revoke").status_code == 404
    assert owner.get(f"{agent}/tokens").json()["items"][0]["revoked_at"] is None


def test_a_stopped_seat_holds_nothing_any_more(owner, worker, queue, world):
    world.add_many(3)
    claims = worker.post(f"{queue}:claim-next", {"count": 3}).json()["claims"]
    agent = f"/v1/agents/{world.worker.actor_id}"
    assert owner.post(f"{agent}:stop").json() == {"revoked": 3}
    assert owner.post(f"{agent}:stop").json() == {"revoked": 0}
    lost = worker.post(
        f"/v1/leases/{claims[0]['lease']['id']}:renew",
        {"lease_token": claims[0]["lease_token"]},
    )
    assert lost.json()["code"] == "lease_lost"


def test_a_person_is_no_agent_seat(owner, world):
    for call in (owner.get, owner.patch):
        assert call(f"/v1/agents/{world.owner.actor_id}").status_code == 404


def test_a_seat_and_its_workers_have_skills_and_a_limit(owner, agent):
    changed = owner.patch(agent, {"skills": ["SEO", "writing"], "max_leases": 2}).json()
    assert (changed["skills"], changed["max_leases"]) == (["seo", "writing"], 2)
    made = owner.post(f"{agent}/tokens", {"name": "One", "skills": ["python"]}).json()
    assert made["token"]["skills"] == ["python"]
    me = Http(made["secret"]).get("/v1/me").json()
    assert (me["skills"], me["max_leases"]) == (["python", "seo", "writing"], 2)
    kept = owner.patch(agent, {"name": "Same"}).json()
    assert (kept["skills"], kept["max_leases"]) == (["seo", "writing"], 2)
    freed = owner.patch(agent, {"skills": [], "max_leases": None}).json()
    assert (freed["skills"], freed["max_leases"]) == ([], None)


@pytest.mark.parametrize(
    ("field", "value"),
    [("skills", ["a,b"]), ("skills", ["x"] * 3 + [""]), ("max_leases", 0)],
)
def test_skills_and_limits_that_cannot_be_are_refused(owner, agent, field, value):
    refused = owner.patch(agent, {field: value})
    assert refused.status_code == 422
    assert refused.json()["errors"][0]["pointer"] == f"/{field}"
