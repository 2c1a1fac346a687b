"""Public reports about permissions, limits and secrets at the door, tried on Novum.

Each test names the thread it comes from (github.com/<repository>/issues/<number>);
symptoms in our own words. Tried elsewhere in more detail:

- kanboard/kanboard#5852 and wekan/wekan#5422, roles looked up in the wrong place or
  not at all: tests/doors/test_permissions.py, every operation for every caller
- encode/django-rest-framework#5181, parallel calls pass a limit:
  tests/processes/test_shared_limits.py and tests/doors/test_rate_limits.py
- multica-ai/multica#7132 and thumper#33, tokens in logs, lists and views:
  tests/doors/test_secrets.py
"""

import re
from typing import Any
from uuid import UUID

import pytest

from accounts import credentials
from boards import access
from boards.models import Comment
from novum.operations.registry import OPERATIONS
from tests.builders import World, a_seat, a_token, a_world
from tests.connections import undone
from tests.doors.http import Http, door_of
from tests.doors.recipes import Sent, sent
from tests.doors.test_permissions import stored

NOBODY = UUID("01900000-0000-7000-8000-000000000000")
# Where a filter or a reference is an id: what of the other workspace it could name.
REFERENCES = {
    "board_id": lambda there: there.board,
    "column_id": lambda there: there.queue,
    "card_id": lambda there: there.add(),
    "move_cards_to": lambda there: there.done,
    "before": lambda there: there.add(),
    "after": lambda there: there.add(),
    "on_success_column_id": lambda there: there.done,
    "on_failure_column_id": lambda there: there.failed,
    "assignee": lambda there: there.worker.handle,
    "handle": lambda there: there.worker.handle,
    "agent_id": lambda there: there.worker.actor_id,
    "token_id": lambda there: there.worker.token_id,
    "lease_id": lambda there: held(there).lease.id,
    "comment_id": lambda there: a_comment(there).pk,
}
# These only look for something: nothing of the others' is there to be found.
FILTERS = {("list_cards", "column_id"), ("list_leases", "column_id")}
FILTERS |= {("list_leases", "card_id"), ("list_events", "card_id")}
FILTERS |= {("list_cards", "assignee"), ("list_webhook_deliveries", "card_id")}
FILTERS |= {
    (operation, name)
    for operation in ("find_leases", "revoke_leases")
    for name in ("column_id", "agent_id", "token_id")
}
FILTERS |= {
    ("list_dead_letters", "column_id"),
    ("list_dead_letter_groups", "column_id"),
}
# The same word for something else.
NO_REFERENCES = {
    (name, "handle") for name in ("create_agent", "create_person", "edit_profile")
} | {("list_events", "after")}


def held(world: World):
    world.add()
    return world.claim()


def a_comment(world: World) -> Comment:
    return Comment.objects.create(
        card_id=world.add(), author_id=world.owner.actor_id, text="Theirs."
    )


def cases():
    for operation in OPERATIONS:
        for name in operation.input.__struct_fields__:
            if name in REFERENCES and (operation.name, name) not in NO_REFERENCES:
                yield pytest.param(operation, name, id=f"{operation.name}-{name}")


@pytest.mark.parametrize(("operation", "name"), list(cases()))
@pytest.mark.parametrize("kind", ["others'", "nobody's"])
def test_ids_of_others_lead_nowhere_wherever_they_are_put(db, operation, name, kind):
    """kanboard/kanboard#5852: the role was looked up on the board named in the request,
    not on that of the card. Here each id of a call, in its path, query or body, is by
    turns one of another workspace and one of nobody; both are answered alike, and
    nothing changes anywhere."""
    here, there = a_world(), a_world()
    call = sent(operation, here, here.owner)
    foreign = NOBODY if kind == "nobody's" else REFERENCES[name](there)
    if kind == "nobody's" and name in ("assignee", "handle"):
        foreign = "nobody-at-all"
    call = Sent(call.values | {name: foreign})
    door = door_of(here.owner)
    before = stored()
    answer = call.by(door, operation)
    if (operation.name, name) in FILTERS:
        assert answer.status_code == 200
        told = answer.json()
        assert not any(told.get(name) for name in ("items", "groups", "revoked"))
        assert {"items", "groups", "revoked"} & set(told)
    else:
        assert answer.status_code in (404, 422), answer.content
    assert stored() == before


@pytest.mark.parametrize("name", ["renew_leases", "complete_leases"])
def test_leases_of_others_among_ones_own_are_answered_one_by_one(db, name):
    """kanboard/kanboard#5852, in a list."""
    here, there = a_world(), a_world()
    mine, theirs = held(here), held(there)
    verb = name.partition("_")[0]
    leases = [
        {"lease_id": str(one.lease.id), "lease_token": one.lease_token}
        for one in (mine, theirs)
    ]
    answer = door_of(here.worker).post(f"/v1/leases:{verb}", {"leases": leases})
    good, bad = answer.json()["results"]
    assert good["error"] is None
    assert bad["error"]["code"] == "not_found"
    lease = door_of(there.owner).get(f"/v1/leases/{theirs.lease.id}").json()
    assert (lease["state"], lease["renewals"]) == ("active", 0)


def test_a_stolen_receipt_is_of_no_use_without_a_role_on_the_board(db):
    """Three things must be right: the credential, the board, the receipt."""
    here, there = a_world(), a_world()
    theirs = held(there)
    for thief in (here.owner, here.worker):
        answer = door_of(thief).post(
            f"/v1/leases/{theirs.lease.id}:complete",
            {"lease_token": theirs.lease_token},
        )
        assert answer.status_code == 404


def test_columns_are_found_on_their_own_board_only(db):
    """kanbn/kan#410: the board in the path and the column of another one."""
    world = a_world()
    owner = door_of(world.owner)
    other = owner.post("/v1/boards", {"name": "Other", "columns": ["In"]}).json()["id"]
    for operation in OPERATIONS:
        if "{column_id}" not in operation.path:
            continue
        call = sent(operation, world, world.owner)
        answer = Sent(call.values | {"board_id": other}).by(owner, operation)
        assert answer.status_code == 404, operation.name
    body = {"board_id": other, "column_id": str(world.queue), "title": "Astray"}
    assert owner.post("/v1/cards", body).status_code == 404


def test_a_viewer_changes_nothing_by_any_operation(world):
    """wekan/wekan#5422: the API didn't ask for roles at all."""
    owner = door_of(world.owner)
    owner.put(
        f"/v1/boards/{world.board}/members/{world.worker.handle}", {"role": "viewer"}
    )
    viewer = door_of(world.worker)
    for operation in OPERATIONS:
        if not operation.changes or operation.who not in (
            "commenter",
            "editor",
            "manager",
        ):
            continue
        with undone():
            owner.put(
                f"/v1/boards/{world.board}/members/{world.worker.handle}",
                {"role": "editor"},
            )
            call = sent(operation, world, world.worker)
            owner.put(
                f"/v1/boards/{world.board}/members/{world.worker.handle}",
                {"role": "viewer"},
            )
            before = stored()
            answer = call.by(viewer, operation)
            refusals = answer.json().get("results") or [{"error": answer.json()}]
            assert refusals[0]["error"]["code"] in ("forbidden", "board_archived")
            assert stored() == before, operation.name
        access.forget()
        credentials.forget_tokens()


@pytest.mark.parametrize("place", ["query", "path", "cookie", "body", "header"])
def test_a_token_counts_in_the_authorization_header_alone(world, place):
    """fresh-agents/agent-os#350 and others: tokens in addresses end up in logs."""
    token = a_token(a_seat(world.workspace))[0]
    door = Http()
    answer = {
        "query": lambda: door.get("/v1/me", token=token, access_token=token),
        "path": lambda: door.get(f"/v1/me/{token}"),
        "cookie": lambda: with_cookie(door, token).get("/v1/me"),
        "body": lambda: door.post("/v1/boards", {"name": "X", "token": token}),
        "header": lambda: door("GET", "/v1/me", headers={"X-Api-Key": token}),
    }[place]()
    assert answer.status_code in (401, 404)
    assert token not in answer.content.decode()


def with_cookie(door: Http, token: str) -> Http:
    for name in ("token", "authorization", "sessionid"):
        door.client.cookies[name] = token
    return door


@pytest.mark.parametrize("known", [True, False])
def test_what_is_not_ones_own_answers_like_what_is_not_there(db, known):
    """No address tells whether something exists in another workspace."""
    here, there = a_world(), a_world()
    owner = door_of(here.owner)
    ids: dict[str, Any] = {
        "boards": there.board,
        "cards": there.add(),
        "leases": held(there).lease.id,
        "agents": there.worker.actor_id,
    }
    for kind, theirs in ids.items():
        answer = owner.get(f"/v1/{kind}/{theirs if known else NOBODY}")
        told = answer.json() | {"request_id": ""}
        kind = re.sub("s$", "", kind)
        assert told == {
            "title": "Not Found",
            "status": 404,
            "code": "not_found",
            "detail": f"There is no such {kind} here.",
            "request_id": "",
        }
