"""The note on why a card failed for good."""

from boards.models import DEAD, Card
from leases.models import DeadLetter
from leases.verbs.cancel import request_cancel
from leases.verbs.letters import adopt
from leases.verbs.reap import reap
from leases.verbs.requeue import requeue
from tests.builders import lapse


def letter(card):
    return DeadLetter.objects.get(card_id=card)


def test_a_failure_for_good_is_noted_and_a_retry_is_not(world):
    world.add()
    card = world.fail_card(reason="Timeout after 31 s")
    assert not DeadLetter.objects.exists()
    world.fail_card(reason="Timeout after 12 s", requeue=False)
    assert letter(card).fold == "Timeout after <n> s"
    assert letter(card).column_id == world.queue
    assert letter(card).holder_id == world.worker.actor_id
    assert letter(card).lease_id is not None


def test_the_latest_failure_counts(world):
    world.add()
    card = world.fail_card(reason="The first", requeue=False)
    first = letter(card)
    requeue(world.owner, card_id=card)
    assert not Card.objects.filter(DEAD).exists()
    world.fail_card(reason="The second", requeue=False)
    assert letter(card).fold == "The second"
    assert letter(card).lease_id != first.lease_id
    assert letter(card).at > first.at


def test_those_whose_workers_fell_silent_are_noted(world):
    world.set(max_attempts=1)
    card = world.add()
    lapse(world.claim())
    reap()
    assert letter(card).fold == "lease_expired"


def test_those_without_an_attempt_left_are_noted(world):
    card = world.add()
    world.fail_card()
    world.set(max_attempts=1)
    assert world.ask().card is None
    assert letter(card).fold == "attempts_exhausted"
    assert letter(card).lease_id is None


def test_what_is_called_off_is_no_dead_letter(world):
    card = world.add()
    request_cancel(world.owner, card_id=card)
    assert not Card.objects.filter(DEAD).exists()
    assert adopt() == 0


def test_cards_that_failed_before_there_were_notes_are_noted(world):
    world.add()
    card = world.fail_card(reason="No file 7", requeue=False)
    DeadLetter.objects.all().delete()
    imported = world.add(column=world.done)
    Card.objects.filter(pk=imported).update(state="failed")
    assert adopt() == 2
    assert letter(card).fold == "No file <n>"
    assert letter(card).column_id == world.queue
    assert letter(imported).fold == ""
    assert adopt() == 0
