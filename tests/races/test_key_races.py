"""One Idempotency-Key, used twice at once."""

from accounts.remembering import once
from leases.models import Lease
from leases.verbs.claim import again, made
from tests.builders import card_row
from tests.races.interleaving import meet
from tests.races.places import open_card


def claim(place):
    caller = place.world.worker
    return once(
        caller,
        operation="claim",
        key="key",
        request=b"{}",
        make=place.world.ask,
        made_by=made,
        again=lambda ids: again(caller, ids, many=False),
    )


def test_one_key_claims_one_card(order):
    """Case 17: one lease; the other call gets it too, with its receipt."""

    def two_cards():
        place = open_card()
        place.world.add()
        return place

    for place, one, two in meet(order, two_cards, claim, claim):
        assert one.lease.id == two.lease.id
        assert one.lease_token == two.lease_token
        assert one.card.id == two.card.id == place.card
        assert card_row(place.card).attempts == 1
        assert Lease.objects.filter(column_id=place.world.queue).count() == 1


def test_a_key_that_found_nothing_is_free_for_the_next_call(order):
    def nothing():
        place = open_card()
        place.world.claim()
        return place

    for place, one, two in meet(order, nothing, claim, claim):
        assert not one.card
        assert not two.card
        card = place.world.add()
        assert claim(place).card.id == card
