"""A claim while another one isn't committed yet: it never waits, never takes too much.

Claims are single statements, so their races lie inside of them. A claim that is held
open in its transaction shows what the next one makes of uncommitted rows.
"""

import pytest
from django.db import connection, transaction

from boards.models import Event
from boards.verbs.cards import edit_card
from leases.verbs.complete import complete
from leases.verbs.give_back import fail, release
from tests.builders import a_world, an_agent, receipt
from tests.connections import held_open
from tests.ways import learn_terms

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


CHANGES = {
    "edit": lambda world, held: edit_card(
        world.owner, card_id=held.card.id, title="Other"
    ),
    "claim": lambda world, held: world.claim(),
    "claim of two": lambda world, held: world.ask(count=2),
    "complete": lambda world, held: complete(world.worker, **receipt(held)),
    "fail": lambda world, held: fail(world.worker, **receipt(held)),
    "release": lambda world, held: release(world.worker, **receipt(held)),
}


@pytest.mark.parametrize(
    ("change", "known"), [*[(one, False) for one in CHANGES], ("complete", True)]
)
def test_a_change_that_is_rolled_back_was_never_told(change, known):
    world = a_world()
    if known:
        learn_terms(world)
    world.add_many(3)
    held = world.claim()
    before = Event.objects.count()
    with transaction.atomic():
        CHANGES[change](world, held)
        assert Event.objects.count() > before
        transaction.set_rollback(True)
    assert Event.objects.count() == before
