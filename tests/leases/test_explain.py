"""Why nobody takes a card: the exact rule, or its place in line."""

from datetime import timedelta

import pytest

from accounts.errors import NotFound
from accounts.models import Actor
from accounts.verbs.agents import edit_agent
from boards.models import ClockTimestamp
from boards.verbs.cards import archive_card
from leases import asking
from leases.explaining import explain
from leases.models import Ask
from leases.verbs.cancel import request_cancel
from leases.verbs.claim_card import claim_card
from tests.builders import a_token, a_world, an_agent, card_row, lapse


def why(world, card):
    return explain(world.owner, card_id=card)


def codes(world, card):
    found = why(world, card)
    assert found.claimable is False
    assert found.place is None
    return [rule.code for rule in found.rules]


@pytest.fixture
def asked(world):
    """Somebody asks this queue."""
    asking.write(world.queue)
    return world


def test_next_in_line_and_behind_others(asked):
    cards = asked.add_many(3)
    first = asked.add(priority=1)
    assert (why(asked, first).place, why(asked, first).summary) == (
        1,
        "It's next in line.",
    )
    third = why(asked, cards[1])
    assert (third.claimable, third.place, third.rules) == (True, 3, [])
    assert third.summary == "2 cards are before it in line."


def test_no_worker_has_asked(world):
    card = world.add()
    assert why(world, card).last_asked_at is None
    assert why(world, card).summary == "No worker has asked this queue for ten minutes."
    asking.write(world.queue)
    assert why(world, card).summary == "It's next in line."
    Ask.objects.update(last_at=ClockTimestamp() - timedelta(minutes=11))
    assert why(world, card).summary == "No worker has asked this queue for ten minutes."
    assert why(world, card).last_asked_at


@pytest.mark.django_db(transaction=True)
def test_that_somebody_asks_is_written_twice_a_minute_at_most(world, monkeypatch):
    clock = [1000.0]
    monkeypatch.setattr(asking, "monotonic", lambda: clock[0])
    world.ask()
    first = asking.last_asked(world.queue)
    assert first
    world.ask()
    assert asking.last_asked(world.queue) == first
    clock[0] += asking.EVERY_SECONDS
    world.ask()
    assert asking.last_asked(world.queue) > first


def test_held_and_until_when(world):
    card = world.add()
    held = world.claim()
    (rule,) = why(world, card).rules
    assert (rule.code, rule.until) == ("held", held.lease.expires_at)
    assert rule.by.handle == world.worker.handle
    assert codes(world, card) == ["held"]
    lapse(held)
    found = why(world, card)
    assert (found.claimable, [rule.code for rule in found.rules]) == (True, ["lapsed"])
    assert why(world, card).summary.startswith(f"@{world.worker.handle} let the lease")


def test_what_a_person_started_has_no_limit(world):
    card = world.add()
    claim_card(world.owner, card_id=card)
    assert why(world, card).summary == (
        f"@{world.owner.handle} is working on it, without a time limit."
    )


def test_waiting_until(world):
    at = card_row(world.add()).created_at + timedelta(days=1)
    card = world.add(not_before=at)
    (rule,) = why(world, card).rules
    assert (rule.code, rule.until) == ("waiting", at)


def test_paused_and_at_capacity(world):
    world.set(concurrency_limit=1)
    world.add()
    world.claim()
    card = world.add()
    assert codes(world, card) == ["at_capacity"]
    world.set(paused=True)
    assert codes(world, card) == ["paused", "at_capacity"]


def test_what_does_not_fit_is_told_before_anybody_has_judged_it(world):
    world.set(input_schema={"properties": {"payload": {"type": "string"}}})
    card = world.add(payload=1)
    assert card_row(card).fits is None
    (rule,) = why(world, card).rules
    assert (rule.code, rule.problems[0]["pointer"]) == ("misfit", "/payload")
    assert card_row(card).fits is None
    world.ask()
    assert codes(world, card) == ["misfit"]
    assert why(world, world.add(payload="x")).claimable


def test_kept_for_somebody(asked):
    card = asked.add(assignee=asked.worker.handle)
    found = why(asked, card)
    assert (found.claimable, found.place) == (True, 1)
    assert [rule.code for rule in found.rules] == ["assigned"]
    assert found.summary == f"It's kept for @{asked.worker.handle}. It's next in line."


def test_skills_that_nobody_has(asked):
    card = asked.add(skills=["seo", "german"])
    found = why(asked, card)
    assert not found.claimable
    assert found.summary == (
        "Only for agents with: german, seo. No agent here has them all."
    )
    edit_agent(asked.owner, agent_id=asked.worker.actor_id, skills=["seo"])
    assert not why(asked, card).claimable
    a_token(Actor.objects.get(pk=asked.worker.actor_id), skills=["german"])
    found = why(asked, card)
    assert (found.claimable, [rule.code for rule in found.rules]) == (True, ["skills"])


def test_no_queue_ended_cancelled_put_away(world):
    plain = world.add(column=world.column("Ideas"))
    world.add()
    dead = world.fail_card(requeue=False)
    off, away = world.add(), world.add()
    request_cancel(world.owner, card_id=off)
    archive_card(world.owner, card_id=away)
    assert codes(world, plain) == ["not_a_queue"]
    assert codes(world, dead) == ["ended"]
    assert codes(world, off) == ["ended"]
    assert codes(world, away) == ["archived"]
    assert "cancelled" in why(world, off).summary


def test_only_who_sees_the_card_may_ask(world):
    with pytest.raises(NotFound):
        explain(a_world().owner, card_id=world.add())


def test_it_costs_a_handful_of_queries(world, django_assert_max_num_queries):
    world.set(concurrency_limit=3, input_schema={"type": "object"})
    world.add_many(20)
    card = world.add(skills=["x"], assignee=an_agent(world.workspace).handle)
    with django_assert_max_num_queries(9):
        why(world, card)
