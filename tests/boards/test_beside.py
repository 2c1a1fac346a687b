"""The cards above and below one, in the order in which the column shows them."""

import pytest

from accounts.errors import NotFound
from boards.neighbours import Beside, beside
from boards.verbs.cards import archive_card
from tests.builders import a_world


@pytest.fixture
def world(db):
    return a_world()


def test_walking_down_and_up_visits_every_card_once_in_the_order_shown(world):
    for number in range(12):
        world.add(f"Card {number}", priority=1 + number % 3)
    shown = world.shown()
    walked, here = [], shown[0]
    while here:
        walked.append(here)
        here = beside(world.owner, card_id=here).below
    assert walked == shown
    back, here = [], shown[-1]
    while here:
        back.append(here)
        here = beside(world.owner, card_id=here).above
    assert back == shown[::-1]


def test_what_is_archived_is_beside_nothing(world):
    first, second, third = (world.add() for _ in range(3))
    archive_card(world.owner, card_id=second)
    assert beside(world.owner, card_id=first).below == third
    assert beside(world.owner, card_id=second) == Beside()


def test_a_stranger_sees_no_neighbours(world):
    card = world.add()
    with pytest.raises(NotFound):
        beside(a_world().owner, card_id=card)
