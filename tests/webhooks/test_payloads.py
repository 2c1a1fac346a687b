"""What is told: to the schema of the document, small enough, in both formats."""

import json

import pytest
from jsonschema import Draft202012Validator

from boards.models import Event
from boards.verbs.cards import archive_card, edit_card, restore_card
from boards.verbs.comments import add_comment
from boards.verbs.moving import move_card
from leases.verbs.complete import complete
from leases.verbs.give_back import fail, release
from leases.verbs.requeue import requeue
from leases.verbs.revoke import revoke
from leases.verbs.tidy import tidy
from novum.rest.openapi import document
from tasks_people.verbs.gather import gather
from tests.builders import a_world, lapse, receipt
from webhooks import conf, payloads
from webhooks.catalogue import KINDS, TEST
from webhooks.payloads import as_cloudevent, bodies

DOCUMENT = document()
MUST = {
    *(f"card.lease.{end}" for end in ("claimed", "completed", "failed", "expired")),
    *(f"card.lease.{end}" for end in ("deadlettered", "released", "revoked")),
    *("card.created", "card.updated", "card.moved", "card.archived", "card.restored"),
    *("card.commented", "card.requeued", "column.contract.updated"),
    *("column.paused", "column.resumed", "task.done"),
}


@pytest.fixture
def world(db):
    return a_world()


def told(world, **wanted):
    """The bodies of all events, in their order."""
    rows = list(Event.objects.filter(workspace_id=world.workspace.pk, **wanted))
    rows.sort(key=lambda row: row.pk)
    texts = bodies(world.workspace.pk, rows)
    return [json.loads(texts[row.pk]) for row in rows]


def validator(type):
    content = DOCUMENT["webhooks"][type]["post"]["requestBody"]["content"]
    schema = content["application/json"]["schema"]
    return Draft202012Validator({**schema, "components": DOCUMENT["components"]})


def everything(world):
    """A card through all that can happen to it."""
    card = world.add("Write")
    edit_card(world.owner, card_id=card, title="Write more")
    add_comment(world.worker, card_id=card, text="Well.")
    release(world.worker, **receipt(world.claim()), note="Not mine.")
    revoke(world.owner, lease_id=world.claim().lease.id, reason="Stop.")
    lapse(world.claim())
    tidy(world.queue)
    fail(world.worker, **receipt(world.claim()), reason="No.", requeue=False)
    requeue(world.owner, card_id=card)
    complete(world.worker, **receipt(world.claim()), output={"text": "Done."})
    move_card(world.owner, card_id=card, column_id=world.failed)
    archive_card(world.owner, card_id=card)
    restore_card(world.owner, card_id=card)
    gather(world.workspace.pk)
    world.set(paused=True)
    world.set(paused=False)
    return card


def test_every_type_that_was_asked_for_is_documented_with_an_example():
    assert set(DOCUMENT["webhooks"]) >= MUST
    assert set(DOCUMENT["webhooks"]) == {kind.type for kind in KINDS}
    names = [one["post"]["operationId"] for one in DOCUMENT["webhooks"].values()]
    assert len(names) == len(set(names))


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.type)
def test_every_example_is_as_its_schema_says(kind):
    content = DOCUMENT["webhooks"][kind.type]["post"]["requestBody"]["content"]
    example = content["application/json"]["example"]
    assert not list(validator(kind.type).iter_errors(example))
    assert example["type"] == kind.type
    for name in kind.has:
        assert example["data"][name]


def test_what_is_told_is_as_the_schema_says(world):
    everything(world)
    messages = told(world)
    seen = {one["type"] for one in messages}
    assert seen >= MUST
    kinds = {kind.type: kind for kind in KINDS}
    for one in messages:
        errors = list(validator(one["type"]).iter_errors(one))
        assert not errors, errors[0].message
        for name in kinds[one["type"]].has:
            assert one["data"][name], (one["type"], name)


def test_nothing_else_needs_to_be_asked_for(world):
    card = everything(world)
    by_type = {one["type"]: one["data"] for one in told(world, card_id=card)}
    failed = by_type["card.lease.failed"]["lease"]
    assert (failed["reason"], failed["outcome"]) == ("No.", "dead_lettered")
    assert failed["ended_at"]
    released = by_type["card.lease.released"]["lease"]
    assert (released["outcome"], released["note"]) == ("requeued", "Not mine.")
    assert released["holder"]["kind"] == "agent"
    assert by_type["card.commented"]["comment"]["text"] == "Well."
    assert by_type["card.updated"]["details"] == {"changed": ["title"]}
    assert by_type["card.moved"]["to_column"]["name"] == "Needs attention"
    assert by_type["card.lease.revoked"]["actor"]["handle"] == world.owner.handle
    assert by_type["card.lease.expired"]["actor"] is None
    sequences = [one["data"]["sequence"] for one in told(world, card_id=card)]
    assert sequences == list(range(1, len(sequences) + 1))


@pytest.mark.parametrize(
    ("fields", "cut"),
    [
        ({"description": "x" * 19_000}, ["card.description"]),
        ({"description": "ä" * 60_000}, ["card.description"]),
        ({"payload": {"text": "x" * 30_000}}, ["card.payload"]),
        ({"properties": {"text": "x" * 30_000}}, ["card.properties"]),
        (
            {"payload": ["x" * 15_000], "properties": {"y": "y" * 14_000}},
            ["card.payload"],
        ),
        (
            {"payload": ["x" * 25_000], "properties": {"y": "y" * 24_000}},
            ["card.payload", "card.properties"],
        ),
        ({"description": "short", "payload": {"a": 1}}, []),
    ],
)
def test_a_body_is_small_and_says_what_was_cut(world, fields, cut):
    card = world.add("Big", **fields)
    (message,) = told(world, card_id=card)
    text = json.dumps(message, separators=(",", ":"), ensure_ascii=False)
    assert len(text.encode()) <= conf.MAX_BODY_BYTES
    assert message["data"]["cut"] == cut
    assert message["data"]["links"]["card"].endswith(f"/v1/cards/{card}")
    assert not list(validator("card.created").iter_errors(message))
    if "card.description" in cut:
        assert message["data"]["card"]["description"].endswith("…")
        assert len(message["data"]["card"]["description"]) == 501


def test_reasons_and_comments_are_cut_too(world):
    card = world.add(payload=["x" * 15_000])
    add_comment(world.owner, card_id=card, text="c" * 20_000)
    fail(world.worker, **receipt(world.claim()), reason="r" * 10_000)
    for message in told(world, card_id=card):
        assert len(json.dumps(message).encode()) <= conf.MAX_BODY_BYTES + 1000


@pytest.mark.parametrize(
    ("size", "cut"),
    [(15_000, ["card.output"]), (30_000, ["card.output", "details.result"])],
)
def test_the_end_of_a_task_says_how_it_ended_however_long_its_result(world, size, cut):
    card = world.add("Big")
    complete(world.worker, **receipt(world.claim()), output=["x" * size])
    gather(world.workspace.pk)
    (message,) = told(world, type="task.done")
    assert len(json.dumps(message, separators=(",", ":"))) <= conf.MAX_BODY_BYTES
    data = message["data"]
    assert data["details"]["status"] == "done"
    assert data["details"]["by"] == f"@{world.worker.handle}"
    assert data["details"]["correlation_id"] == data["card"]["id"] == str(card)
    assert data["cut"] == cut
    whole = "details.result" not in cut
    assert data["details"]["result"] == (["x" * size] if whole else None)


def test_a_cloudevent_is_the_same_in_another_form(world):
    world.add("Write")
    row = Event.objects.get(type="card.created")
    text = bodies(world.workspace.pk, [row])[row.pk]
    event = json.loads(as_cloudevent("msg_1", text))
    plain = json.loads(text)
    assert (event["type"], event["time"]) == (plain["type"], plain["timestamp"])
    assert event["data"] == plain["data"]
    assert event["specversion"] == "1.0"


def test_many_events_take_the_same_number_of_queries(
    world, django_assert_max_num_queries
):
    for _ in range(10):
        everything(world)
    rows = list(Event.objects.filter(workspace_id=world.workspace.pk))
    assert len(rows) > 150
    with django_assert_max_num_queries(10):
        bodies(world.workspace.pk, rows)


def test_the_test_event_is_documented_too():
    assert TEST in DOCUMENT["webhooks"]


def test_an_event_that_makes_no_sense_keeps_back_no_other(world, caplog, monkeypatch):
    world.add()
    world.claim()
    Event.objects.filter(type="card.created").update(
        data={"from_column_id": "x", "comment_id": 1, "lease": None}
    )

    def broken(*arguments):
        raise ValueError("no sense")

    monkeypatch.setattr(payloads, "_lease", broken)
    created, claimed = told(world, type__startswith="card.")
    assert created["data"]["card"]
    assert "told without its details" in caplog.text
    assert claimed["data"]["cut"] == ["card", "details", "lease"]
    assert claimed["data"]["sequence"] == 2
    for message in (created, claimed):
        assert not list(validator(message["type"]).iter_errors(message))
