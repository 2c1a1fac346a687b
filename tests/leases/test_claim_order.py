"""What comes next: claim order is shown order, for anyone and for the one assigned."""

from datetime import timedelta

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from boards.models import Card
from boards.verbs.cards import edit_card
from boards.verbs.moving import move_card
from boards.verbs.places import Place
from leases.verbs.give_back import release
from tests.builders import a_world, an_agent, make_due, receipt


def test_priority_comes_before_position_and_position_before_age(world):
    low, normal, urgent = (world.add(priority=p) for p in (5, 3, 1))
    first = world.add()
    move_card(world.owner, card_id=first, place=Place(before=normal))
    assert world.shown() == [urgent, first, normal, low]
    assert world.claim_all() == [urgent, first, normal, low]


def test_cards_of_mine_come_at_their_place_among_the_others(world):
    mine = {"assignee": world.worker.handle}
    cards = [
        world.add(),
        world.add(**mine),
        world.add(),
        world.add(**mine, priority=1),
        world.add(priority=1),
        world.add(**mine, priority=5),
    ]
    expected = [cards[i] for i in (3, 4, 0, 1, 2, 5)]
    assert world.shown() == expected
    assert world.claim_all() == expected


def test_what_is_kept_for_another_is_passed_over(world):
    colleague = an_agent(world.workspace)
    theirs = world.add(assignee=colleague.handle, priority=1)
    anyones = world.add()
    assert world.claim().card.id == anyones
    assert world.claim(colleague).card.id == theirs


def test_a_card_keeps_its_place_through_waiting_and_release(world):
    first, second, third = world.add(), world.add(), world.add()
    world.fail_card(retry_after_seconds=60)
    assert world.claim().card.id == second
    make_due(first)
    released = world.claim()
    assert released.card.id == first
    release(world.worker, **receipt(released))
    assert world.claim_all() == [first, third]


def test_many_in_one_call_come_in_the_same_order(world):
    for priority in (3, 1, 5, 2, 4, 1):
        world.add(priority=priority)
    expected = world.shown()
    got = world.ask(count=4).claims + world.ask(count=4).claims
    assert [one.card.id for one in got] == expected


def test_many_in_one_call_keep_the_order_with_cards_of_mine_among_them(world):
    for number in range(8):
        mine = number % 3 == 0
        world.add(
            priority=1 + number % 2, assignee=world.worker.handle if mine else None
        )
    expected = world.shown()
    assert [one.card.id for one in world.ask(count=8).claims] == expected


def test_a_card_that_got_more_urgent_comes_first(world):
    world.add()
    late = world.add()
    edit_card(world.owner, card_id=late, priority=1)
    assert world.claim().card.id == late


_CARDS = st.lists(
    st.tuples(
        st.integers(1, 5),
        st.sampled_from(["anyone", "mine", "theirs"]),
        st.sampled_from(["ready", "ready", "waiting", "due"]),
    ),
    min_size=1,
    max_size=12,
)


@pytest.mark.django_db
@settings(
    max_examples=40,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(cards=_CARDS, count=st.sampled_from([None, 1, 3, 12]))
def test_the_board_shows_the_cards_in_the_order_in_which_they_are_claimed(cards, count):
    world = a_world()
    handles = {
        "anyone": None,
        "mine": world.worker.handle,
        "theirs": an_agent(world.workspace).handle,
    }
    offered = []
    for priority, whose, when in cards:
        card = world.add(priority=priority, assignee=handles[whose])
        if when == "waiting":
            hour = Card.objects.get(pk=card).created_at + timedelta(hours=1)
            edit_card(world.owner, card_id=card, not_before=hour)
        if when == "due":
            make_due(card)
        if whose != "theirs" and when != "waiting":
            offered.append(card)
    expected = [card for card in world.shown() if card in offered]
    if count is None:
        assert world.claim_all() == expected
        return
    got = []
    while found := world.ask(count=count).claims:
        got += [one.card.id for one in found]
    assert got == expected
