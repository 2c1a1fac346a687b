"""A claim, and what else can happen to the card, the queue and its limit meanwhile."""

from boards.errors import CardHeld
from boards.models import Card
from boards.verbs.cards import archive_card, edit_card
from boards.verbs.moving import move_card
from boards.verbs.places import Place
from leases.errors import CardsHeld, NotAQueue
from leases.verbs.complete import complete
from leases.verbs.give_back import release
from leases.verbs.judge import judge
from leases.verbs.reap import reap
from leases.verbs.revoke import stop_agent
from tests.builders import a_world, card_row, lease_row, receipt
from tests.connections import together
from tests.invariants import assert_sound
from tests.races.interleaving import meet
from tests.races.places import (
    dead_card,
    held_card,
    lapsed_card,
    live,
    open_card,
    requeue_it,
)


def claim(place):
    return place.world.ask()


def other_claim(place):
    return place.world.ask(place.other)


def test_a_claim_and_a_claim_of_one_card(order):
    """Case 1: one lease and one null."""
    for place, one, two in meet(order, open_card, claim, other_claim):
        assert [bool(one.card), bool(two.card)].count(True) == 1
        assert card_row(place.card).attempts == 1


def test_a_claim_and_a_claim_of_two_cards(order):
    def two_cards():
        place = open_card()
        place.world.add()
        return place

    for _, one, two in meet(order, two_cards, claim, other_claim):
        assert one.card.id != two.card.id


def test_claims_of_many(order):
    def ten_cards():
        place = open_card(concurrency_limit=8)
        place.world.add_many(9)
        return place

    def five(place):
        return place.world.ask(count=5).claims

    def five_more(place):
        return place.world.ask(place.other, count=5).claims

    for place, one, two in meet(order, ten_cards, five, five_more):
        cards = [claim.card.id for claim in one + two]
        assert len(set(cards)) == len(cards) == live(place.world)
        # What the first has locked and not taken yet, the second may not see as free.
        assert 5 <= len(cards) <= 8


def test_a_claim_and_the_reaper(order):
    def check(place, claimed):
        old = lease_row(place.held.lease.id)
        assert (old.state, old.outcome) == ("expired", "requeued")
        if claimed.card:
            assert claimed.lease.attempt == 2
        else:
            assert place.world.claim(place.other).lease.attempt == 2

    for place, claimed, _ in meet(order, lapsed_card, other_claim, lambda _: reap()):
        check(place, claimed)


def test_two_claims_that_both_find_a_lapsed_lease(order):
    for place, one, two in meet(order, lapsed_card, claim, other_claim):
        assert [bool(one.card), bool(two.card)].count(True) == 1
        assert card_row(place.card).attempts == 2


def test_a_claim_and_a_move_to_another_column(order):
    def move(place):
        return move_card(
            place.world.owner, card_id=place.card, column_id=place.world.done
        )

    for place, claimed, moved in meet(order, open_card, claim, move):
        if claimed.card:
            assert isinstance(moved, CardHeld)
            assert card_row(place.card).column_id == place.world.queue
        else:
            assert moved == place.card
            assert card_row(place.card).column_id == place.world.done


def test_a_claim_and_a_move_within_the_column(order):
    def move(place):
        return move_card(place.world.owner, card_id=place.card, place=Place(end="top"))

    for place, claimed, moved in meet(order, open_card, claim, move):
        if not claimed.card:
            # Locked while it was moved: the next poll gets it.
            assert moved == place.card
            claimed = claim(place)
        assert claimed.card.id == place.card


def test_a_claim_and_archiving_the_card(order):
    def archive(place):
        return archive_card(place.world.owner, card_id=place.card)

    for place, claimed, archived in meet(order, open_card, claim, archive):
        assert bool(claimed.card) == isinstance(archived, CardHeld)
        assert bool(claimed.card) == (card_row(place.card).archived_at is None)


def test_a_claim_and_an_edit(order):
    def edit(place):
        return edit_card(place.world.owner, card_id=place.card, title="Better")

    for place, claimed, _ in meet(order, open_card, claim, edit):
        row = card_row(place.card)
        assert row.title == "Better"
        if claimed.card:
            assert row.version == 3
            assert claimed.card.title in ("Card", "Better")


def test_a_claim_and_an_assignment_to_somebody_else(order):
    def assign(place):
        return edit_card(
            place.world.owner, card_id=place.card, assignee=place.other.handle
        )

    for place, claimed, _ in meet(order, open_card, claim, assign):
        if not claimed.card:
            assert other_claim(place).card.id == place.card


def test_a_claim_and_a_first_limit(order):
    """The queue had none; whoever is there when it comes takes a place."""

    def one_of_two_is_held():
        place = held_card()
        place.world.add()
        return place

    def limit(place):
        return place.world.set(concurrency_limit=1)

    for place, claimed, _ in meet(order, one_of_two_is_held, claim, limit):
        assert live(place.world) == (2 if claimed.card else 1)
        assert place.world.ask().reason == "at_capacity"
        complete(place.world.worker, **receipt(place.held))
        if claimed.card:
            assert place.world.ask(place.other).reason != "drained"
            assert live(place.world) == 1


def test_a_claim_and_a_lower_limit(order):
    def two_of_four_are_held():
        place = held_card(concurrency_limit=4)
        place.world.add_many(4)
        place.second = place.world.claim()
        return place

    def lower(place):
        return place.world.set(concurrency_limit=2)

    for place, claimed, _ in meet(order, two_of_four_are_held, claim, lower):
        assert live(place.world) == (3 if claimed.card else 2)
        assert place.world.ask().reason == "at_capacity"
        for held in (place.held, place.second):
            release(place.world.worker, **receipt(held))
            place.world.claim_all()
            assert live(place.world) == 2


def test_a_claim_and_a_raised_limit(order):
    def full():
        place = held_card(concurrency_limit=1)
        place.world.add_many(3)
        return place

    def higher(place):
        return place.world.set(concurrency_limit=2)

    for place, claimed, _ in meet(order, full, claim, higher):
        assert claimed.card or claimed.reason == "at_capacity"
        place.world.claim_all()
        assert live(place.world) == 2


def test_claims_at_the_last_free_place(order):
    def one_place_left():
        place = held_card(concurrency_limit=2)
        place.world.add_many(5)
        return place

    for place, one, two in meet(order, one_place_left, claim, other_claim):
        assert [bool(one.card), bool(two.card)].count(True) == 1
        assert live(place.world) == 2


def test_a_claim_and_the_end_of_the_lease_that_has_the_last_place(order, known):
    def full():
        place = held_card(known=known, concurrency_limit=1)
        place.world.add()
        return place

    def finish(place):
        return complete(place.world.worker, **receipt(place.held))

    for place, claimed, _ in meet(order, full, other_claim, finish):
        if not claimed.card:
            assert claimed.reason == "at_capacity"
            place.world.claim()
        assert live(place.world) == 1


def test_a_claim_and_switching_the_queue_off(order):
    def off(place):
        return place.world.set(enabled=False)

    for place, claimed, switched in meet(order, open_card, claim, off):
        if isinstance(switched, CardsHeld):
            assert claimed.card.id == place.card
        else:
            assert isinstance(claimed, NotAQueue) or claimed.card is None
            assert card_row(place.card).state == ""


def test_a_claim_and_switching_the_queue_off_by_force(order):
    def off(place):
        return place.world.set(enabled=False, force=True)

    for place, claimed, switched in meet(order, open_card, claim, off):
        assert not switched.enabled
        assert live(place.world) == 0
        assert card_row(place.card).state == ""
        if not isinstance(claimed, NotAQueue) and claimed.card:
            assert lease_row(claimed.lease.id).state == "revoked"


def test_a_claim_and_pausing(order):
    """Once a pause has been answered, no claim brings a card."""

    def pause(place):
        place.world.set(paused=True)
        place.live_when_paused = live(place.world)

    for place, claimed, _ in meet(order, open_card, claim, pause):
        assert place.live_when_paused == live(place.world) == bool(claimed.card)


def test_a_claim_and_a_requeue(order):
    for place, claimed, requeued in meet(order, dead_card, claim, requeue_it):
        assert requeued == place.card
        if not claimed.card:
            claimed = claim(place)
        assert (claimed.card.id, claimed.lease.attempt) == (place.card, 1)


def test_a_claim_and_a_new_card(order):
    for place, claimed, made in meet(
        order, lambda: open_card(), claim, lambda place: place.world.add()
    ):
        assert claimed.card.id == place.card
        assert place.world.claim().card.id == made


def test_a_claim_and_stopping_the_agent(order):
    def stop(place):
        return stop_agent(place.world.owner, agent_id=place.world.worker.actor_id)

    for place, claimed, stopped in meet(order, open_card, claim, stop):
        assert claimed.card
        assert stopped + live(place.world) == 1


def test_a_claim_and_a_new_input_schema(order):
    schema = {"properties": {"payload": {"type": "object"}}}

    def misfit():
        place = open_card()
        edit_card(place.world.owner, card_id=place.card, payload="text")
        return place

    def check_inputs(place):
        return place.world.set(input_schema=schema)

    for place, claimed, _ in meet(order, misfit, claim, check_inputs):
        if not claimed.card:
            assert place.world.ask().card is None
            assert card_row(place.card).fits is False


def test_two_judges(order):
    def unjudged():
        place = open_card(input_schema={"properties": {"title": {"const": "Card"}}})
        place.world.add("Misfit")
        return place

    def judge_all(place):
        return judge(place.world.queue)

    for place, _, _ in meet(order, unjudged, judge_all, judge_all):
        rows = Card.objects.filter(column_id=place.world.queue).order_by("position")
        assert list(rows.values_list("fits", flat=True)) == [True, False]


def test_a_judgement_and_an_edit(order):
    def unjudged():
        return open_card(input_schema={"properties": {"title": {"const": "Card"}}})

    def judge_all(place):
        return judge(place.world.queue)

    def edit(place):
        return edit_card(place.world.owner, card_id=place.card, title="Misfit")

    for place, _, _ in meet(order, unjudged, judge_all, edit):
        assert card_row(place.card).fits in (None, False)
        assert place.world.ask().card is None


def test_a_judgement_and_a_new_schema(order):
    def unjudged():
        return open_card(input_schema={"properties": {"title": {"const": "Card"}}})

    def judge_all(place):
        return judge(place.world.queue)

    def other(place):
        return place.world.set(input_schema={"properties": {"title": {"const": "x"}}})

    for place, _, _ in meet(order, unjudged, judge_all, other):
        assert place.world.ask().card is None
        assert card_row(place.card).fits is False


def test_eight_claimers_released_at_once_thirty_times(transactional_db):
    """Case 1 again, as it happens: none is stopped."""
    world = a_world()
    for _ in range(30):
        card = world.add()
        answers = together(*[world.ask] * 8)
        assert [bool(one.card) for one in answers].count(True) == 1
        assert card_row(card).attempts == 1
    assert_sound(world.workspace.pk)
