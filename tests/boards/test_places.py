"""Cards among their neighbours: before, after, top, bottom; no ties, no end."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from accounts.errors import Invalid
from boards.models import Card
from boards.ordering import GAP
from boards.verbs.cards import NewCard, archive_card, create_card
from boards.verbs.moving import move_card
from boards.verbs.places import Place
from tests.builders import a_world


def move(world, card, **place):
    return move_card(world.owner, card_id=card, place=Place(**place))


def assert_no_ties(world):
    rows = Card.objects.filter(column_id=world.queue, archived_at=None)
    positions = list(rows.values_list("position", flat=True))
    assert len(set(positions)) == len(positions)


def test_a_card_goes_where_it_is_put(world):
    a, b, c, d = world.add_many(4)
    move(world, d, before=b)
    assert world.shown() == [a, d, b, c]
    move(world, a, after=c)
    assert world.shown() == [d, b, c, a]
    move(world, c, end="top")
    assert world.shown() == [c, d, b, a]
    move(world, d, end="bottom")
    assert world.shown() == [c, b, a, d]
    move(world, b, before=c)
    assert world.shown() == [b, c, a, d]
    move(world, b, after=d)
    assert world.shown() == [c, a, d, b]


def test_a_new_card_can_be_put_at_a_place_too(world):
    a, b = world.add_many(2)
    card = create_card(
        world.owner,
        board_id=world.board,
        column_id=world.queue,
        card=NewCard(title="New"),
        place=Place(before=b),
    )
    assert world.shown() == [a, card, b]


def test_a_neighbour_that_is_not_there_is_refused(world):
    card = world.add()
    elsewhere = world.add(column=world.done)
    archived = world.add()
    archive_card(world.owner, card_id=archived)
    for anchor in (elsewhere, archived, card):
        with pytest.raises(Invalid) as refused:
            move(world, card, before=anchor)
        assert refused.value.errors[0].pointer == "/before"


def test_one_place_at_a_time_can_be_said(world):
    (card,) = world.add_many(1)
    assert Place.of(None, None, None) is None
    assert Place.of(card, None, None) == Place(before=card)
    with pytest.raises(Invalid):
        Place.of(card, None, "top")


def test_sixty_inserts_into_one_gap(world):
    """Case 31: floats tie after 52 halvings."""
    first, last = world.add_many(2)
    put = []
    for _ in range(60):
        card = world.add()
        move(world, card, before=last)
        put.append(card)
    assert world.shown() == [first, *put, last]
    assert_no_ties(world)


def test_sixty_inserts_behind_one_card(world):
    first, last = world.add_many(2)
    put = []
    for _ in range(60):
        card = world.add()
        move(world, card, after=first)
        put.append(card)
    assert world.shown() == [first, *reversed(put), last]
    assert_no_ties(world)


def test_two_hundred_moves_to_the_top(world):
    cards = world.add_many(5)
    expected = list(cards)
    for number in range(200):
        card = cards[number % 5]
        move(world, card, end="top")
        expected.remove(card)
        expected.insert(0, card)
    assert world.shown() == expected
    assert_no_ties(world)


def test_a_gap_stays_usable_when_its_neighbours_have_gone(world):
    """Two cards next to each other in a column of two: there is no wider window."""
    first, last = world.add_many(2)
    squeezed = []
    for _ in range(24):
        squeezed.append(world.add())
        move(world, squeezed[-1], before=last)
    for card in [first, *squeezed[:-1]]:
        archive_card(world.owner, card_id=card)
    near, expected = squeezed[-1], [squeezed[-1], last]
    assert world.shown() == expected
    for _ in range(30):
        card = world.add()
        move(world, card, after=near)
        expected.insert(1, card)
    assert world.shown() == expected
    assert_no_ties(world)


@pytest.mark.parametrize("count", [2, 3, 5])
def test_positions_without_any_room_between_them_are_spread(world, count):
    cards = world.add_many(count)
    for offset, card in enumerate(cards):
        Card.objects.filter(pk=card).update(position=GAP + offset)
    new = world.add()
    move(world, new, before=cards[-1])
    assert world.shown() == [*cards[:-1], new, cards[-1]]
    assert_no_ties(world)


def test_spreading_goes_on_beyond_its_first_window(world):
    cards = world.add_many(200)
    for offset, card in enumerate(cards):
        Card.objects.filter(pk=card).update(position=GAP + offset)
    new = world.add()
    move(world, new, after=cards[100])
    assert world.shown() == [*cards[:101], new, *cards[101:]]
    assert_no_ties(world)


_MOVES = st.lists(
    st.tuples(
        st.integers(0, 5),
        st.sampled_from(["before", "after", "top", "bottom", "new", "archive"]),
        st.integers(0, 5),
    ),
    max_size=40,
)


@pytest.mark.django_db
@settings(
    max_examples=25,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(moves=_MOVES, squeezed=st.booleans())
def test_any_row_of_moves_ends_in_the_order_that_was_meant(moves, squeezed):
    world = a_world()
    expected = world.add_many(3)
    if squeezed:
        for offset, card in enumerate(expected):
            Card.objects.filter(pk=card).update(position=GAP + offset)
    for which, how, where in moves:
        if how == "new" or len(expected) < 2:
            expected.append(world.add())
            continue
        card = expected[which % len(expected)]
        if how == "archive":
            archive_card(world.owner, card_id=card)
            expected.remove(card)
            continue
        expected.remove(card)
        anchor = expected[where % len(expected)]
        if how in ("before", "after"):
            move(world, card, **{how: anchor})
            expected.insert(expected.index(anchor) + (how == "after"), card)
        else:
            move(world, card, end=how)
            expected.insert(0 if how == "top" else len(expected), card)
    assert world.shown() == expected
    assert_no_ties(world)
