"""The rules of tests/invariants.py notice what they are there for."""

import pytest
from django.db.models import F

from boards.models import Card, Column, Event
from leases.models import Lease, Slot
from leases.verbs.complete import complete
from leases.verbs.give_back import fail, release
from leases.verbs.tidy import tidy
from tests.builders import lapse, receipt
from tests.invariants import _RULES, assert_sound, broken


@pytest.fixture
def lived_in(world):
    """With a lease of every kind and cards in every state."""
    world.set(concurrency_limit=9, max_attempts=2)
    world.add_many(8)
    complete(world.worker, **receipt(world.claim()))
    fail(world.worker, **receipt(world.claim()), requeue=False)
    release(world.worker, **receipt(world.claim()))
    lapse(world.claim())
    tidy(world.queue)
    world.ask(count=3)
    world.fail_card(retry_after_seconds=60)
    return world


def test_a_world_that_was_lived_in_is_sound(lived_in):
    assert_sound(lived_in.workspace.pk)


def _claimed():
    return Card.objects.filter(state="claimed")


def _open():
    return Card.objects.filter(state="open", available_at=None)


def _same_position():
    first = _open().first()
    Card.objects.filter(pk=_open().last().pk).update(position=first.position)


def _lease_twice_as_long():
    done = Lease.objects.filter(state="released").get()
    again = Lease.objects.filter(card=done.card).exclude(pk=done.pk).first()
    Lease.objects.filter(pk=again.pk).update(acquired_at=done.acquired_at)


BREAK = {
    "a claimed card and its active lease don't match": lambda: Lease.objects.filter(
        state="active"
    ).update(state="completed", ended_at=F("acquired_at")),
    "two leases of a card overlap": _lease_twice_as_long,
    "a slot and the lease in it don't match": lambda: Slot.objects.update(
        lease_id=None
    ),
    "a card is nowhere": lambda: Column.objects.update(archived_at=F("created_at")),
    "two cards have one place": _same_position,
    "a card's state doesn't fit its column": lambda: _open().update(state=""),
    "a column doesn't know its contract": lambda: Column.objects.update(is_queue=True),
    "a card waits that isn't open": lambda: _claimed().update(
        available_at=F("created_at")
    ),
    "the events of a card don't count up": lambda: (
        Event.objects.filter(sequence=2).first().delete()
    ),
    "a lease doesn't have its events": lambda: Event.objects.filter(
        type="card.lease.failed"
    ).update(type="card.lease.expired"),
    "a card was claimed while it was held": lambda: Event.objects.filter(
        type="card.lease.completed"
    ).update(type="card.lease.claimed"),
    "a card has more attempts than leases": lambda: _claimed().update(attempts=99),
    "an attempt isn't counted": lambda: _claimed().update(attempts=0),
}


def test_every_rule_is_broken_here():
    assert set(BREAK) == set(_RULES)


@pytest.mark.parametrize("rule", BREAK)
def test_a_broken_rule_is_noticed(lived_in, rule):
    BREAK[rule]()
    assert rule in {name for name, _ in broken(lived_in.workspace.pk)}
