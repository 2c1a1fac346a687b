"""The feed: every change once, in an order that no late commit can spoil."""

import threading
from time import monotonic, sleep

import pytest
from django.db import connection, transaction

from accounts.errors import NotFound
from accounts.pages import BadCursor
from accounts.roles import BoardRole
from boards import events as names
from boards.models import Event
from boards.reads import EventFilter, events
from boards.verbs.boards import edit_board
from boards.verbs.cards import archive_card, edit_card
from boards.verbs.comments import add_comment
from boards.verbs.moving import move_card
from leases.verbs.complete import complete
from tests.builders import a_world, receipt

pytestmark = pytest.mark.django_db(transaction=True)
PATIENCE = 20
# The board, its three columns, the contract.
OF_A_WORLD = 5


@pytest.fixture
def world(transactional_db):
    return a_world()


def read(world, by=None, after="", limit=100, **wanted):
    return events(by or world.owner, EventFilter(**wanted), after=after, limit=limit)


def everything(world, number, **options):
    """All pages, as soon as there are so many events (tests beside this one may have a
    transaction open in the same server, which holds the feed back)."""
    deadline = monotonic() + PATIENCE
    while True:
        found, after = [], ""
        while True:
            page = read(world, after=after, **options)
            found += page.items
            after = page.cursor
            if not page.next_page_token:
                break
        if len(found) >= number:
            return found
        assert monotonic() < deadline, f"{len(found)} events, not {number}"
        sleep(0.05)


def test_every_change_of_a_card_is_there_in_its_order(world):
    card = world.add()
    edit_card(world.owner, card_id=card, title="New")
    add_comment(world.worker, card_id=card, text="Hi")
    complete(world.worker, **receipt(world.claim()))
    move_card(world.owner, card_id=card, column_id=world.failed)
    archive_card(world.owner, card_id=card)
    found = everything(world, 7, card_id=card)
    assert [one.type for one in found] == [
        names.CARD_CREATED,
        names.CARD_UPDATED,
        names.CARD_COMMENTED,
        names.LEASE_CLAIMED,
        names.LEASE_COMPLETED,
        names.CARD_MOVED,
        names.CARD_ARCHIVED,
    ]
    assert [one.sequence for one in found] == [1, 2, 3, 4, 5, 6, 7]
    assert found[3].actor.handle == world.worker.handle
    assert found[4].lease_id == found[3].lease_id


def test_a_cursor_goes_on_where_it_stopped_also_when_nothing_was_new(world):
    everything(world, OF_A_WORLD)
    page = read(world, limit=500)
    nothing = read(world, after=page.cursor)
    assert (nothing.items, nothing.cursor) == ([], page.cursor)
    card = world.add()
    deadline = monotonic() + PATIENCE
    while not (new := read(world, after=nothing.cursor).items):
        assert monotonic() < deadline
    assert [one.card_id for one in new] == [card]
    assert len(everything(world, OF_A_WORLD + 1)) == OF_A_WORLD + 1


def test_pages_of_any_size_give_the_same(world):
    world.add_many(30)
    number = OF_A_WORLD + 30
    whole = everything(world, number)
    for limit in (1, 7, number - 1, number):
        assert everything(world, number, limit=limit) == whole


def test_types_can_be_named_and_matched(world):
    world.add_many(2)
    complete(world.worker, **receipt(world.claim()))
    found = everything(world, 2, types=("card.lease.*",))
    assert [one.type for one in found] == [names.LEASE_CLAIMED, names.LEASE_COMPLETED]
    found = everything(world, 3, types=("card.created", "card.lease.claimed"))
    assert len(found) == 3
    assert everything(world, 0, types=("card.lease",)) == []


def test_one_sees_the_events_of_the_boards_that_one_sees(world):
    other = a_world()
    ours = everything(world, OF_A_WORLD)
    theirs = everything(other, OF_A_WORLD)
    assert {one.board_id for one in ours} == {world.board}
    assert {one.board_id for one in theirs} == {other.board}
    with pytest.raises(NotFound):
        read(other, board_id=world.board)
    assert read(world, by=world.worker, board_id=world.board).items
    edit_board(world.owner, board_id=world.board, default_role=None)
    with pytest.raises(NotFound):
        read(world, by=world.worker, board_id=world.board)
    assert read(world, by=world.worker).items == []
    edit_board(world.owner, board_id=world.board, default_role=BoardRole.VIEWER)
    assert read(world, by=world.worker).items


@pytest.mark.parametrize("after", ["x", "WzFd", "bnVsbA"])
def test_a_cursor_that_is_not_ours_is_refused(world, after):
    with pytest.raises(BadCursor):
        read(world, after=after)


def test_a_transaction_that_commits_late_is_not_jumped_over(world):
    """Two connections; the one that wrote first commits last."""
    start = read(world, limit=500).cursor
    written, may_end = threading.Event(), threading.Event()
    slow_card = []

    def slow():
        try:
            with transaction.atomic():
                slow_card.append(world.add("Slow", column=world.done))
                written.set()
                may_end.wait(PATIENCE)
        finally:
            connection.close()

    thread = threading.Thread(target=slow)
    thread.start()
    assert written.wait(PATIENCE)
    try:
        quick = edit_and_return(world)
        seen = read(world, after=start, limit=500)
        assert quick not in [one.id for one in seen.items]
        middle = seen.cursor or start
    finally:
        may_end.set()
        thread.join()
    deadline = monotonic() + PATIENCE
    while len(new := read(world, after=middle, limit=500).items) < 2:
        assert monotonic() < deadline, new
        sleep(0.05)
    assert [one.card_id for one in new] == [slow_card[0], None]
    assert new[1].id == quick


def edit_and_return(world):
    """A quick change that waits for no lock of the slow one; its event's id."""
    edit_board(world.owner, board_id=world.board, name="Quick")
    return Event.objects.filter(board_id=world.board).order_by("id").last().pk


def test_a_rolled_back_change_leaves_no_event(world):
    before = Event.objects.count()
    with pytest.raises(RuntimeError), transaction.atomic():
        world.add()
        raise RuntimeError
    assert Event.objects.count() == before


def test_a_reader_that_polls_while_many_write_misses_nothing_and_sees_nothing_twice(
    world,
):
    seen, stop = [], threading.Event()

    def poll():
        cursor = ""
        try:
            while True:
                last_round = stop.is_set()
                page = read(world, after=cursor, limit=7)
                seen.extend(one.id for one in page.items)
                cursor = page.cursor
                if last_round and not page.items:
                    return
        finally:
            connection.close()

    def write(number):
        try:
            for _ in range(15):
                card = world.add(column=world.done)
                edit_card(world.owner, card_id=card, title=f"By {number}")
        finally:
            connection.close()

    reader = threading.Thread(target=poll)
    writers = [threading.Thread(target=write, args=(n,)) for n in range(4)]
    reader.start()
    for thread in writers:
        thread.start()
    for thread in writers:
        thread.join()
    everything(world, Event.objects.filter(board_id=world.board).count())
    stop.set()
    reader.join()
    stored = Event.objects.filter(board_id=world.board).values_list("pk", flat=True)
    assert len(seen) == len(set(seen))
    assert set(seen) == set(stored)
