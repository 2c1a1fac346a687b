"""A receipt that has lost its card is refused, and the try is remembered beside it."""

import pytest

from leases.errors import LeaseLost
from leases.models import Refusal
from leases.timeline import timeline
from leases.verbs.complete import Result, complete, complete_many
from leases.verbs.give_back import fail, release
from leases.verbs.renew import renew
from tests.builders import an_agent, card_row, lapse, lease_row, receipt


def test_late_calls_are_counted_by_verb_and_shown_in_the_timeline(world):
    card = world.add()
    late = world.claim()
    lapse(late)
    world.claim(an_agent(world.workspace))
    before = card_row(card).__dict__, lease_row(late.lease.id).__dict__
    for verb in (renew, complete, fail, release, complete):
        with pytest.raises(LeaseLost):
            verb(world.worker, **receipt(late))
    after = card_row(card).__dict__, lease_row(late.lease.id).__dict__
    for old, new in zip(before, after, strict=True):
        assert {**old, "_state": 0} == {**new, "_state": 0}
    counted = dict(Refusal.objects.values_list("verb", "times"))
    assert counted == {"renew": 1, "complete": 2, "fail": 1, "release": 1}
    newest, oldest = timeline(world.owner, card_id=card).entries
    assert (newest.refusals, oldest.refusals) == (0, 5)


def test_a_late_one_among_many_is_counted_too(world):
    world.add()
    late = world.claim()
    lapse(late)
    world.claim(an_agent(world.workspace))
    complete_many(world.worker, results=[Result(**receipt(late))])
    assert Refusal.objects.get().lease_id == late.lease.id


def test_a_receipt_that_was_never_this_leases_is_not_counted(world):
    world.add()
    held = world.claim()
    with pytest.raises(LeaseLost):
        renew(world.worker, lease_id=held.lease.id, lease_token="nvml_" + "0" * 43)
    assert not Refusal.objects.exists()


def test_repeating_what_was_done_is_no_late_call(world):
    world.add()
    held = world.claim()
    complete(world.worker, **receipt(held))
    assert complete(world.worker, **receipt(held)).replayed
    assert not Refusal.objects.exists()
