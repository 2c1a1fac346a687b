"""Renew: longer, in silence, and never once the lease has lapsed."""

from datetime import timedelta
from uuid import uuid4

import pytest

from accounts.errors import Forbidden, Invalid, NotFound
from accounts.roles import BoardRole
from boards.verbs.boards import set_board_member
from boards.verbs.comments import add_comment
from leases.contract import MAX_LEASE_SECONDS
from leases.errors import LeaseLost
from leases.verbs.complete import complete
from leases.verbs.give_back import fail, release
from leases.verbs.renew import renew, renew_many
from leases.verbs.revoke import revoke
from tests.builders import (
    a_world,
    an_agent,
    lapse,
    lease_row,
    receipt,
    snapshot,
)


def test_a_renewal_counts_from_now(world):
    world.add()
    held = world.claim(lease_ttl_seconds=100)
    renewed = renew(world.worker, **receipt(held))
    assert renewed.lease_id == held.lease.id
    assert renewed.expires_at - renewed.server_time == timedelta(seconds=100)
    assert renewed.expires_at > held.lease.expires_at
    assert renewed.cancel_requested is False
    row = lease_row(held.lease.id)
    assert (row.expires_at, row.renewed_at, row.renewals) == (
        renewed.expires_at,
        renewed.server_time,
        1,
    )


def test_a_renewal_is_silent(world):
    """No event, no version, no row but the lease's: nobody's page moves."""
    world.set(concurrency_limit=2)
    world.add()
    held = world.claim()
    before = snapshot(world)
    for _ in range(3):
        renew(world.worker, **receipt(held))
    after = snapshot(world)
    changed = {"expires_at", "renewed_at", "renewals"}
    for old, new in zip(before.pop("leases"), after.pop("leases"), strict=True):
        assert {key for key in old if old[key] != new[key]} == changed
    assert after == before


def test_a_renewal_may_ask_for_another_length_once(world):
    world.add()
    held = world.claim(lease_ttl_seconds=100)
    long = renew(world.worker, **receipt(held), lease_ttl_seconds=900)
    assert long.expires_at - long.server_time == timedelta(seconds=900)
    usual = renew(world.worker, **receipt(held))
    assert usual.expires_at - usual.server_time == timedelta(seconds=100)


@pytest.mark.parametrize("seconds", [0, -5, MAX_LEASE_SECONDS + 1])
def test_a_length_out_of_bounds_is_refused(world, seconds):
    world.add()
    held = world.claim()
    with pytest.raises(Invalid):
        renew(world.worker, **receipt(held), lease_ttl_seconds=seconds)
    assert lease_row(held.lease.id).renewals == 0


def test_a_lapsed_lease_is_lost_although_nobody_took_it_over(world):
    world.add()
    held = world.claim()
    lapse(held)
    before = snapshot(world)
    with pytest.raises(LeaseLost) as lost:
        renew(world.worker, **receipt(held))
    assert lost.value.facts["lease_state"] == "expired"
    assert lost.value.facts["held_by_another"] is False
    assert lost.value.facts["card"].state == "claimed"
    assert snapshot(world) == before


def test_a_superseded_lease_is_lost_and_says_who_has_the_card_now(world):
    world.add()
    first = world.claim()
    lapse(first)
    world.claim(an_agent(world.workspace))
    before = snapshot(world)
    with pytest.raises(LeaseLost) as lost:
        renew(world.worker, **receipt(first))
    assert lost.value.facts["held_by_another"] is True
    assert snapshot(world) == before


@pytest.mark.parametrize("end", [complete, fail, release])
def test_an_ended_lease_is_lost(world, end):
    world.add()
    held = world.claim()
    end(world.worker, **receipt(held))
    before = snapshot(world)
    with pytest.raises(LeaseLost):
        renew(world.worker, **receipt(held))
    assert snapshot(world) == before


def test_a_revoked_lease_is_lost(world):
    world.add()
    held = world.claim()
    revoke(world.owner, lease_id=held.lease.id)
    with pytest.raises(LeaseLost) as lost:
        renew(world.worker, **receipt(held))
    assert lost.value.facts["lease_state"] == "revoked"


@pytest.mark.parametrize(
    "token", ["", "nvml_", "nvml_" + "0" * 43, "ü" * 48, "x" * 10_000]
)
def test_a_wrong_receipt_is_lost(world, token):
    world.add()
    held = world.claim()
    with pytest.raises(LeaseLost):
        renew(world.worker, lease_id=held.lease.id, lease_token=token)
    assert lease_row(held.lease.id).renewals == 0


def test_the_receipt_of_another_lease_is_wrong(world):
    world.add_many(2)
    mine, other = world.claim(), world.claim()
    with pytest.raises(LeaseLost):
        renew(world.worker, lease_id=mine.lease.id, lease_token=other.lease_token)


def test_a_lease_elsewhere_does_not_exist(world):
    world.add()
    held = world.claim()
    stranger = an_agent(a_world().workspace)
    with pytest.raises(NotFound):
        renew(stranger, **receipt(held))
    with pytest.raises(NotFound):
        renew(world.worker, lease_id=uuid4(), lease_token=held.lease_token)


def test_who_may_no_longer_work_here_may_not_renew(world):
    world.add()
    held = world.claim()
    set_board_member(
        world.owner,
        board_id=world.board,
        handle=world.worker.handle,
        role=BoardRole.VIEWER,
    )
    with pytest.raises(Forbidden):
        renew(world.worker, **receipt(held))


def test_a_lease_without_end_stays_without_end(world):
    world.set(lease_ttl_seconds=None)
    world.add()
    held = world.claim(world.owner)
    assert renew(world.owner, **receipt(held)).expires_at is None


def test_a_changed_contract_does_not_change_leases_that_are_running(world):
    world.add()
    held = world.claim(lease_ttl_seconds=100)
    world.set(lease_ttl_seconds=7, paused=True)
    renewed = renew(world.worker, **receipt(held))
    assert renewed.expires_at - renewed.server_time == timedelta(seconds=100)


def test_many_are_renewed_in_one_call_each_with_its_own_answer(world):
    world.add_many(4)
    alive, late, done, foreign = world.ask(count=4).claims
    lapse(late)
    complete(world.worker, **receipt(done))
    receipts = {one.lease.id: one.lease_token for one in (alive, late, done)}
    receipts |= {foreign.lease.id: alive.lease_token, uuid4(): "nvml_x"}
    results = renew_many(world.worker, receipts=receipts).results
    assert [one.lease_id for one in results] == list(receipts)
    assert [bool(one.renewed) for one in results] == [True, False, False, False, False]
    assert [one.error.code for one in results[1:]] == ["lease_lost"] * 3 + ["not_found"]
    assert [lease_row(key).renewals for key in list(receipts)[:4]] == [1, 0, 0, 0]


@pytest.mark.parametrize("number", [0, 51])
def test_a_call_renews_one_to_fifty(world, number):
    receipts = {uuid4(): "nvml_x" for _ in range(number)}
    with pytest.raises(Invalid):
        renew_many(world.worker, receipts=receipts)


def test_what_others_say_reaches_the_holder_once(world):
    card = world.add()
    comment(world.owner, card, "Before")
    held = world.claim()
    first = comment(world.owner, card, "Mind the title")
    comment(world.worker, card, "I do")
    second = comment(world.owner, card, "x" * 3_000)
    (one, two) = renew(world.worker, **receipt(held)).comments
    assert (one.id, one.author, one.text) == (
        first,
        world.owner.handle,
        "Mind the title",
    )
    assert (two.id, len(two.text)) == (second, 2_000)
    assert renew(world.worker, **receipt(held)).comments == []


def test_of_many_remarks_ten_come_at_a_time(world):
    card = world.add()
    held = world.claim()
    said = [comment(world.owner, card, f"No. {n}") for n in range(23)]
    heard = [renew(world.worker, **receipt(held)).comments for _ in range(4)]
    assert [len(some) for some in heard] == [10, 10, 3, 0]
    assert [one.id for some in heard for one in some] == said


def test_the_next_holder_hears_what_is_new_to_them(world):
    card = world.add()
    first = world.claim()
    comment(world.owner, card, "For the first")
    release(world.worker, **receipt(first))
    held = world.claim()
    assert renew(world.worker, **receipt(held)).comments == []
    comment(world.owner, card, "For the second")
    (only,) = renew(world.worker, **receipt(held)).comments
    assert only.text == "For the second"


def comment(by, card, text):
    return add_comment(by, card_id=card, text=text)
