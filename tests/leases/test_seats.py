"""The limit of a seat: so many cards at once, over all its workers."""

from dataclasses import replace

import pytest

from leases.errors import SeatAtCapacity
from leases.models import Lease
from leases.verbs.claim_card import claim_card
from leases.verbs.complete import complete
from tests.builders import an_agent, lapse, receipt
from tests.connections import together


@pytest.fixture
def limited(world):
    """A worker whose seat may hold two cards."""
    return replace(world.worker, max_leases=2)


def test_a_seat_holds_no_more_than_it_may_and_hears_what(world, limited):
    world.add_many(4)
    held = [world.claim(limited) for _ in range(2)]
    with pytest.raises(SeatAtCapacity) as error:
        world.ask(limited)
    named = error.value.facts["held"]
    assert [one["lease_id"] for one in named] == [one.lease.id for one in held]
    assert [one["card"].id for one in named] == [one.card.id for one in held]
    with pytest.raises(SeatAtCapacity):
        claim_card(limited, card_id=world.add())
    complete(limited, **receipt(held[0]))
    assert world.ask(limited).card


def test_of_many_it_gets_as_many_as_there_is_room_for(world, limited):
    world.add_many(5)
    assert len(world.ask(limited, count=5).claims) == 2


def test_what_has_run_out_does_not_count(world, limited):
    world.add_many(4)
    for held in [world.claim(limited) for _ in range(2)]:
        lapse(held)
    assert len(world.ask(limited, count=5).claims) == 2


def test_other_seats_and_seats_without_a_limit_are_free(world, limited):
    world.add_many(6)
    world.ask(limited, count=2)
    assert world.ask(an_agent(world.workspace)).card
    assert len(world.ask(count=3).claims) == 3


@pytest.mark.django_db(transaction=True)
def test_many_workers_of_a_seat_at_once_stay_within_it(world, limited):
    cards = world.add_many(8)

    def by_card(card):
        return claim_card(limited, card_id=card)

    calls = [lambda: world.ask(limited)] * 4
    calls += [lambda card=card: by_card(card) for card in cards[4:]]
    for _ in range(3):
        answers = together(*calls)
        kinds = [type(one) for one in answers]
        assert kinds.count(SeatAtCapacity) == len(calls) - 2, answers
        rows = Lease.objects.filter(state="active", holder_id=limited.actor_id)
        assert rows.count() == 2
        for one in answers:
            if not isinstance(one, SeatAtCapacity):
                complete(limited, lease_id=one.lease.id, lease_token=one.lease_token)
        calls = [lambda: world.ask(limited)] * 4
        world.add_many(8)


def test_a_completion_counts_also_when_there_is_no_room_for_the_next(world, limited):
    world.add_many(4)
    held = world.ask(limited, count=2).claims
    fewer = replace(limited, max_leases=1)
    ended = complete(fewer, **receipt(held[0]), claim_next=True)
    assert ended.lease.state == "completed"
    assert (ended.next.card, ended.next.reason) == (None, "at_capacity")
