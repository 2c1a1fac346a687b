"""Hostile and merely odd input in every place that takes any: refused by name, or back
exactly as it went in; never a server error."""

import json
from datetime import datetime

import msgspec
import pytest

from novum.operations.registry import OPERATIONS
from tests.doors.nasty import MOMENTS, NO_MOMENTS, TEXTS, UNSTORABLE, VALUES
from tests.doors.recipes import Sent, sent

TAKING = [one for one in OPERATIONS if one.method not in ("GET", "DELETE")]
ASKING = [one for one in OPERATIONS if one.method in ("GET", "DELETE")]


def fields(operation):
    """What goes in by the body or the query."""
    return [
        name
        for name in operation.input.__struct_fields__
        if f"{{{name}}}" not in operation.path and name != "if_match"
    ]


def wrapped(text):
    """The text everywhere in a value, each with where it is."""
    yield text, ""
    yield [1, [text]], "/1/0"
    yield {"a": {"b~/": text}}, "/a/b~0~1"
    yield {text: 1}, ""


def test_there_are_enough_of_them():
    assert len(set(TEXTS)) == len(TEXTS) >= 60


@pytest.mark.parametrize("operation", TAKING, ids=lambda one: one.name)
def test_what_nobody_can_store_is_refused_where_it_stands(world, owner, operation):
    call = sent(operation, world, world.owner)
    for name in fields(operation):
        for text in UNSTORABLE:
            for value, inside in wrapped(text):
                refused = Sent(call.values | {name: value}).by(owner, operation)
                assert refused.status_code == 422, (name, value)
                (error,) = refused.json()["errors"]
                assert error["code"] in ("nul_character", "lone_surrogate")
                assert error["pointer"] == f"/{name}{inside}"


@pytest.mark.parametrize("operation", ASKING, ids=lambda one: one.name)
def test_a_query_with_anything_in_it_breaks_nothing(world, owner, operation):
    call = sent(operation, world, world.owner)
    for name in fields(operation):
        for text in [*TEXTS, "x" * 20_000]:
            answer = Sent(call.values | {name: text}).by(owner, operation)
            assert answer.status_code < 500, (name, text)
        refused = Sent(call.values | {name: "a\0"}).by(owner, operation)
        assert refused.status_code == 422
        assert refused.json()["errors"][0]["pointer"] == f"/{name}"


@pytest.mark.parametrize("raw", ["q=%ff%fe", "q=%ed%a0%bd", "%00=1", "q=%F4%90%80%80"])
def test_a_query_that_is_no_utf_8_breaks_nothing(owner, raw):
    answer = owner.client.get(
        f"/v1/cards?{raw}", headers={"Authorization": f"Bearer {owner.token}"}
    )
    assert answer.status_code in (200, 422)


@pytest.mark.parametrize("operation", TAKING, ids=lambda one: one.name)
def test_any_value_in_any_field_is_taken_or_refused(world, owner, operation):
    call = sent(operation, world, world.owner)
    odd = [None, True, -1, 2**31, 2**53 - 1, -(2**53) + 1, 0.5, 1e308, "", [], {}]
    odd += [[[]], {"": {}}, ["x"] * 501, "x" * 200_001, *TEXTS[::6]]
    for name in fields(operation):
        for value in odd:
            answer = Sent(call.values | {name: value}).by(owner, operation)
            assert answer.status_code < 500, (name, value)


def kept(owner, world, text):
    """The text in every place that keeps a long one: what's there, read anew."""
    place = {"board_id": str(world.board), "column_id": str(world.queue)}
    body = {
        "title": "Odd",
        "description": text,
        "properties": {"text": text, text: "text"},
        "payload": [text],
    }
    made = owner.post("/v1/cards", place | body)
    assert made.status_code == 201, made.content
    card = made.headers["Location"]
    comment = owner.post(f"{card}/comments", {"text": text + "."})
    assert comment.status_code == 201
    seen = owner.get(card).json()
    yield seen["description"]
    yield seen["properties"]["text"]
    assert text in seen["properties"]
    yield seen["payload"][0]
    yield owner.get(f"{card}/comments").json()["items"][0]["text"][:-1]


@pytest.mark.parametrize("text", TEXTS, ids=range(len(TEXTS)))
def test_a_text_comes_back_as_it_went_in(owner, world, text):
    assert set(kept(owner, world, text)) == {text}


@pytest.mark.parametrize("text", TEXTS, ids=range(len(TEXTS)))
def test_a_worker_gets_and_gives_back_any_text(worker, world, queue, text):
    world.add("Odd", description=text, payload={text: text})
    claimed = worker.post(f"{queue}:claim-next").json()
    assert claimed["card"]["description"] == text
    assert claimed["card"]["payload"] == {text: text}
    lease = f"/v1/leases/{claimed['lease']['id']}"
    receipt = {"lease_token": claimed["lease_token"]}
    failed = worker.post(f"{lease}:fail", receipt | {"reason": text[:5_000]})
    assert failed.json()["lease"]["reason"] == text[:5_000]
    again = worker.post(f"{queue}:claim-next").json()
    assert again["card"]["previous_attempts"][0]["reason"] == text[:5_000]
    done = worker.post(
        f"/v1/leases/{again['lease']['id']}:complete",
        {
            "lease_token": again["lease_token"],
            "output": {text: [text]},
            "properties": {text: text},
        },
    )
    assert done.status_code == 200
    card = worker.get(f"/v1/cards/{claimed['card']['id']}").json()
    assert card["output"] == {text: [text]}
    assert card["properties"] == {text: text}


@pytest.mark.parametrize("text", TEXTS, ids=range(len(TEXTS)))
def test_a_short_text_comes_back_as_it_went_in_or_is_refused(owner, world, text):
    """Names and titles lose the blanks around them, and say something visible."""
    text = text[:80].strip()
    board = owner.post("/v1/boards", {"name": text})
    assert board.json()["name"] == text
    column = owner.post(f"/v1/boards/{world.board}/columns", {"name": text})
    assert column.json()["name"] == text
    place = {"board_id": str(world.board), "column_id": str(world.queue)}
    label = [text[:50].strip()]
    card = owner.post("/v1/cards", place | {"title": text, "labels": label})
    seen = owner.get(card.headers["Location"]).json()
    assert (seen["title"], seen["labels"]) == (text, label)
    agent = owner.post("/v1/agents", {"handle": "odd", "name": text})
    assert agent.status_code == (201 if text.isprintable() else 422)


@pytest.mark.parametrize("value", VALUES, ids=range(len(VALUES)))
def test_a_value_comes_back_as_it_went_in(owner, worker, world, queue, value):
    place = {"board_id": str(world.board), "column_id": str(world.queue)}
    made = owner.post(
        "/v1/cards",
        place | {"title": "Odd", "payload": value, "properties": {"value": value}},
    )
    text = json.dumps(value, sort_keys=True)
    seen = owner.get(made.headers["Location"]).json()
    claimed = worker.post(f"{queue}:claim-next").json()
    done = worker.post(
        f"/v1/leases/{claimed['lease']['id']}:complete",
        {"lease_token": claimed["lease_token"], "output": value},
    )
    assert done.status_code == 200
    after = owner.get(made.headers["Location"]).json()
    for back in (
        seen["payload"],
        seen["properties"]["value"],
        claimed["card"]["payload"],
        after["output"],
    ):
        assert json.dumps(back, sort_keys=True) == text


@pytest.mark.parametrize("number", [1e20, -1e20, 6.02e23, 1e308, -0.0])
def test_a_number_beyond_exact_integers_stays_the_same_number(owner, world, number):
    place = {"board_id": str(world.board), "column_id": str(world.queue)}
    made = owner.post("/v1/cards", place | {"title": "Odd", "payload": number})
    assert float(owner.get(made.headers["Location"]).json()["payload"]) == number


@pytest.mark.parametrize("field", ["due", "not_before"])
@pytest.mark.parametrize("moment", MOMENTS)
def test_a_moment_is_kept_or_refused_and_can_be_read_again(owner, world, field, moment):
    place = {"board_id": str(world.board), "column_id": str(world.queue)}
    made = owner.post("/v1/cards", place | {"title": "Odd", field: moment})
    assert made.status_code in (201, 422), made.content
    shown = owner.get("/v1/cards")
    assert shown.status_code == 200
    if made.status_code == 201:
        column = {"due": "due", "not_before": "available_at"}[field]
        back = read(made.json()[column])
        assert back == read(moment)
    else:
        assert made.json()["errors"][0]["pointer"] == f"/{field}"


def read(moment):
    return msgspec.convert(moment, datetime)


@pytest.mark.parametrize("moment", MOMENTS)
def test_a_token_that_expires_at_any_moment_can_be_listed(owner, world, moment):
    path = f"/v1/agents/{world.worker.actor_id}/tokens"
    made = owner.post(path, {"name": "Odd", "expires_at": moment})
    assert made.status_code in (201, 422)
    assert owner.get(path).status_code == 200


@pytest.mark.parametrize("moment", NO_MOMENTS)
def test_what_is_no_moment_is_refused(owner, world, moment):
    place = {"board_id": str(world.board), "column_id": str(world.queue)}
    odd = {"title": "Odd", "due": moment}
    refused = owner.post("/v1/cards", place | odd)
    assert refused.status_code == 422
    assert refused.json()["errors"][0]["pointer"] == "/due"
    refused = owner.post("/v1/cards:bulk-create", place | {"cards": [odd]})
    assert refused.status_code == 422
    assert refused.json()["errors"][0]["pointer"] == "/cards/0/due"
