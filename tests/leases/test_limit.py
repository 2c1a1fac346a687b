"""concurrency_limit: never exceeded, always reached, whichever way it changes."""

import pytest

from leases.models import Lease, Slot
from leases.verbs.complete import complete
from leases.verbs.give_back import fail, release
from leases.verbs.revoke import revoke
from tests.builders import lapse, receipt


def held_now(world):
    return Lease.objects.filter(column_id=world.queue, state="active").count()


def fill(world):
    got = []
    while (found := world.ask()).card:
        got.append(found)
    assert found.reason == "at_capacity"
    return got


def end(how, world, held):
    if how == "revoke":
        revoke(world.owner, lease_id=held.lease.id)
    elif how == "lapse":
        lapse(held)
    else:
        verb = {"complete": complete, "fail": fail, "release": release}[how]
        verb(world.worker, **receipt(held))


@pytest.mark.parametrize("limit", [1, 3, 7, 20])
def test_the_limit_is_reached_and_not_passed(world, limit):
    world.set(concurrency_limit=limit)
    world.add_many(limit + 5)
    assert len(fill(world)) == limit


def test_claims_are_spread_over_the_places(world):
    """So that no place gathers the versions of all: see the statement."""
    world.set(concurrency_limit=40)
    world.add_many(30)
    slots = set()
    for _ in range(30):
        held = world.claim()
        slots.add(Lease.objects.get(pk=held.lease.id).slot)
        complete(world.worker, **receipt(held))
    assert len(slots) > 5
    assert slots <= set(range(1, 41))


@pytest.mark.parametrize("how", ["complete", "fail", "release", "revoke", "lapse"])
def test_every_end_of_a_lease_frees_exactly_one_place(world, how):
    world.set(concurrency_limit=2)
    world.add_many(6)
    held = fill(world)
    end(how, world, held[0])
    assert len(fill(world)) == 1
    assert held_now(world) == 2
    assert Slot.objects.filter(column_id=world.queue, lease_id=None).count() == 0


def test_a_lower_limit_stops_new_claims_only(world):
    world.set(concurrency_limit=5)
    world.add_many(20)
    held = fill(world)
    world.set(concurrency_limit=2)
    assert held_now(world) == 5
    for number, one in enumerate(held, 1):
        end("complete", world, one)
        fill(world)
        assert held_now(world) == max(5 - number, 2)


@pytest.mark.parametrize("order", [(4, 3, 2, 1, 0), (0, 1, 2, 3, 4), (2, 0, 4, 1, 3)])
def test_a_lowered_limit_is_reached_again_whichever_leases_end_first(world, order):
    """The ones that are left may sit in any place, also above the new limit."""
    world.set(concurrency_limit=5)
    world.add_many(20)
    held = fill(world)
    world.set(concurrency_limit=2)
    for number, index in enumerate(order, 1):
        end("complete", world, held[index])
        new = fill(world)
        assert held_now(world) == max(5 - number, 2)
        for one in new:
            end("release", world, one)


def test_one_lease_left_above_the_limit_takes_one_place_and_no_more(world):
    world.set(concurrency_limit=5)
    world.add_many(20)
    for one in fill(world)[:4]:
        end("complete", world, one)
    world.set(concurrency_limit=3)
    assert len(fill(world)) == 2
    assert held_now(world) == 3


def test_a_raised_limit_is_reached(world):
    world.set(concurrency_limit=2)
    world.add_many(20)
    fill(world)
    world.set(concurrency_limit=6)
    assert len(fill(world)) == 4


def test_a_limit_that_comes_and_goes_counts_those_who_were_there(world):
    world.add_many(20)
    world.ask(count=4)
    world.set(concurrency_limit=5)
    assert len(fill(world)) == 1
    assert held_now(world) == 5
    world.set(concurrency_limit=None)
    assert len(world.ask(count=3).claims) == 3
    world.set(concurrency_limit=6)
    assert world.ask().reason == "at_capacity"
    assert held_now(world) == 8


def test_leases_from_before_the_limit_free_their_places(world):
    world.add_many(20)
    held = world.ask(count=4).claims
    world.set(concurrency_limit=3)
    assert world.ask().reason == "at_capacity"
    end("complete", world, held[0])
    assert world.ask().reason == "at_capacity"
    end("complete", world, held[3])
    assert len(fill(world)) == 1


def test_without_a_limit_nothing_is_full(world):
    world.add_many(60)
    assert len(world.ask(count=50).claims) == 50
    assert len(world.ask(count=10).claims) == 10
    assert world.ask().reason == "drained"
