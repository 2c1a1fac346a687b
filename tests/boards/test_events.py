"""The feed: every change once, in an order that no late commit can spoil."""

import threading
from time import monotonic, sleep

import pytest

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
from tests.connections import held_open, outcome, start, together

pytestmark = pytest.mark.django_db(transaction=True)
PATIENCE = 30
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
    everything(world, OF_A_WORLD)
    begin = read(world).cursor
    with held_open(lambda: world.add("Slow", column=world.done)) as slow:
        # Waits for no lock of the slow one.
        edit_board(world.owner, board_id=world.board, name="Quick")
        assert Event.objects.filter(type=names.BOARD_UPDATED).count() == 1
        seen = read(world, after=begin)
        assert (seen.items, seen.cursor) == ([], begin)
        slow.commit()
    found = everything(world, OF_A_WORLD + 2)
    assert [one.type for one in found[-2:]] == [
        names.CARD_CREATED,
        names.BOARD_UPDATED,
    ]
    new = read(world, after=begin)
    assert [one.id for one in new.items] == [one.id for one in found[-2:]]


def test_a_rolled_back_change_leaves_no_event(world):
    with held_open(world.add):
        pass
    assert Event.objects.filter(board_id=world.board).count() == OF_A_WORLD


def test_a_reader_that_polls_while_many_write_misses_nothing_and_sees_nothing_twice(
    world,
):
    over = threading.Event()

    def poll():
        seen, cursor = [], ""
        while True:
            last_round = over.is_set()
            page = read(world, after=cursor, limit=7)
            seen += [one.id for one in page.items]
            cursor = page.cursor
            if last_round and not page.items:
                return seen

    def write():
        for number in range(15):
            card = world.add(column=world.done)
            edit_card(world.owner, card_id=card, title=f"No. {number}")

    reader = start(poll)
    assert together(write, write, write, write) == [None] * 4
    everything(world, OF_A_WORLD + 4 * 15 * 2)
    over.set()
    seen = outcome(reader)
    stored = Event.objects.filter(board_id=world.board).values_list("pk", flat=True)
    assert len(seen) == len(set(seen))
    assert set(seen) == set(stored)
