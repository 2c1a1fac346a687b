"""Cards that don't fit the input schema: skipped, flagged, in nobody's way."""

from boards.models import Card
from boards.verbs.cards import edit_card
from leases.models import Contract
from leases.verbs.give_back import release
from leases.verbs.judge import BATCH, judge
from tests.builders import card_row, receipt

NEEDS_TOPIC = {
    "properties": {
        "payload": {
            "type": "object",
            "required": ["topic"],
            "properties": {"topic": {"type": "string"}},
        }
    }
}


def test_a_card_that_does_not_fit_is_skipped_and_flagged_with_the_reason(world):
    world.set(input_schema=NEEDS_TOPIC)
    bad = world.add(payload={"topic": 7}, priority=1)
    good = world.add(payload={"topic": "bees"})
    assert world.claim().card.id == good
    row = card_row(bad)
    assert (row.state, row.fits, row.attempts) == ("open", False, 0)
    (problem,) = row.misfit
    assert (problem["pointer"], problem["code"]) == ("/payload/topic", "type")
    assert "string" in problem["detail"]
    assert world.ask().reason == "drained"


def test_the_schema_sees_the_card_as_an_agent_receives_it(world):
    parts = ["title", "description", "priority", "labels", "properties", "payload"]
    world.set(
        input_schema={
            "additionalProperties": False,
            "required": parts,
            "properties": {
                **dict.fromkeys(parts, True),
                "title": {"const": "Write"},
                "priority": {"const": 2},
                "labels": {"contains": {"const": "blog"}},
            },
        }
    )
    fits = world.add("Write", priority=2, labels=["blog", "x"])
    world.add("Write", priority=3, labels=["blog"])
    world.add("write", priority=2, labels=["blog"])
    assert world.claim_all() == [fits]


def test_a_misfit_is_judged_once_until_it_changes(world):
    world.set(input_schema=NEEDS_TOPIC)
    card = world.add()
    world.ask()
    assert judge(world.queue) == 0
    edit_card(world.owner, card_id=card, title="Other", payload={})
    assert card_row(card).fits is None
    world.ask()
    assert card_row(card).fits is False
    edit_card(world.owner, card_id=card, payload={"topic": "bees"})
    assert world.claim().card.id == card
    assert card_row(card).misfit is None


def test_a_new_schema_has_every_card_judged_again(world):
    card = world.add(payload={"topic": 1})
    world.set(input_schema=NEEDS_TOPIC)
    assert world.ask().card is None
    world.set(input_schema={"properties": {"payload": {"type": "object"}}})
    assert world.claim().card.id == card


def test_without_the_schema_everything_fits(world):
    world.set(input_schema=NEEDS_TOPIC)
    card = world.add()
    assert world.ask().card is None
    world.set(input_schema=None)
    assert card_row(card).misfit is None
    assert world.claim().card.id == card


def test_more_misfits_than_a_batch_never_hide_what_is_behind_them(world):
    world.set(input_schema=NEEDS_TOPIC)
    for _ in range(2 * BATCH // 50 + 1):
        world.add_many(50)
    good = world.add(payload={"topic": "bees"})
    assert world.claim().card.id == good
    assert Card.objects.filter(column_id=world.queue, fits=False).count() == 450


def test_what_could_not_be_judged_in_time_is_not_called_drained(world, monkeypatch):
    monkeypatch.setattr("leases.verbs.claim.PASS_SECONDS", 0)
    world.set(input_schema=NEEDS_TOPIC)
    for _ in range(BATCH // 50 + 1):
        world.add_many(50)
    found = world.ask()
    assert (found.card, found.reason) == (None, "waiting")
    assert world.ask().reason == "drained"


def test_a_judgement_by_a_schema_that_was_replaced_meanwhile_does_not_count(
    world, monkeypatch
):
    world.set(input_schema=NEEDS_TOPIC)
    card = world.add()

    def replaced_meanwhile(schema, instance):
        Contract.objects.filter(pk=world.queue).update(version=99)
        return []

    monkeypatch.setattr("leases.schemas.problems", replaced_meanwhile)
    judge(world.queue)
    assert card_row(card).fits is None


def test_a_judgement_of_a_card_that_was_edited_meanwhile_does_not_count(
    world, monkeypatch
):
    world.set(input_schema=NEEDS_TOPIC)
    card = world.add()

    def edited_meanwhile(schema, instance):
        edit_card(world.owner, card_id=card, payload={"topic": 1})
        return []

    monkeypatch.setattr("leases.schemas.problems", edited_meanwhile)
    judge(world.queue)
    assert card_row(card).fits is None


def test_a_pass_without_time_left_leaves_the_rest_unjudged_instead_of_too_slow(
    world, monkeypatch
):
    world.set(input_schema=NEEDS_TOPIC)
    first, second = (world.add(payload={"topic": "bees"}) for _ in range(2))
    monkeypatch.setattr("leases.verbs.judge.PASS_SECONDS", 0)
    assert judge(world.queue) == 1
    assert (card_row(first).fits, card_row(second).fits) == (True, None)
    assert judge(world.queue) == 1
    assert card_row(second).fits is True


def test_judging_is_silent(world):
    world.set(input_schema=NEEDS_TOPIC)
    card = world.add()
    before = card_row(card)
    judge(world.queue)
    after = card_row(card)
    assert (after.version, after.sequence, after.updated_at) == (
        before.version,
        before.sequence,
        before.updated_at,
    )


def test_an_edit_of_a_leased_card_takes_effect_when_it_comes_back(world):
    world.set(input_schema=NEEDS_TOPIC, lease_ttl_seconds=60)
    card = world.add(payload={"topic": "bees"})
    held = world.claim()
    edit_card(world.owner, card_id=card, payload={})
    assert card_row(card).lease_id == held.lease.id
    release(world.worker, **receipt(held))
    assert world.ask().card is None
    assert card_row(card).fits is False
