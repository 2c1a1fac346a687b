"""One given card, wanted twice at once, and what else may happen to it meanwhile."""

from boards.verbs.cards import archive_card
from boards.verbs.moving import move_card
from leases.errors import LeaseLost, NotClaimable
from leases.shapes import Claimed
from leases.verbs.cancel import request_cancel
from leases.verbs.claim_card import claim_card
from leases.verbs.give_back import fail, release
from leases.verbs.pause import pause
from leases.verbs.renew import renew
from tests.builders import a_person, card_row, lease_row, receipt
from tests.races.interleaving import meet
from tests.races.places import held_card, lapsed_card, lease_state, live, open_card


def start(place, by=None):
    return claim_card(by or place.world.owner, card_id=place.card)


def claims(*answers):
    return [one for one in answers if isinstance(one, Claimed) and one.card]


def test_of_two_who_start_one_card_one_gets_it_and_the_other_hears_who(order):
    def prepare():
        place = open_card()
        place.second = a_person(place.world.workspace)
        return place

    for place, one, two in meet(
        order, prepare, start, lambda place: start(place, place.second)
    ):
        (won,) = claims(one, two)
        (lost,) = [a for a in (one, two) if isinstance(a, NotClaimable)]
        assert lost.facts["reason"] == "held"
        assert lost.facts["held_by"].handle == won.card.holder.handle
        assert live(place.world) == 1


def test_a_start_and_a_claim_of_the_next_card_share_one_card(order):
    for place, one, two in meet(
        order, open_card, start, lambda place: place.world.ask()
    ):
        assert len(claims(one, two)) == 1
        assert live(place.world) == 1


def test_a_start_and_a_claim_take_the_last_place_once(order):
    def prepare():
        place = open_card(concurrency_limit=1)
        place.world.add()
        return place

    for place, one, two in meet(
        order, prepare, start, lambda place: place.world.ask(place.other)
    ):
        assert len(claims(one, two)) == 1
        assert live(place.world) == 1


def test_a_start_takes_a_lapsed_card_over_once(order):
    for place, one, two in meet(
        order, lapsed_card, start, lambda place: place.world.ask(place.other)
    ):
        assert len(claims(one, two)) == 1
        assert lease_state(place) == "expired"


def test_a_start_and_a_pause_agree(order):
    def stop(place):
        return pause(
            place.world.owner, board_id=place.world.board, column_id=place.world.queue
        )

    for place, one, _ in meet(order, open_card, start, stop):
        held = card_row(place.card).state == "claimed"
        assert held == bool(claims(one))


def test_a_start_and_a_move_or_an_archive_agree(order):
    def move(place):
        return move_card(
            place.world.owner, card_id=place.card, column_id=place.world.done
        )

    def archive(place):
        return archive_card(place.world.owner, card_id=place.card)

    for change in (move, archive):
        for place, one, _ in meet(order, open_card, start, change):
            held = card_row(place.card).state == "claimed"
            assert held == bool(claims(one))


def cancel(place):
    return request_cancel(place.world.owner, card_id=place.card)


def test_a_claim_and_a_cancel_agree(order):
    for _, one, two in meet(order, open_card, lambda place: place.world.ask(), cancel):
        assert two.cancelled != two.cancel_requested
        assert bool(one.card) == two.cancel_requested
        if one.card:
            assert lease_row(one.lease.id).cancel_requested_at


def test_what_is_given_back_while_it_is_called_off_never_comes_back(order):
    for verb in (fail, release):
        for place, one, two in meet(
            order,
            held_card,
            lambda place, verb=verb: verb(place.world.worker, **receipt(place.held)),
            cancel,
        ):
            card = card_row(place.card)
            assert card.cancelled_at
            assert card.state == "failed"
            assert two.cancelled == (not isinstance(one, LeaseLost))


def test_a_heartbeat_and_a_cancel_agree(order):
    for place, one, two in meet(
        order,
        held_card,
        lambda place: renew(place.world.worker, **receipt(place.held)),
        cancel,
    ):
        assert two.cancel_requested
        told = bool(lease_row(place.held.lease.id).cancel_told_at)
        assert one.cancel_requested == told


def test_two_calls_of_one_who_has_heard_end_it_once(order):
    def prepare():
        place = held_card(concurrency_limit=1)
        cancel(place)
        renew(place.world.worker, **receipt(place.held))
        return place

    def again(place):
        return renew(place.world.worker, **receipt(place.held))

    for place, one, two in meet(order, prepare, again, again):
        assert isinstance(one, LeaseLost)
        assert isinstance(two, LeaseLost)
        assert lease_row(place.held.lease.id).outcome == "cancelled"
        assert live(place.world) == 0
