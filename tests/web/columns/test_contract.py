"""The contract editor: read, saved, refused at the right field, tried on cards."""

import json

import pytest

from accounts.roles import WorkspaceRole
from leases import trial
from leases.reads import contract
from leases.verbs.complete import complete
from tests.builders import a_person, card_row, receipt
from tests.web.cards.conftest import signed_in
from tests.web.columns.conftest import url

PART = {"HX-Request": "true"}
NEEDS_FILE = {
    "properties": {"payload": {"type": "object", "required": ["file"]}},
    "required": ["payload"],
}


def kept(world):
    return contract(world.owner, board_id=world.board, column_id=world.queue)


def fields(world, **changes):
    """As the page shows them, with what somebody has typed."""
    return {
        "version": kept(world).version,
        "enabled": "1",
        "queue": "drafting",
        "lease_ttl_seconds": "5m",
        "max_attempts": "5",
        "backoff_seconds": "",
        "on_success_column_id": str(world.done),
        "on_failure_column_id": str(world.failed),
        "concurrency_limit": "",
        "input_schema": "",
        "output_schema": "",
        **changes,
    }


def test_the_whole_contract_is_saved_as_typed(world, person):
    typed = fields(
        world,
        queue="reports",
        lease_ttl_seconds="1h 30m",
        max_attempts="3",
        backoff_seconds="30, 2m,1h",
        on_failure_column_id="",
        concurrency_limit="4",
        input_schema=json.dumps(NEEDS_FILE),
    )
    assert person.post(url(world, "/contract"), typed).status_code == 302
    found = kept(world)
    assert (found.enabled, found.queue) == (True, "reports")
    assert (found.lease_ttl_seconds, found.max_attempts) == (5400, 3)
    assert found.backoff_seconds == [30, 120, 3600]
    assert found.on_success_column_id == world.done
    assert found.on_failure_column_id is None
    assert found.concurrency_limit == 4
    assert found.input_schema == NEEDS_FILE


def test_what_the_page_shows_saves_as_the_same_contract(world, person):
    world.set(backoff_seconds=[0, 90, 3600], input_schema=NEEDS_FILE)
    page = person.get(url(world, "/contract")).content.decode()
    assert 'value="0s, 1m 30s, 1h"' in page
    before = kept(world)
    typed = fields(
        world,
        queue=before.queue,
        backoff_seconds="0s, 1m 30s, 1h",
        input_schema=json.dumps(NEEDS_FILE, indent=2),
    )
    person.post(url(world, "/contract"), typed)
    after = kept(world)
    assert after.version == before.version + 1
    for name in before.__struct_fields__:
        if name != "version":
            assert getattr(after, name) == getattr(before, name)


def test_a_lease_that_never_lapses(world, person):
    person.post(url(world, "/contract"), fields(world, never_lapses="1"))
    assert kept(world).lease_ttl_seconds is None


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("queue", "No Spaces!", "small letters"),
        ("lease_ttl_seconds", "soon", "no length of time"),
        ("lease_ttl_seconds", "30d", "1 to 86400"),
        ("max_attempts", "0", "1 to 1000"),
        ("max_attempts", "many", "whole number"),
        ("backoff_seconds", "2m, 30s", "never waits shorter"),
        ("backoff_seconds", "1, x", "no length of time"),
        ("concurrency_limit", "0", "1 to 10000"),
        ("input_schema", '{"type": "objekt"}', "/type"),
        ("input_schema", '{"a": 1,}', "line 1 column"),
        ("output_schema", '{"$ref": "https://example.org/x"}', "/$ref"),
        (
            "on_success_column_id",
            "01a00000-0000-7000-8000-000000000000",
            "no such column",
        ),
    ],
)
def test_what_does_not_fit_is_said_and_stays_typed(world, person, name, text, said):
    before = kept(world)
    answer = person.post(url(world, "/contract"), fields(world, **{name: text}))
    page = answer.content.decode()
    assert answer.status_code == 422
    assert said in page
    if not name.startswith("on_"):
        assert text.replace('"', "&quot;") in page
    assert kept(world) == before


def test_a_contract_changed_meanwhile_is_not_overwritten_in_silence(world, person):
    typed = fields(world, max_attempts="9")
    world.set(max_attempts=2)
    answer = person.post(url(world, "/contract"), typed)
    assert answer.status_code == 409
    assert 'value="9"' in answer.content.decode()
    assert kept(world).max_attempts == 2
    person.post(url(world, "/contract"), fields(world, max_attempts="9"))
    assert kept(world).max_attempts == 9


def test_switching_off_while_cards_are_held_asks_first_and_names_the_holder(
    world, person
):
    card = world.add()
    world.claim()
    typed = fields(world, enabled="")
    answer = person.post(url(world, "/contract"), typed)
    assert answer.status_code == 409
    assert f"@{world.worker.handle}" in answer.content.decode()
    assert kept(world).enabled
    person.post(url(world, "/contract"), {**typed, "force": "1"})
    assert not kept(world).enabled
    assert card_row(card).state == ""


def test_pause_and_resume_change_nothing_else(world, person):
    world.set(backoff_seconds=[5], input_schema={"type": "object"})
    before = kept(world)
    person.post(url(world, "/pause"), {"reason": "Prices are wrong"})
    assert (kept(world).paused, kept(world).pause_reason) == (True, "Prices are wrong")
    assert "Prices are wrong" in person.get(url(world, "/contract")).content.decode()
    # Saving the form doesn't resume.
    person.post(url(world, "/contract"), fields(world, queue=before.queue))
    assert kept(world).paused
    person.post(url(world, "/resume"))
    assert not kept(world).paused
    assert kept(world).queue == before.queue


def test_the_schema_is_tried_on_the_cards_and_nothing_is_written(world, person):
    good = world.add("Good", payload={"file": "q3.csv"})
    bad = world.add("Bad <b>", payload={})
    before = kept(world), card_row(bad).version
    typed = fields(world, input_schema=json.dumps(NEEDS_FILE))
    typed["try"] = "input_schema"
    part = person.post(url(world, "/contract/try"), typed, headers=PART)
    text = part.content.decode()
    assert "1 of 2 would not fit" in text
    assert f"/cards/{bad}" in text
    assert f"/cards/{good}" not in text
    assert "/payload" in text
    assert "<b>" not in text
    page = person.post(url(world, "/contract/try"), typed).content.decode()
    assert "1 of 2 would not fit" in page
    assert "&quot;required&quot;" in page
    assert (kept(world), card_row(bad).version) == before


def test_a_schema_that_will_not_do_is_said_when_tried(world, person):
    for text, said in (('{"type": 5}', "/type"), ("{", "Not JSON")):
        typed = fields(world, input_schema=text) | {"try": "input_schema"}
        part = person.post(url(world, "/contract/try"), typed, headers=PART)
        assert said in part.content.decode()


def test_a_trial_ends_after_500_cards_or_when_its_time_is_over(world, monkeypatch):
    world.add_many(3)
    where = {"board_id": world.board, "column_id": world.queue}
    monkeypatch.setattr(trial, "MAX_TRIED", 2)
    found = trial.try_input(world.owner, schema=False, **where)
    assert (found.total, found.tried, found.misfits) == (3, 2, 2)
    monkeypatch.setattr(trial, "MAX_MISFITS_SHOWN", 1)
    found = trial.try_input(world.owner, schema=False, **where)
    assert (len(found.shown), found.hidden) == (1, 1)
    monkeypatch.setattr(trial, "TRIAL_SECONDS", 0.0)
    found = trial.try_input(world.owner, schema=False, **where)
    assert (found.total, found.tried) == (3, 0)


def test_the_output_schema_is_tried_on_past_results(world, person):
    world.add_many(2)
    for output in ({"url": "x"}, {}):
        complete(world.worker, **receipt(world.claim()), output=output)
    typed = fields(world, output_schema='{"required": ["url"]}')
    typed["try"] = "output_schema"
    part = person.post(url(world, "/contract/try"), typed, headers=PART)
    assert "1 of 2 would not fit" in part.content.decode()


def test_the_picture_follows_what_is_typed(world, person):
    typed = fields(world, backoff_seconds="30s, 2m", max_attempts="12")
    part = person.post(url(world, "/contract/backoff"), typed, headers=PART)
    text = part.content.decode()
    assert ">30s<" in text
    assert "20m 30s" in text
    wrong = fields(world, backoff_seconds="later")
    part = person.post(url(world, "/contract/backoff"), wrong, headers=PART)
    assert "no length of time" in part.content.decode()


def test_who_may_not_set_it_may_read_it(world):
    reader = signed_in(a_person(world.workspace, WorkspaceRole.MEMBER))
    page = reader.get(url(world, "/contract")).content.decode()
    assert "<fieldset disabled>" in page
    answer = reader.post(
        url(world, "/contract"), fields(world, max_attempts="9"), headers=PART
    )
    assert answer.status_code == 403
    assert kept(world).max_attempts == 5
