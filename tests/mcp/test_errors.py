"""What goes wrong inside of a tool is told to the model: a code, what happened, and the
next step."""

import os
from itertools import count

import pytest
from django.db import OperationalError
from psycopg import errors as postgres

from accounts.errors import Conflict
from novum import limits
from novum.operations import me
from novum.operations.advice import NEXT_STEPS
from tests.builders import Claim, lapse, receipt
from tests.doors.http import Http, token_of
from tests.mcp.door import Mcp

GONE = "01900000-0000-7000-8000-000000000000"
_windows = count(1, step=2)


@pytest.fixture
def queue(world):
    return {"board_id": world.board, "column_id": world.queue}


@pytest.fixture
def _counted_anew(monkeypatch):
    """No grant of another test, and a window of this test alone."""
    monkeypatch.setattr(limits, "_grants", {})
    window = os.getpid() * 10_000 + next(_windows)
    moment = window * limits.WINDOW_SECONDS + 20
    monkeypatch.setattr(limits, "time", lambda: moment)


def held(world) -> Claim:
    world.add()
    return world.claim()


def test_a_lost_lease_says_stop(world, worker):
    claim = held(world)
    lapse(claim)
    for verb in "renew_lease", "complete_lease", "fail_lease", "release_lease":
        told = worker.call(verb, **receipt(claim))
        assert told.code == "lease_lost"
        assert told.value["next_step"] == NEXT_STEPS["lease_lost"]
        assert told.value["current"]


@pytest.mark.parametrize(
    ("terms", "pointer"),
    [
        ({"max_attempts": 0}, "/max_attempts"),
        ({"max_attempts": "x"}, "/max_attempts"),
        ({"backoff_seconds": [1.5]}, "/backoff_seconds/0"),
        ({"lease_ttl_seconds": True}, "/lease_ttl_seconds"),
        ({"max_tries": 3}, "/max_tries"),
    ],
)
def test_a_contract_that_does_not_fit_says_where(owner, queue, terms, pointer):
    told = owner.call("set_column_contract", **queue, **terms)
    assert told.code == "invalid_contract"
    assert told.value["errors"][0]["pointer"] == pointer
    assert told.value["next_step"] == NEXT_STEPS["invalid_contract"]


def test_a_rejected_output_says_what_to_put_right_and_the_lease_stays(world, worker):
    world.set(output_schema={"type": "object", "required": ["words"]})
    claim = held(world)
    told = worker.call("complete_lease", **receipt(claim), output={"text": "Hm."})
    assert told.code == "output_rejected"
    assert "words" in told.value["errors"][0]["detail"]
    assert "still hold" in told.value["next_step"]
    told = worker.call("complete_lease", **receipt(claim), output={"words": 3})
    assert told.value["lease"]["state"] == "completed"


def test_a_held_card_says_by_whom_and_how_to_take_it(world, owner):
    claim = held(world)
    told = owner.call("move_card", card_id=claim.card.id, column_id=world.done)
    assert told.code == "card_held"
    assert told.value["current"]["holder"]
    assert "force" in told.value["next_step"]


@pytest.mark.parametrize(
    ("arguments", "pointer", "code"),
    [
        ({}, "/board_id", "required"),
        ({"board_id": "x"}, "/board_id", "invalid"),
        ({"board_id": 5}, "/board_id", "invalid"),
        ({"nonsense": 1}, "/nonsense", "unknown_field"),
        ({"verbose": "yes"}, "/verbose", "invalid"),
        ({"idempotency_key": 5}, "/idempotency_key", "invalid"),
        ({"idempotency_key": "x" * 256}, "/idempotency_key", "bad_key"),
        ({"idempotency_key": "a\nb"}, "/idempotency_key", "bad_key"),
        ({"count": 0}, "/count", "invalid"),
        ({"count": "2"}, "/count", "invalid"),
        ({"count": 10**30}, "", "number_out_of_range"),
        ({"column_id": "a\0b"}, "", "nul_character"),
    ],
)
def test_an_argument_that_does_not_fit_is_named(
    worker, queue, arguments, pointer, code
):
    given = {**queue, **arguments} if arguments else {}
    told = worker.call("claim_next_card", **given)
    (error,) = told.value["errors"]
    assert error["code"] == code
    assert error["pointer"].endswith(pointer)
    assert told.value["next_step"] == NEXT_STEPS["invalid"]


@pytest.mark.parametrize("text", ["half \ud800", "nul \0"])
def test_text_that_cannot_be_stored_is_the_tools_error(world, owner, queue, text):
    told = owner.call("create_card", **queue, title=text)
    assert told.code in ("lone_surrogate", "nul_character")
    assert told.value["errors"][0]["pointer"] == "/params/arguments/title"


def test_keys_make_a_claim_and_a_create_happen_once(world, worker, queue):
    world.add_many(3)
    key = {"idempotency_key": "k-1"}
    first = worker.call("claim_next_card", **queue, **key)
    again = worker.call("claim_next_card", **queue, **key)
    assert again.value["replayed"]
    assert first.value["lease_token"] == again.value["lease_token"]
    assert first.value["card"] == again.value["card"]
    one = worker.call("create_card", **queue, title="One", **key)
    two = worker.call("create_card", **queue, title="One", **key)
    assert one.value == two.value
    other = worker.call("create_card", **queue, title="Two", **key)
    assert other.code == "idempotency_key_reused"
    # An empty or a null key is none.
    for none in "", None:
        a = worker.call("claim_next_card", **queue, idempotency_key=none)
        assert a.value.get("replayed") is None


def test_a_key_is_the_same_by_rest_and_by_mcp(world, queue):
    world.add_many(2)
    token = token_of(world.worker)
    path = f"/v1/boards/{world.board}/columns/{world.queue}:claim-next"
    rest = Http(token).post(path, {}, headers={"Idempotency-Key": "both"}).json()
    told = Mcp(token).call("claim_next_card", **queue, idempotency_key="both")
    assert told.value["lease_token"] == rest["lease_token"]


def test_a_key_is_no_argument_where_nothing_is_remembered(world, worker):
    told = worker.call("get_me", idempotency_key="x")
    assert told.value["errors"][0]["code"] == "unknown_field"


@pytest.mark.usefixtures("_counted_anew")
def test_limits_are_the_same_and_finishing_counts_apart(world, settings, queue):
    settings.RATE_LIMITS = settings.RATE_LIMITS | {"work": 3, "finish": 2}
    world.add()
    door = Mcp(token_of(world.worker))
    claim = door.call("claim_next_card", **queue).value
    assert door.send("tools/list").status_code == 200
    assert door.call("get_me").code == ""
    told = door.call("claim_next_card", **queue)
    assert told.code == "rate_limited"
    assert told.value["retry_after_seconds"] == 40
    assert door.call("get_me").code == "rate_limited"
    refused = door.send("tools/list")
    assert (refused.status_code, refused.headers["Retry-After"]) == (429, "40")
    assert door.send("tools/call", name="none").status_code == 429
    assert door.post(b"nonsense").status_code == 429
    mine = {"lease_id": claim["lease"]["id"], "lease_token": claim["lease_token"]}
    assert door.call("renew_lease", **mine).code == ""
    assert door.call("complete_lease", **mine).code == ""
    assert door.call("complete_lease", **mine).code == "rate_limited"


@pytest.mark.usefixtures("_counted_anew")
def test_guesses_at_tokens_are_counted(db, settings):
    settings.RATE_LIMITS = settings.RATE_LIMITS | {"guess": 2}
    door = Mcp("nvma_wrong")
    statuses = [door.send("tools/list").status_code for _ in range(4)]
    assert statuses == [401, 401, 429, 429]


def fails_with(monkeypatch, error):
    def get_workspace(*arguments, **named):
        raise error

    monkeypatch.setattr(me.reads, "workspace", get_workspace)


def test_a_fault_of_ours_leaks_nothing(worker, monkeypatch, caplog):
    fails_with(monkeypatch, RuntimeError("SELECT secret_column FROM passwords"))
    told = worker.call("get_me")
    assert told.code == "internal"
    assert "secret_column" not in told.text
    assert told.value["request_id"] in caplog.text
    assert "secret_column" in caplog.text


def test_a_database_that_cannot_answer_now_says_repeat(worker, monkeypatch):
    error = OperationalError("secret host 10.0.0.1")
    error.__cause__ = postgres.QueryCanceled()
    fails_with(monkeypatch, error)
    told = worker.call("get_me")
    assert told.code == "unavailable"
    assert told.value["retry_after_seconds"] == 1
    assert "repeat" in told.value["next_step"]
    assert "10.0.0.1" not in told.text


def test_what_is_not_there_is_not_found(worker):
    for tool, name in [
        ("get_card", "card_id"),
        ("get_board", "board_id"),
        ("get_lease", "lease_id"),
        ("get_agent", "agent_id"),
    ]:
        assert worker.call(tool, **{name: GONE}).code == "not_found"


def test_an_unknown_error_still_has_a_next_step(world, worker, monkeypatch):
    """A code that nobody has written advice for."""

    class Odd(Conflict):
        """That is odd."""

        code = "odd"

    fails_with(monkeypatch, Odd())
    told = worker.call("get_me")
    assert (told.code, told.value["detail"]) == ("odd", "That is odd.")
    assert told.value["next_step"] == NEXT_STEPS["conflict"]


def test_no_receipt_and_no_content_gets_into_a_log(world, worker, queue, caplog):
    caplog.set_level("INFO")
    world.add("Secret plan")
    claim = worker.call("claim_next_card", **queue).value
    mine = {"lease_id": claim["lease"]["id"], "lease_token": claim["lease_token"]}
    worker.call("complete_lease", **mine, output="Secret result")
    logged = caplog.text + "".join(str(vars(one)) for one in caplog.records)
    for secret in claim["lease_token"], worker.token, "Secret":
        assert secret not in logged


def test_a_receipt_is_in_the_answer_to_its_claim_alone(world, owner, worker, queue):
    world.add()
    claim = worker.call("claim_next_card", **queue, verbose=True).value
    token, lease = claim["lease_token"], claim["lease"]["id"]
    for tool, arguments in [
        ("get_lease", {"lease_id": lease}),
        ("list_leases", {"board_id": world.board}),
        ("list_my_leases", {}),
        ("get_card", {"card_id": claim["card"]["id"]}),
        ("list_events", {}),
        ("complete_lease", {"lease_id": lease, "lease_token": token}),
    ]:
        told = worker.call(tool, **arguments, verbose=True)
        assert not told.is_error
        assert token not in told.text
