"""Old events go, strays come back."""

from datetime import timedelta

import pytest

from accounts.moments import first_id_ago
from boards.models import Board, Card, ClockTimestamp, Column, Event
from boards.verbs import housekeeping
from boards.verbs.housekeeping import forget_events, rescue_strays
from tests.builders import a_world, card_row, event_types

SOON, LATE = timedelta(minutes=-1), timedelta(minutes=1)


def make_older(event, by: timedelta) -> None:
    """As if it had been written that long ago: its id says when."""
    id = first_id_ago(by).int | event.pk.int & (1 << 80) - 1
    Event.objects.filter(pk=event.pk).update(id=type(event.pk)(int=id))


def titles(column):
    return list(
        Card.objects.filter(column_id=column).in_order().values_list("title", flat=True)
    )


def lose(column) -> None:
    """As after a deletion that a completion has just missed."""
    Column.objects.filter(pk=column).update(archived_at=ClockTimestamp())


def test_events_are_forgotten_when_they_are_too_old_and_not_before(world):
    cards = world.add_many(4)
    ages = (
        timedelta(days=91),
        90 * timedelta(days=1) + LATE,
        90 * timedelta(days=1) + SOON,
    )
    events = [Event.objects.get(card_id=card) for card in cards]
    for event, age in zip(events, ages, strict=False):
        make_older(event, age)
    others = Event.objects.exclude(card_id__in=cards).count()
    assert forget_events(90) == 2
    left = Event.objects.filter(card_id__in=cards).values_list("card_id", flat=True)
    assert set(left) == set(cards[2:])
    assert Event.objects.exclude(card_id__in=cards).count() == others
    assert forget_events(90) == 0


def test_many_events_are_forgotten_in_bounded_batches(world, monkeypatch):
    monkeypatch.setattr(housekeeping, "BATCH", 3)
    monkeypatch.setattr(housekeeping, "MAX_BATCHES", 2)
    for card in world.add_many(8):
        make_older(Event.objects.get(card_id=card), timedelta(days=100))
    assert [forget_events(90), forget_events(90), forget_events(90)] == [6, 2, 0]


def test_without_a_retention_every_event_stays(world):
    make_older(Event.objects.get(card_id=world.add()), timedelta(days=10_000))
    assert forget_events(0) == 0


def test_strays_come_to_the_first_column_in_their_order(world):
    first = world.column("First")
    Column.objects.filter(pk=first).update(position=-1)
    for title, priority in (("c", 3), ("a", 1), ("b", 3)):
        world.add(title, priority=priority, column=world.done)
    world.add("there before", column=first)
    lose(world.done)
    assert rescue_strays() == 3
    assert titles(first) == ["a", "there before", "c", "b"]
    assert titles(world.done) == []
    assert rescue_strays() == 0


def test_a_rescue_is_told_like_any_move(world):
    card = world.add(column=world.done)
    version = card_row(card).version
    lose(world.done)
    rescue_strays()
    assert event_types(card) == ["card.created", "card.moved"]
    event = Event.objects.get(card_id=card, sequence=2)
    assert event.actor_id is None
    assert event.data == {
        "from_column_id": str(world.done),
        "to_column_id": str(world.queue),
    }
    assert card_row(card).version == version + 1


def test_a_stray_that_comes_into_a_queue_is_open_there(world):
    card = world.add(column=world.done)
    lose(world.done)
    rescue_strays()
    assert (card_row(card).column_id, card_row(card).state) == (world.queue, "open")
    assert world.claim().card.id == card


@pytest.mark.parametrize("is_held", [True, False])
def test_held_and_archived_cards_are_left_alone(world, is_held):
    card = world.add()
    if is_held:
        world.claim()
    else:
        Card.objects.filter(pk=card).update(archived_at=ClockTimestamp())
    lose(world.queue)
    assert rescue_strays() == 0
    assert card_row(card).column_id == world.queue


def test_each_board_takes_its_own_strays(world):
    worlds = [world, a_world()]
    cards = [one.add(column=one.done) for one in worlds]
    for one in worlds:
        lose(one.done)
    assert rescue_strays() == 2
    assert [card_row(card).board_id for card in cards] == [one.board for one in worlds]


def test_a_board_without_any_column_keeps_its_cards_where_they_are(world):
    card = world.add(column=world.done)
    Column.objects.filter(board_id=world.board).update(archived_at=ClockTimestamp())
    assert rescue_strays() == 0
    assert card_row(card).column_id == world.done
    assert Board.objects.filter(pk=world.board).exists()
