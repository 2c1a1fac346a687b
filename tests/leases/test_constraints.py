"""What PostgreSQL itself refuses, whatever the code above does."""

import pytest
from django.db import IntegrityError, transaction
from django.db.models import ProtectedError
from django.utils import timezone

from boards.models import Card, Event
from leases.models import Contract, Lease, Slot
from leases.verbs.complete import complete
from tests.builders import lease_row, receipt


def refused(name):
    return pytest.raises(IntegrityError, match=name)


def _another_lease(held, **fields):
    row = lease_row(held.lease.id)
    row.pk = None
    row._state.adding = True
    row.id = Lease._meta.pk.get_default()
    for name, value in fields.items():
        setattr(row, name, value)
    row.save(force_insert=True)
    return row


def test_a_second_active_lease_on_a_card(world):
    world.add()
    held = world.claim()
    with refused("lease_one_active_per_card"), transaction.atomic():
        _another_lease(held)
    assert _another_lease(held, state="released", ended_at=timezone.now())


@pytest.mark.parametrize(
    "fields",
    [
        {"state": "completed", "ended_at": None},
        {"state": "active", "ended_at": timezone.now()},
    ],
)
def test_a_lease_that_is_over_and_not_over(world, fields):
    world.add()
    held = world.claim()
    with refused("lease_state_is_whole"), transaction.atomic():
        Lease.objects.filter(pk=held.lease.id).update(**fields)


@pytest.mark.parametrize("state", ["active", "completed"])
def test_an_outcome_without_an_end_that_has_one(world, state):
    world.add()
    held = world.claim()
    ended = None if state == "active" else timezone.now()
    with refused("lease_state_is_whole"), transaction.atomic():
        Lease.objects.filter(pk=held.lease.id).update(
            state=state, ended_at=ended, outcome="requeued"
        )


def test_a_claimed_card_without_a_lease_and_the_other_way_round(world):
    card = world.add()
    with refused("card_state_is_whole"), transaction.atomic():
        Card.objects.filter(pk=card).update(state="claimed")
    held = world.claim()
    with refused("card_state_is_whole"), transaction.atomic():
        Card.objects.filter(pk=held.card.id).update(state="open")
    with refused("card_state_is_whole"), transaction.atomic():
        Card.objects.filter(pk=held.card.id).update(state="done", lease_id=None)


def test_a_claimed_card_in_the_archive(world):
    world.add()
    held = world.claim()
    with refused("card_state_is_whole"), transaction.atomic():
        Card.objects.filter(pk=held.card.id).update(archived_at=timezone.now())


def test_a_state_that_is_none(world):
    card = world.add()
    with refused("card_state_is_whole"), transaction.atomic():
        Card.objects.filter(pk=card).update(state="ready")


def test_a_misfit_without_a_reason(world):
    card = world.add()
    with refused("card_misfit_says_why"), transaction.atomic():
        Card.objects.filter(pk=card).update(fits=False)


def test_a_priority_beyond_the_five(world):
    card = world.add()
    for priority in (0, 6):
        with refused("card_priority"), transaction.atomic():
            Card.objects.filter(pk=card).update(priority=priority)


def test_two_events_with_one_number_on_a_card(world):
    card = world.add()
    event = Event.objects.get(card_id=card)
    with refused("event_sequence_once_per_card"), transaction.atomic():
        Event.objects.create(
            workspace_id=event.workspace_id, type="x", card_id=card, sequence=1
        )


def test_two_cards_with_one_number_in_a_workspace(world):
    first, second = world.add_many(2)
    number = Card.objects.get(pk=first).number
    with refused("card_key_once_per_workspace"), transaction.atomic():
        Card.objects.filter(pk=second).update(number=number)


def test_one_queue_name_twice_in_a_workspace(world):
    with refused("contract_queue_once_per_workspace"), transaction.atomic():
        Contract.objects.create(
            column_id=world.done,
            workspace_id=world.workspace.pk,
            queue=Contract.objects.get(pk=world.queue).queue,
        )


def test_one_slot_twice(world):
    world.set(concurrency_limit=1)
    with refused("leases_slot_pkey"), transaction.atomic():
        Slot.objects.create(column_id=world.queue, number=1)


def test_a_card_with_a_history_is_not_deleted(world):
    world.add()
    held = world.claim()
    complete(world.worker, **receipt(held))
    with pytest.raises(ProtectedError):
        Card.objects.filter(pk=held.card.id).delete()
