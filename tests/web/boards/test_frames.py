"""What is pushed: each changed card and head rendered once, whoever watches."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from boards.verbs.cards import archive_card
from leases import changes
from leases.changes import Change
from leases.verbs.activity import set_card_activity
from leases.verbs.complete import complete
from leases.verbs.renew import renew
from leases.wall import CARDS_PER_PAGE
from novum.web.frames import CARDS_PER_FRAME, BoardFrames
from novum.web.hub import encode
from tests.builders import receipt

pytestmark = pytest.mark.django_db


@pytest.fixture
def frames(world):
    return BoardFrames(world.board, world.workspace.pk, world.owner.workspace_key)


def next_of(frames, *card_ids, quiet=False, alive=False, **facts):
    for card_id in card_ids:
        frames.add(Change(frames.board_id, card_id, **facts))
    return frames.next_frame("1:1:", quiet, alive)


def test_nothing_changed_nothing_said(frames):
    assert next_of(frames) is None
    assert next_of(frames, alive=True).cards == []


def test_a_card_that_changed_ten_times_is_rendered_once(world, frames):
    card = world.add("Once & only")
    frame = next_of(frames, *[card] * 10)
    assert [one.id for one in frame.cards] == [card]
    assert "Once &amp; only" in frame.cards[0].html
    assert frame.cards[0].column == world.queue
    assert next_of(frames) is None


def test_the_price_is_the_same_for_one_card_and_for_a_hundred(world, frames):
    few, many = world.add_many(1), world.add_many(100)
    with CaptureQueriesContext(connection) as for_few:
        next_of(frames, *few)
    with CaptureQueriesContext(connection) as for_many:
        assert len(next_of(frames, *many).cards) == 100
    assert len(for_few) == len(for_many)


def test_a_claim_and_a_completion_bring_card_and_heads(world, frames):
    card = world.add()
    held = world.claim()
    frame = next_of(frames, card)
    assert f'data-lease="{held.lease.id}"' in frame.cards[0].html
    assert {one.id for one in frame.heads} == {world.queue, world.done, world.failed}
    complete(world.worker, **receipt(held))
    frame = next_of(frames, card)
    assert frame.cards[0].column == world.done
    # The third column's head is as it was.
    assert {one.id for one in frame.heads} == {world.queue, world.done}


def test_a_count_that_came_back_is_told_for_those_who_saw_it_in_between(world, frames):
    card = world.add()
    next_of(frames, card)
    assert next_of(frames, card).heads == []
    told = {one.id for one in next_of(frames, quiet=True).heads}
    assert told == {world.queue, world.done, world.failed}
    assert next_of(frames, quiet=True) is None


def test_what_is_archived_is_gone(world, frames):
    card = world.add()
    archive_card(world.owner, card_id=card)
    frame = next_of(frames, card)
    assert frame.cards[0].gone
    assert b'"gone":true' in encode(frame).encode()


def test_a_flood_comes_in_pieces_and_the_cursor_only_with_the_last(world, frames):
    cards = world.add_many(CARDS_PER_FRAME + 5)
    first = next_of(frames, *cards)
    assert (len(first.cards), first.cursor) == (CARDS_PER_FRAME, "")
    second = next_of(frames)
    assert (len(second.cards), second.cursor) == (5, "1:1:")


def test_another_layout_brings_the_columns_without_their_cards(world, frames):
    world.add("Not in it")
    later = world.column("Later & last")
    frame = next_of(frames, None, layout=True)
    ids = [one.id for one in frame.layout.columns]
    assert ids == [world.queue, world.done, world.failed, later]
    assert "Later &amp; last" in frame.layout.columns[-1].html
    assert "Later &amp; last" in frame.layout.switcher
    assert "Not in it" not in encode(frame)
    assert not frame.resync
    assert next_of(frames) is None


def test_a_new_contract_brings_the_columns_first_cards_too(world, frames):
    cards = world.add_many(CARDS_PER_PAGE + 5)
    frame = next_of(frames, None, layout=True, column_id=world.queue)
    assert [one.id for one in frame.cards] == cards[:CARDS_PER_PAGE]
    told = {one.id for one in frame.layout.columns if one.reread}
    assert told == {world.queue}


def test_a_board_put_away_is_read_anew(world, frames):
    assert next_of(frames, None, everything=True).resync


def test_a_renewal_is_told_with_the_next_quiet_look_and_only_once(world, frames):
    world.add()
    held = world.claim()
    first = next_of(frames, quiet=True)
    assert [one.id for one in first.leases] == [held.lease.id]
    assert next_of(frames, quiet=True) is None
    renew(world.worker, **receipt(held))
    second = next_of(frames, quiet=True)
    assert second.leases[0].renewals == first.leases[0].renewals + 1
    assert second.cards == []


def test_a_card_that_turned_out_not_to_fit_is_shown_without_an_event(world, frames):
    world.set(input_schema={"required": ["nothing"]})
    next_of(frames, quiet=True)
    card = world.add()
    assert world.ask().card is None
    frame = next_of(frames, quiet=True)
    assert [one.id for one in frame.cards] == [card]
    assert "Doesn't fit" in frame.cards[0].html


@pytest.mark.django_db(transaction=True)
def test_what_is_being_done_is_shown_with_the_next_quiet_look(world, frames):
    card = world.add()
    next_of(frames, quiet=True)
    set_card_activity(world.worker, card_id=card, doing="Looking")
    assert [one.id for one in next_of(frames, quiet=True).cards] == [card]
    assert next_of(frames, quiet=True) is None
    held = world.claim()
    assert [one.id for one in next_of(frames, quiet=True).cards] == [card]
    renew(world.worker, **receipt(held), doing="Page 3")
    assert [one.id for one in next_of(frames, quiet=True).cards] == [card]


def test_a_page_catches_up_from_the_moment_it_was_read(world, frames):
    before = changes.moment()
    card = world.add()
    caught = frames.catch_up(before.snapshot)
    assert [one.id for one in caught.cards] == [card]
    assert not caught.resync
    assert frames.catch_up("nonsense").resync


def test_no_secret_is_in_a_frame(world, frames):
    card = world.add()
    held = world.claim()
    assert held.lease_token not in encode(next_of(frames, card, quiet=True))
