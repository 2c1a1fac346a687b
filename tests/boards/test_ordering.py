"""Positions: whole numbers that never collide and never run out (pure rules)."""

from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from boards.ordering import GAP, HIGHEST, LOWEST, between, spread

POSITIONS = st.integers(LOWEST + GAP, HIGHEST - GAP)


@given(POSITIONS, POSITIONS)
@settings(max_examples=1000)
def test_what_is_put_between_two_is_strictly_between_them(one, other):
    low, high = sorted((one, other))
    middle = between(low, high)
    if middle is None:
        assert high - low <= 1
    else:
        assert low < middle < high


@given(POSITIONS)
@settings(max_examples=1000)
def test_above_the_first_there_is_always_room(first):
    assert between(None, first) < first


def test_an_empty_column_has_a_place():
    assert between(None, None) == 0


def test_one_gap_takes_two_dozen_halvings():
    low, high, taken = 0, GAP, 0
    while (middle := between(low, high)) is not None:
        high, taken = middle, taken + 1
    assert taken == 24


@given(POSITIONS, st.integers(0, 10 * GAP), st.integers(0, 200))
@settings(max_examples=1000)
def test_spreading_keeps_the_order_and_the_bounds_and_leaves_room(low, width, count):
    high = min(low + width, HIGHEST)
    places = spread(low, high, count)
    if places is None:
        assert (high - low) // (count + 1) < 1 << 8
        return
    assert len(places) == count
    row = [low, *places, high]
    assert all(a < b for a, b in pairwise(row)) or not count
    assert all(b - a >= 1 << 8 for a, b in pairwise(row))


def test_there_are_more_appends_than_anybody_will_make():
    assert HIGHEST // GAP > 5 * 10**11
