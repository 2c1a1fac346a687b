"""What a round from claim to done costs a model beyond the card itself.

A model writes the arguments of a call and reads the text of its result; that is what is
counted, in bytes of JSON, less what the card's maker has put in. On the wire the
protocol adds its envelope and gives the same answer as `structuredContent` once more.
"""

import json

import pytest

from tests.doors.recipes import as_json

MAX_OVERHEAD_BYTES = 1024
CARD = {
    "title": "Write the release notes",
    "description": "From the changelog, for people. " * 40,
    "labels": ["docs", "release"],
    "properties": {"audience": "users", "words": 300},
    "payload": {"files": ["CHANGELOG.md"], "since": "2026-11-01"},
}
OUTPUT = {"text": "Done. " * 50}


def size(value) -> int:
    return len(json.dumps(as_json(value), separators=(",", ":")).encode())


def round_of(door, world, **more):
    """Bytes written and read from the claim to the end, and the two answers."""
    queue = {"board_id": world.board, "column_id": world.queue, **more}
    claim = door.call("claim_next_card", **queue)
    assert claim.value["card"]["title"] == CARD["title"]
    done = {
        "lease_id": claim.value["lease"]["id"],
        "lease_token": claim.value["lease_token"],
        "output": OUTPUT,
        **more,
    }
    ended = door.call("complete_lease", **done)
    assert ended.value["lease"]["state"] == "completed"
    total = (
        size(queue) + len(claim.text.encode()) + size(done) + len(ended.text.encode())
    )
    return total, claim.value, ended.value


def overhead(total: int) -> int:
    return total - size(CARD) - size(OUTPUT)


def test_a_round_costs_at_most_a_kilobyte_beyond_the_card(
    world, worker, record_property
):
    world.add(**CARD)
    slim = overhead(round_of(worker, world)[0])
    record_property("bytes", slim)
    assert slim <= MAX_OVERHEAD_BYTES, slim


def test_with_a_key_and_a_failed_attempt_before_too(world, worker):
    world.add(**CARD)
    world.fail_card(reason="The changelog was empty.")
    queue = {"board_id": world.board, "column_id": world.queue}
    claim = worker.call("claim_next_card", **queue, idempotency_key="a" * 36)
    (before,) = claim.value["card"]["previous_attempts"]
    assert before["reason"] == "The changelog was empty."


def test_a_task_by_the_name_of_its_queue_costs_no_more(world, worker):
    task = {
        "title": "Sum it up",
        "description": "Of a file. " * 90,
        "payload": {"n": 1},
    }
    made = worker.call("tasks.create", queue="drafting", **task)
    claim = worker.call("tasks.claim", queue="drafting")
    done = {"id": claim.value["task"]["id"], "result": OUTPUT}
    ended = worker.call("tasks.complete", **done)
    assert ended.value["task"]["state"] == "done"
    assert claim.value["task"]["description"] == task["description"]
    assert claim.value["task"]["payload"] == task["payload"]
    texts = claim.text + ended.text
    total = size({"queue": "drafting"}) + len(texts.encode()) + size(done)
    assert total - size(task) - size(OUTPUT) <= MAX_OVERHEAD_BYTES
    # Whoever makes one needn't read it again.
    assert "description" not in made.value["task"]
    read = worker.call("tasks.get", id=made.value["task"]["id"])
    assert read.value["task"]["description"] == task["description"]
    assert read.value["task"]["result"] == OUTPUT


def test_the_answer_to_a_change_holds_no_contents_and_reading_does(world, worker):
    card = world.add(**CARD)
    changed = worker.call("edit_card", card_id=card, priority=1).value
    assert changed["priority"] == 1
    assert not changed.keys() & {"description", "payload", "properties"}
    read = worker.call("get_card", card_id=card).value
    assert {name: read[name] for name in CARD} == CARD


def test_the_card_itself_comes_whole(world, worker):
    world.add(**CARD)
    _, claim, _ = round_of(worker, world)
    for name, value in CARD.items():
        assert claim["card"][name] == value


def test_verbose_gives_everything(world, worker):
    world.add(**CARD)
    world.add(**CARD)
    slim, few, _ = round_of(worker, world)
    verbose, many, _ = round_of(worker, world, verbose=True)
    assert verbose > slim + 1000
    assert many["card"].keys() > few["card"].keys()
    assert many["lease"].keys() > few["lease"].keys()
    assert many["card"]["archived_at"] is None


@pytest.mark.parametrize("value", [[], {}, "", 0, False, [None, {"a": None}], "text"])
def test_what_a_card_holds_comes_as_it_is_also_when_it_is_empty(world, worker, value):
    card = world.add(payload=value, properties={"empty": "", "none": None})
    world.add()
    shown = worker.call("get_card", card_id=card).value
    assert shown["payload"] == value
    assert shown["properties"] == {"empty": "", "none": None}
    queue = {"board_id": world.board, "column_id": world.queue}
    assert worker.call("claim_next_card", **queue).value["card"]["payload"] == value


def test_a_list_of_cards_holds_no_contents(world, worker):
    for _ in range(3):
        world.add(**CARD)
    slim = worker.call("list_cards", board_id=world.board)
    verbose = worker.call("list_cards", board_id=world.board, verbose=True)
    assert len(slim.text) * 4 < len(verbose.text)
    assert [card["title"] for card in slim.value["items"]] == [CARD["title"]] * 3
    assert "description" not in slim.value["items"][0]
