"""The end of a lease, and what else wants to end, prolong or move it meanwhile."""

from functools import partial

import msgspec
import pytest

from boards.errors import CardHeld
from boards.models import Event
from boards.verbs.cards import edit_card
from boards.verbs.comments import add_comment
from leases.errors import LeaseLost
from leases.models import Lease
from leases.verbs.complete import Result, complete, complete_many
from leases.verbs.give_back import fail, release
from leases.verbs.reap import reap
from leases.verbs.renew import renew, renew_many
from leases.verbs.requeue import requeue
from leases.verbs.revoke import revoke
from tests.builders import card_row, event_types, lapse, lease_row, receipt
from tests.connections import together
from tests.invariants import assert_sound
from tests.races.interleaving import meet
from tests.races.places import (
    dead_card,
    held_card,
    lapsed_card,
    lease_state,
    open_card,
    requeue_it,
)
from tests.ways import noted, went


def by_holder(verb, **options):
    return lambda place: verb(place.world.worker, **receipt(place.held), **options)


def superseding(place):
    return place.world.ask(place.other)


def reaper(_):
    return reap()


def revoking(place):
    return revoke(place.world.owner, lease_id=place.held.lease.id)


def lost(answer):
    return isinstance(answer, LeaseLost)


# Of the holder's verbs only the completion goes on another way where terms are known.
VERBS = [
    *[(verb, False) for verb in (renew, complete, fail, release)],
    (complete, True),
]
by_each_verb = pytest.mark.parametrize(("verb", "known"), VERBS)


@by_each_verb
def test_the_reaper_leaves_a_live_lease_to_its_holder(order, verb, known):
    held = partial(held_card, known=known)
    for place, answer, reaped in meet(order, held, by_holder(verb), reaper):
        assert not lost(answer)
        assert reaped == 0
        assert "card.lease.expired" not in event_types(place.card)


@by_each_verb
def test_a_lapsed_lease_is_lost_however_it_meets_the_reaper(order, verb, known):
    lapsed = partial(lapsed_card, known=known)
    for place, answer, _ in meet(order, lapsed, by_holder(verb), reaper):
        assert lost(answer)
        assert lease_state(place) == "expired"
        assert card_row(place.card).attempts == 1


@by_each_verb
def test_a_lapsed_lease_is_lost_however_it_meets_its_successor(order, verb, known):
    """Case 6: and its holder changes nothing of the successor's."""
    lapsed = partial(lapsed_card, known=known)
    for place, answer, claimed in meet(order, lapsed, by_holder(verb), superseding):
        assert lost(answer)
        if not claimed.card:
            claimed = superseding(place)
        row = card_row(place.card)
        assert (row.lease_id, row.attempts) == (claimed.lease.id, 2)
        assert lease_row(place.held.lease.id).reason == "lease_expired"


def test_two_reapers(order):
    def lapsed_ones():
        place = open_card()
        place.world.add_many(4)
        for held in place.world.ask(count=5).claims:
            lapse(held)
        return place

    for place, one, two in meet(order, lapsed_ones, reaper, reaper):
        assert one + two == 5
        assert event_types(place.card).count("card.lease.expired") == 1


def test_the_same_completion_twice(order, known):
    """Case 7: one effect; the other is told the first result."""
    first = by_holder(complete, output={"by": 1})
    second = by_holder(complete, output={"by": 2})
    held = partial(held_card, known=known)
    for place, one, two in meet(order, held, first, second):
        assert [one.replayed, two.replayed].count(True) == 1
        winner = 2 if one.replayed else 1
        assert card_row(place.card).output == {"by": winner}
        assert event_types(place.card).count("card.lease.completed") == 1
        assert one.lease == two.lease


ENDS = {"complete": complete, "fail": fail, "release": release}
TWO_ENDS = [(a, b, False) for a in ENDS for b in ENDS if a < b]
TWO_ENDS += [("complete", "fail", True), ("complete", "release", True)]


@pytest.mark.parametrize(("one", "two", "known"), TWO_ENDS)
def test_two_different_ends_of_one_lease(order, one, two, known):
    held = partial(held_card, known=known)
    for place, first, second in meet(
        order, held, by_holder(ENDS[one]), by_holder(ENDS[two])
    ):
        assert [lost(first), lost(second)].count(True) == 1
        winner = one if lost(second) else two
        assert (
            lease_state(place)
            == {
                "complete": "completed",
                "fail": "failed",
                "release": "released",
            }[winner]
        )


@pytest.mark.parametrize(("verb", "known"), VERBS[1:])
def test_the_end_of_a_lease_and_its_renewal(order, verb, known):
    held = partial(held_card, known=known)
    for place, _, renewed in meet(order, held, by_holder(verb), by_holder(renew)):
        assert lease_state(place) != "active"
        if not lost(renewed):
            assert renewed.expires_at > renewed.server_time


@by_each_verb
def test_a_verb_of_the_holder_and_a_revocation(order, verb, known):
    held = partial(held_card, known=known)
    for place, answer, revoked in meet(order, held, by_holder(verb), revoking):
        if verb is renew:
            assert lease_state(place) == "revoked"
        else:
            assert lost(answer) != lost(revoked)
            assert (lease_state(place) == "revoked") == lost(answer)


def test_a_revocation_and_the_reaper(order):
    for place, revoked, reaped in meet(order, lapsed_card, revoking, reaper):
        assert reaped in (0, 1)
        assert lease_state(place) == ("expired" if lost(revoked) else "revoked")


def test_two_revocations(order):
    for _, one, two in meet(order, held_card, revoking, revoking):
        assert [one.replayed, two.replayed].count(True) == 1


def test_two_requeues(order):
    """Case 10: one event."""
    for place, _, _ in meet(order, dead_card, requeue_it, requeue_it):
        assert event_types(place.card).count("card.requeued") == 1


def test_a_requeue_and_the_failure_that_makes_it_possible(order):
    def last_attempt():
        return held_card(max_attempts=1)

    for place, _, requeued in meet(order, last_attempt, by_holder(fail), requeue_it):
        refused = isinstance(requeued, CardHeld)
        assert card_row(place.card).state == ("failed" if refused else "open")


def test_a_completion_and_an_edit(order, known):
    """Case 18: the inputs, too. Neither undoes what the other has written."""

    def edit(place):
        return edit_card(
            place.world.owner,
            card_id=place.card,
            title="Better",
            properties={"by": "hand"},
            payload={"file": "other.csv"},
        )

    done = by_holder(complete, output="x", properties={"by": "worker"})
    held = partial(held_card, known=known)
    for place, _, edited in meet(order, held, done, edit):
        row = card_row(place.card)
        assert edited == place.card
        assert (row.title, row.output, row.state) == ("Better", "x", "done")
        assert row.properties["by"] in ("hand", "worker")
        assert row.payload == {"file": "other.csv"}
        assert row.version == 4
        assert row.sequence == len(event_types(place.card)) == 4
        assert sorted(event_types(place.card)[2:]) == [
            "card.lease.completed",
            "card.updated",
        ]


def test_a_completion_and_inputs_that_fit_no_more(order, known):
    """Case 18: whoever holds the card has its inputs already, so its result counts."""
    wanted = {"properties": {"payload": {"type": "null"}}}

    def spoil(place):
        return edit_card(place.world.owner, card_id=place.card, payload=7)

    done = by_holder(complete, output="x")
    held = partial(held_card, known=known, input_schema=wanted)
    for place, ended, edited in meet(order, held, done, spoil):
        row = card_row(place.card)
        assert (ended.card.state, edited) == ("done", place.card)
        assert (row.state, row.output, row.payload) == ("done", "x", 7)
        assert (row.lease_id, row.holder_id) == (None, None)


def test_a_failure_and_an_edit_of_the_inputs(order):
    """Case 18: the next attempt is at the inputs as they are now."""

    def edit(place):
        return edit_card(place.world.owner, card_id=place.card, payload=[2])

    held = partial(held_card, backoff_seconds=[])
    for place, _, _ in meet(order, held, by_holder(fail), edit):
        again = place.world.claim(place.other)
        assert msgspec.json.decode(again.card.payload) == [2]


def test_a_completion_and_a_comment(order, known):
    def comment(place):
        return add_comment(place.world.owner, card_id=place.card, text="Hi")

    held = partial(held_card, known=known)
    for place, done, _ in meet(order, held, by_holder(complete), comment):
        assert done.card.state == "done"
        assert card_row(place.card).sequence == 4


def test_many_completions_that_share_cards(order, known):
    """Both lock several cards: in one order, so that neither waits for ever."""

    def three_held():
        place = open_card(known=known)
        place.world.add_many(2)
        place.many = place.world.ask(count=3).claims
        return place

    def finish(backwards):
        def call(place):
            many = place.many[::-1] if backwards else place.many
            results = [Result(**receipt(one)) for one in many]
            return complete_many(place.world.worker, results=results)

        return call

    def prolong(place):
        receipts = {one.lease.id: one.lease_token for one in place.many[::-1]}
        return renew_many(place.world.worker, receipts=receipts)

    for _, one, two in meet(order, three_held, finish(False), finish(True)):
        replayed = [item.ended.replayed for item in one.results + two.results]
        assert replayed.count(False) == 3
    for place, _, _ in meet(order, three_held, finish(False), prolong):
        assert (
            Lease.objects.filter(card__board=place.world.board, state="active").count()
            == 0
        )


def test_twenty_completions_of_one_lease_at_once(transactional_db, known):
    """R7: one winner, nineteen are told what it brought."""
    place, sent = held_card(known=known), []
    calls = [by_holder(complete, output=number) for number in range(20)]
    answers = together(*[noted(lambda call=call: call(place), sent) for call in calls])
    assert went(sent, known=known)
    assert [one.replayed for one in answers].count(False) == 1
    winner = [one.replayed for one in answers].index(False)
    assert card_row(place.card).output == winner
    completed = Event.objects.filter(card_id=place.card, type="card.lease.completed")
    assert completed.count() == 1
    assert_sound(place.world.workspace.pk)
    assert requeue(place.world.owner, card_id=place.card)
