"""People move, archive, delete and switch, while a worker finishes."""

from functools import partial

import pytest

from accounts.errors import Conflict, NotFound
from boards.errors import CardHeld, ColumnNotEmpty
from boards.models import Card, Column
from boards.reads import columns
from boards.verbs.boards import archive_board
from boards.verbs.cards import archive_card, restore_card
from boards.verbs.columns import delete_column, move_column
from boards.verbs.moving import move_card
from boards.verbs.places import Place
from leases.errors import CardsHeld, InvalidContract, LeaseLost
from leases.verbs.complete import complete
from leases.verbs.give_back import fail
from leases.verbs.revoke import free
from leases.verbs.set_contract import Terms, set_contract
from tests.builders import card_row, event_types, receipt
from tests.races.interleaving import meet
from tests.races.places import (
    dead_card,
    held_card,
    lease_state,
    live,
    open_card,
    requeue_it,
)


def finish(place):
    return complete(place.world.worker, **receipt(place.held))


def give_up(place):
    return fail(place.world.worker, **receipt(place.held), requeue=False)


def move(place, *, force=False, **where):
    taken = free(place.world.owner) if force else None
    return move_card(place.world.owner, card_id=place.card, free=taken, **where)


def delete(column):
    def call(place):
        return delete_column(
            place.world.owner,
            board_id=place.world.board,
            column_id=getattr(place.world, column),
        )

    return call


def put(column, **terms):
    def call(place):
        return set_contract(
            place.world.owner,
            board_id=place.world.board,
            column_id=getattr(place.world, column),
            terms=Terms(**terms),
        )

    return call


def test_a_completion_and_a_move_elsewhere(order, known):
    """Case 18: refused, naming the holder, or after the completion."""

    def elsewhere(place):
        return move(place, column_id=place.world.failed)

    held = partial(held_card, known=known)
    for place, done, moved in meet(order, held, finish, elsewhere):
        assert done.card.column_id == place.world.done
        row = card_row(place.card)
        assert row.state == "done"
        if isinstance(moved, CardHeld):
            assert row.column_id == place.world.done
        else:
            assert row.column_id == place.world.failed


def test_a_completion_and_a_move_by_force(order, known):
    def elsewhere(place):
        return move(place, force=True, column_id=place.world.failed)

    held = partial(held_card, known=known)
    for place, done, moved in meet(order, held, finish, elsewhere):
        assert moved == place.card
        row = card_row(place.card)
        assert row.column_id == place.world.failed
        assert row.state == ("" if isinstance(done, LeaseLost) else "done")
        assert (lease_state(place) == "revoked") == isinstance(done, LeaseLost)


def test_a_card_that_its_worker_has_moved_on_is_not_pulled_back_by_a_reorder(
    order, known
):
    def to_the_top(place):
        return move_card(place.world.owner, card_id=place.card, place=Place(end="top"))

    held = partial(held_card, known=known)
    for place, done, moved in meet(order, held, finish, to_the_top):
        row = card_row(place.card)
        assert (row.column_id, row.state) == (place.world.done, "done")
        assert done.card.state == "done"
        assert moved == place.card or isinstance(moved, Conflict)


def test_a_completion_and_archiving(order, known):
    def archive(place):
        return archive_card(place.world.owner, card_id=place.card)

    held = partial(held_card, known=known)
    for place, done, archived in meet(order, held, finish, archive):
        assert done.card.state == "done"
        refused = isinstance(archived, CardHeld)
        assert (card_row(place.card).archived_at is None) == refused


def test_a_completion_and_archiving_by_force(order, known):
    def archive(place):
        return archive_card(
            place.world.owner, card_id=place.card, free=free(place.world.owner)
        )

    held = partial(held_card, known=known)
    for place, done, _ in meet(order, held, finish, archive):
        row = card_row(place.card)
        assert row.archived_at is not None
        assert row.state == ("open" if isinstance(done, LeaseLost) else "done")


def test_a_completion_and_archiving_the_board_by_force(order, known):
    def archive(place):
        return archive_board(
            place.world.owner, board_id=place.world.board, free=free(place.world.owner)
        )

    held = partial(held_card, known=known)
    for place, done, _ in meet(order, held, finish, archive):
        assert live(place.world) == 0
        assert isinstance(done, Conflict) or done.card.state == "done"


@pytest.mark.parametrize(
    ("end", "column", "known"),
    [(finish, "done", False), (finish, "done", True), (give_up, "failed", False)],
)
def test_the_destination_is_deleted_while_the_card_is_on_its_way(
    order, end, column, known
):
    held = partial(held_card, known=known)
    for place, ended, deleted in meet(order, held, end, delete(column)):
        there = getattr(place.world, column)
        if isinstance(deleted, ColumnNotEmpty):
            assert ended.card.column_id == there
        else:
            assert ended.card.column_id == place.world.queue
        assert Column.objects.get(pk=card_row(place.card).column_id).archived_at is None


def test_a_column_is_deleted_while_a_card_is_made_there(order):
    def add(place):
        return place.world.add(column=place.world.done)

    for _, made, deleted in meet(order, open_card, add, delete("done")):
        assert isinstance(made, NotFound) != isinstance(deleted, ColumnNotEmpty)


def test_a_column_is_deleted_while_a_card_is_moved_there(order):
    def there(place):
        return move(place, column_id=place.world.done)

    for _, moved, deleted in meet(order, open_card, there, delete("done")):
        assert isinstance(moved, NotFound) != isinstance(deleted, ColumnNotEmpty)


def test_a_column_is_deleted_while_a_card_is_restored_there(order):
    def archived():
        place = open_card()
        place.card = place.world.add(column=place.world.done)
        archive_card(place.world.owner, card_id=place.card)
        return place

    def restore(place):
        return restore_card(place.world.owner, card_id=place.card)

    for _, restored, deleted in meet(order, archived, restore, delete("done")):
        assert isinstance(restored, Conflict) != isinstance(deleted, ColumnNotEmpty)


def test_two_columns_are_deleted_each_into_the_other(order):
    def two_full_columns():
        place = open_card()
        for column in (place.world.done, place.world.failed):
            place.world.add(column=column)
        return place

    def into(column, target):
        def call(place):
            return delete_column(
                place.world.owner,
                board_id=place.world.board,
                column_id=getattr(place.world, column),
                move_cards_to=getattr(place.world, target),
            )

        return call

    for _, one, two in meet(
        order, two_full_columns, into("done", "failed"), into("failed", "done")
    ):
        assert isinstance(one, NotFound) != isinstance(two, NotFound)


def test_a_queue_is_switched_off_and_deleted_while_a_card_is_requeued(order):
    def off_and_gone(place):
        place.world.set(enabled=False)
        return delete("queue")(place)

    for _, requeued, deleted in meet(order, dead_card, requeue_it, off_and_gone):
        refused = isinstance(requeued, Conflict)
        assert refused != isinstance(deleted, ColumnNotEmpty)


@pytest.mark.parametrize(
    ("end", "known"), [(finish, False), (finish, True), (give_up, False)]
)
def test_the_queue_is_switched_off_while_a_card_is_ended(order, end, known):
    def off(place):
        return place.world.set(enabled=False)

    held = partial(held_card, known=known)
    for place, ended, switched in meet(order, held, end, off):
        assert ended.card.state in ("done", "failed")
        assert isinstance(switched, CardsHeld) or live(place.world) == 0


def test_the_queue_is_switched_off_by_force_while_a_card_fails(order):
    def off(place):
        return place.world.set(enabled=False, force=True)

    def try_again(place):
        return fail(place.world.worker, **receipt(place.held))

    for place, failed, _ in meet(order, held_card, try_again, off):
        assert card_row(place.card).state == ""
        assert (lease_state(place) == "revoked") == isinstance(failed, LeaseLost)


def test_the_destination_becomes_a_queue_while_the_card_is_on_its_way(order, known):
    held = partial(held_card, known=known)
    for place, _, _ in meet(order, held, finish, put("done", enabled=True)):
        row = card_row(place.card)
        assert (row.column_id, row.state) == (place.world.done, "open")


def test_the_destination_stops_being_a_queue_while_the_card_is_on_its_way(order, known):
    def pipeline():
        place = held_card(known=known)
        put("done", enabled=True)(place)
        return place

    for place, _, _ in meet(order, pipeline, finish, put("done", enabled=False)):
        row = card_row(place.card)
        assert row.column_id == place.world.done
        assert row.state in ("", "done")


def test_the_destination_gets_a_schema_while_the_card_is_on_its_way(order, known):
    schema = {"properties": {"title": {"const": "Other"}}}

    def pipeline():
        place = held_card(known=known)
        put("done", enabled=True)(place)
        return place

    checking = put("done", enabled=True, input_schema=schema)
    for place, _, _ in meet(order, pipeline, finish, checking):
        assert card_row(place.card).fits is None
        place.world.queue = place.world.done
        assert place.world.ask().card is None


def test_another_destination_is_set_while_the_card_is_on_its_way(order, known):
    def elsewhere(place):
        return place.world.set(on_success_column_id=place.world.failed)

    held = partial(held_card, known=known)
    for place, done, _ in meet(order, held, finish, elsewhere):
        assert done.card.column_id in (place.world.done, place.world.failed)


def test_a_destination_is_deleted_while_a_contract_names_it(order):
    def without_one():
        place = open_card()
        place.world.set(on_success_column_id=None)
        return place

    def name_it(place):
        return place.world.set(on_success_column_id=place.world.done)

    for place, named, deleted in meet(order, without_one, name_it, delete("done")):
        assert deleted == place.world.done
        if not isinstance(named, InvalidContract):
            held = place.world.claim()
            ended = complete(place.world.worker, **receipt(held))
            assert ended.card.column_id == place.world.queue


def test_two_moves_of_one_card(order):
    def here(place):
        return move(place, column_id=place.world.done)

    def there(place):
        return move(place, column_id=place.world.failed)

    for place, _, _ in meet(order, open_card, here, there):
        assert event_types(place.card).count("card.moved") == 2


def test_two_moves_to_one_place(order):
    def three():
        place = open_card()
        place.a, place.b = place.world.add_many(2)
        return place

    def before_first(name):
        def call(place):
            return move_card(
                place.world.owner,
                card_id=getattr(place, name),
                place=Place(before=place.card),
            )

        return call

    for place, _, _ in meet(order, three, before_first("a"), before_first("b")):
        shown = place.world.shown()
        assert shown[2] == place.card
        assert set(shown) == {place.a, place.b, place.card}


def test_two_moves_of_columns_to_one_place(order):
    def to_the_left(column):
        def call(place):
            return move_column(
                place.world.owner,
                board_id=place.world.board,
                column_id=getattr(place.world, column),
                place=Place(end="top"),
            )

        return call

    for place, _, _ in meet(
        order, open_card, to_the_left("done"), to_the_left("failed")
    ):
        found = columns(place.world.owner, board_id=place.world.board)
        assert found[2].id == place.world.queue
        positions = Column.objects.filter(board=place.world.board)
        assert positions.values("position").distinct().count() == 3


def test_cards_made_at_once_have_their_own_numbers_and_places(order):
    def add(place):
        return place.world.add_many(3)

    for place, one, two in meet(order, open_card, add, add):
        rows = Card.objects.filter(pk__in=one + two)
        assert rows.values("number").distinct().count() == 6
        assert place.world.shown() in (
            [place.card, *one, *two],
            [place.card, *two, *one],
        )


def test_two_contracts_at_once(order):
    def first(place):
        return place.world.set(concurrency_limit=3)

    def second(place):
        return put("queue", enabled=True, concurrency_limit=5)(place)

    for place, one, two in meet(order, open_card, first, second):
        assert {one.version, two.version} == {2, 3}
        place.world.add_many(9)
        latest = one if one.version == 3 else two
        assert len(place.world.claim_all()) == latest.concurrency_limit


def test_two_queues_of_one_name(order):
    def named(column):
        return put(column, enabled=True, queue="reports")

    for _, one, two in meet(order, open_card, named("done"), named("failed")):
        assert isinstance(one, InvalidContract) != isinstance(two, InvalidContract)
