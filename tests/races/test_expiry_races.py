"""A lease runs out while its holder's call waits for a lock (cases 5 and 6).

Elsewhere a renewal that had waited reported success, its expiry already in the past.
"""

from datetime import timedelta
from time import sleep

import pytest

from boards.models import Card, ClockTimestamp
from leases.errors import LeaseLost
from leases.models import Lease
from leases.reads import server_time
from leases.verbs.complete import Result, complete, complete_many
from leases.verbs.give_back import fail, release
from leases.verbs.reap import reap
from leases.verbs.renew import renew, renew_many
from tests.builders import a_world, card_row, lease_row, receipt, snapshot
from tests.connections import held_open, outcome, start, wait_until_blocked
from tests.ways import learn_terms, noted, went

pytestmark = pytest.mark.django_db(transaction=True)
# Late enough for what must begin before.
SOON = timedelta(seconds=2)


@pytest.fixture
def world(transactional_db):
    return a_world()


@pytest.fixture
def way(world, known):
    """Statements of completions, which must have gone on this way."""
    if known:
        learn_terms(world)
    sent = []
    yield sent
    assert went(sent, known=known)


# Of the holder's verbs only the completion goes on another way where terms are known.
VERBS = [
    *[(verb, False) for verb in (renew, complete, fail, release)],
    (complete, True),
]


def claim(world, **options):
    world.add()
    return world.claim(**options)


def lapses_soon(held):
    Lease.objects.filter(pk=held.lease.id).update(expires_at=ClockTimestamp() + SOON)


def wait_for_expiry(held):
    expires_at = lease_row(held.lease.id).expires_at
    while (left := (expires_at - server_time()).total_seconds()) >= 0:
        assert left < 3
        sleep(left + 0.001)


def locked(model, key):
    """A row locked by somebody else, who changes nothing."""
    return held_open(lambda: model.objects.select_for_update().get(pk=key).pk)


@pytest.mark.parametrize(
    ("what", "verb", "known"),
    [
        (what, verb, known)
        for what in ("card", "lease")
        for verb, known in VERBS
        # A renewal doesn't touch the card.
        if (what, verb) != ("card", renew)
    ],
)
def test_a_call_that_waited_past_the_expiry_is_lost_and_changed_nothing(
    world, what, verb, way
):
    held = claim(world)
    lapses_soon(held)
    before = snapshot(world)
    row = (Card, held.card.id) if what == "card" else (Lease, held.lease.id)
    with locked(*row) as somebody:
        call = start(noted(lambda: verb(world.worker, **receipt(held)), way))
        assert wait_until_blocked(call, by=somebody.pid)
        wait_for_expiry(held)
    lost = outcome(call)
    assert isinstance(lost, LeaseLost)
    assert lost.facts["lease_state"] == "expired"
    assert snapshot(world) == before


@pytest.mark.parametrize(("verb", "known"), VERBS)
def test_a_call_that_waited_and_is_still_in_time_succeeds(world, verb, way):
    held = claim(world)
    with locked(Lease, held.lease.id) as somebody:
        call = start(noted(lambda: verb(world.worker, **receipt(held)), way))
        assert wait_until_blocked(call, by=somebody.pid)
        sleep(0.2)
    answer = outcome(call)
    moment = answer.server_time
    assert moment > held.lease.acquired_at + timedelta(seconds=0.2)
    if verb is renew:
        assert answer.expires_at == moment + timedelta(seconds=300)


def test_renewing_many_answers_no_past_expiry_when_one_of_them_kept_it_waiting(world):
    short = claim(world, lease_ttl_seconds=1)
    other = claim(world)
    Lease.objects.filter(pk=short.lease.id).update(
        expires_at=ClockTimestamp() + timedelta(minutes=5)
    )
    receipts = {one.lease.id: one.lease_token for one in (short, other)}
    with locked(Lease, other.lease.id) as somebody:
        call = start(lambda: renew_many(world.worker, receipts=receipts))
        assert wait_until_blocked(call, by=somebody.pid)
        sleep(1.1)
        waited_until = server_time()
    for item in outcome(call).results:
        assert item.renewed.expires_at > waited_until + timedelta(seconds=1)


def test_completing_many_does_not_complete_what_lapsed_while_another_kept_it_waiting(
    world, way
):
    late, other = claim(world), claim(world)
    lapses_soon(late)
    results = [Result(**receipt(one)) for one in (late, other)]
    with locked(Card, other.card.id) as somebody:
        call = start(noted(lambda: complete_many(world.worker, results=results), way))
        assert wait_until_blocked(call, by=somebody.pid)
        wait_for_expiry(late)
    first, second = outcome(call).results
    assert first.error.code == "lease_lost"
    assert second.ended.card.state == "done"
    assert card_row(late.card.id).state == "claimed"


def test_a_renewal_under_way_keeps_the_card_from_reaper_and_claims(world):
    held = claim(world)
    lapses_soon(held)
    with held_open(lambda: renew(world.worker, **receipt(held))) as renewal:
        wait_for_expiry(held)
        assert reap() == 0
        assert world.ask().card is None
        renewal.commit()
    assert reap() == 0
    assert lease_row(held.lease.id).expires_at == renewal.result.expires_at
    assert complete(world.worker, **receipt(held)).card.state == "done"


def test_a_completion_under_way_keeps_the_card_from_reaper_and_claims(world, way):
    held = claim(world)
    lapses_soon(held)
    completing = noted(lambda: complete(world.worker, **receipt(held)), way)
    with held_open(completing) as completion:
        wait_for_expiry(held)
        assert reap() == 0
        assert world.ask().card is None
        completion.commit()
    assert lease_row(held.lease.id).state == "completed"


def test_a_completion_that_was_rolled_back_leaves_the_card_to_the_next(world, way):
    held = claim(world)
    lapses_soon(held)
    with held_open(noted(lambda: complete(world.worker, **receipt(held)), way)):
        wait_for_expiry(held)
    assert world.claim().card.id == held.card.id
    assert lease_row(held.lease.id).state == "expired"


def test_a_live_lease_that_is_renewed_in_time_never_changes_hands(world):
    """Case 5 (a), in short: renewals, a reaper and a poller beside one another."""
    held = claim(world, lease_ttl_seconds=4)
    before = card_row(held.card.id)
    for _ in range(9):
        sleep(0.5)
        assert renew(world.worker, **receipt(held)).expires_at > server_time()
        assert reap() == 0
        assert world.ask().card is None
    after = card_row(held.card.id)
    assert (after.version, after.sequence) == (before.version, before.sequence)
    assert lease_row(held.lease.id).renewals == 9
