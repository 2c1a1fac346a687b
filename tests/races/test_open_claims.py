"""A claim while another one isn't committed yet: it never waits, never takes too much.

Claims are single statements, so their races lie inside of them. A claim that is held
open in its transaction shows what the next one makes of uncommitted rows.
"""

import pytest
from django.db import connection, transaction

from boards.models import Event
from boards.verbs.cards import edit_card
from tests.builders import a_world, an_agent
from tests.connections import held_open

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def impatient():
    """This connection gives up where it would have to wait for a lock that stays."""
    with connection.cursor() as cursor:
        cursor.execute("SET lock_timeout = '5s'")
        yield
        cursor.execute("RESET lock_timeout")


def test_the_next_claim_passes_over_a_card_that_is_being_claimed(impatient):
    world = a_world()
    first, second = world.add("First"), world.add("Second")
    with held_open(world.claim) as held:
        assert held.result.card.id == first
        assert world.claim(an_agent(world.workspace)).card.id == second


def test_a_claim_that_is_not_committed_has_its_place_under_the_limit(impatient):
    world = a_world(concurrency_limit=2)
    world.add_many(5)
    world.claim()
    with held_open(world.claim):
        assert world.ask().reason == "at_capacity"
    assert world.ask().card


def test_a_change_that_is_rolled_back_was_never_told():
    world = a_world()
    card = world.add()
    before = Event.objects.count()
    with transaction.atomic():
        edit_card(world.owner, card_id=card, title="Other")
        transaction.set_rollback(True)
    assert Event.objects.count() == before
