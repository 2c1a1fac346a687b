"""The feed that the pages live on: nothing missed, nothing twice, nobody waited for."""

import pytest
from django.db import DataError

from boards.verbs.boards import archive_board, create_board
from boards.verbs.cards import NewCard, create_card
from boards.verbs.columns import create_column
from boards.verbs.moving import move_card
from leases import changes
from leases.verbs.renew import renew
from tests.builders import World, a_world, receipt
from tests.connections import held_open


@pytest.fixture
def world(transactional_db) -> World:
    return a_world()


def since(world, moment, *others):
    boards = [world.board, *others]
    return changes.since(
        moment.snapshot, workspaces=[world.workspace.pk], boards=boards
    )


def card_ids(found):
    return [change.card_id for change in found]


def test_a_change_comes_once(world):
    before = changes.moment()
    card = world.add()
    found, then = since(world, before)
    assert card_ids(found) == [card]
    found, _ = since(world, then)
    assert found == []


def test_a_transaction_that_commits_late_is_not_missed_and_nobody_waits_for_it(world):
    quick = world.add("Quick")
    start = changes.moment()
    with held_open(lambda: world.add("Slow", column=world.done)) as slow:
        world.claim()
        found, between = since(world, start)
        assert card_ids(found) == [quick]
        slow.commit()
    found, end = since(world, between)
    assert card_ids(found) == [slow.result]
    assert since(world, end)[0] == []


def test_what_is_rolled_back_never_comes(world):
    start = changes.moment()
    with held_open(lambda: world.add("Never")) as slow:
        _, between = since(world, start)
        slow.roll_back()
    assert since(world, between)[0] == []


def test_a_card_that_leaves_for_another_board_is_told_to_both(world):
    card = world.add()
    other = create_board(world.owner, name="Other")
    target = create_column(world.owner, board_id=other, name="There")
    before = changes.moment()
    move_card(world.owner, card_id=card, column_id=target)
    found, _ = since(world, before, other)
    assert {(one.board_id, one.card_id) for one in found} == {
        (world.board, card),
        (other, card),
    }
    found, _ = since(world, before)
    assert card_ids(found) == [card]


def test_other_boards_and_workspaces_are_not_heard(world):
    before = changes.moment()
    stranger = a_world()
    stranger.add()
    other = create_board(world.owner, name="Other")
    column = create_column(world.owner, board_id=other, name="There")
    create_card(
        world.owner, board_id=other, column_id=column, card=NewCard(title="Elsewhere")
    )
    assert since(world, before)[0] == []


def test_a_new_column_changes_the_layout(world):
    before = changes.moment()
    world.column("New")
    found, _ = since(world, before)
    assert [one.layout for one in found] == [True]


def test_a_new_contract_names_the_column_whose_cards_look_otherwise(world):
    before = changes.moment()
    world.set(max_attempts=2)
    found, _ = since(world, before)
    assert [(one.layout, one.column_id) for one in found] == [(True, world.queue)]


def test_a_board_put_away_changes_everything(world):
    before = changes.moment()
    archive_board(world.owner, board_id=world.board)
    found, _ = since(world, before)
    assert [one.everything for one in found] == [True]


def test_a_renewal_is_no_change_but_is_seen_when_looked_for(world):
    world.add()
    held = world.claim()
    (first,) = changes.heartbeats([world.board])
    before = changes.moment()
    renew(world.worker, **receipt(held))
    assert since(world, before)[0] == []
    (second,) = changes.heartbeats([world.board])
    assert second.renewals == first.renewals + 1
    assert second.expires_at > first.expires_at


@pytest.mark.parametrize("snapshot", ["", "x", "1:2", "9:1:", "1; drop table x"])
def test_what_is_no_snapshot_is_refused(world, snapshot):
    with pytest.raises(DataError):
        changes.since(snapshot, workspaces=[world.workspace.pk], boards=[world.board])
