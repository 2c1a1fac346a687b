"""One line of what is being done: by the holder, or by who works without a lease."""

from datetime import timedelta

import pytest

from accounts.errors import Forbidden, Invalid
from accounts.roles import BoardRole
from boards.errors import CardHeld
from boards.models import Card, ClockTimestamp
from boards.reads import card as read_card
from boards.verbs.boards import set_board_member
from boards.verbs.cards import edit_card
from leases import changes, reads
from leases.errors import LeaseLost
from leases.verbs.activity import set_card_activity, set_lease_activity
from leases.verbs.renew import renew, renew_many
from leases.wall import card_views
from tests.builders import an_agent, card_row, lapse, lease_row, receipt, snapshot


def shown(world, card):
    (view,) = card_views("NOV", [card])
    return view.doing, view.doing_by.handle if view.doing_by else None


@pytest.fixture
def held(world):
    world.add()
    return world.claim()


def test_a_heartbeat_may_say_how_it_stands(world, held):
    renew(world.worker, **receipt(held), doing="Page 3\n  of 7")
    lease = reads.lease(world.worker, lease_id=held.lease.id)
    assert lease.doing == "Page 3 of 7"
    assert lease.doing_at
    renew(world.worker, **receipt(held))
    assert lease_row(held.lease.id).doing == "Page 3 of 7"
    renew_many(
        world.worker,
        receipts={held.lease.id: held.lease_token},
        doings={held.lease.id: ""},
    )
    assert lease_row(held.lease.id).doing == ""


def test_it_can_be_said_between_heartbeats_in_silence(world, held):
    before = snapshot(world)
    said = set_lease_activity(world.worker, **receipt(held), doing="Reading")
    assert (said.doing, said.by.handle) == ("Reading", world.worker.handle)
    after = snapshot(world)
    (old,), (new,) = before.pop("leases"), after.pop("leases")
    assert {key for key in old if old[key] != new[key]} == {"doing", "doing_at"}
    assert after == before
    assert shown(world, held.card.id) == ("Reading", world.worker.handle)
    assert changes.doings([world.board]) == {held.card.id: "Reading"}


def test_who_has_lost_the_card_says_nothing(world, held):
    lapse(held)
    with pytest.raises(LeaseLost):
        set_lease_activity(world.worker, **receipt(held), doing="Reading")
    assert lease_row(held.lease.id).doing == ""


def test_without_a_lease_the_last_one_wins(world):
    card, other = world.add(), an_agent(world.workspace)
    before = snapshot(world)
    set_card_activity(world.worker, card_id=card, doing="Looking")
    set_card_activity(other, card_id=card, doing="Looking too")
    after = snapshot(world)
    (old,), (new,) = before.pop("cards"), after.pop("cards")
    assert {key for key in old if old[key] != new[key]} == {
        "doing",
        "doing_at",
        "doing_by_id",
        "doing_version",
    }
    assert after == before
    assert shown(world, card) == ("Looking too", other.handle)
    assert read_card(world.owner, card_id=card).doing == "Looking too"
    assert changes.doings([world.board]) == {card: "Looking too"}


def test_it_is_stale_after_ten_minutes(world):
    card = world.add()
    set_card_activity(world.worker, card_id=card, doing="Looking")
    Card.objects.filter(pk=card).update(
        doing_at=ClockTimestamp() - timedelta(minutes=10)
    )
    assert shown(world, card) == ("", None)
    assert changes.doings([world.board]) == {}


def test_the_next_change_of_the_card_ends_it(world):
    for change in (lambda card: edit_card(world.owner, card_id=card, title="Other"),):
        card = world.add()
        set_card_activity(world.worker, card_id=card, doing="Looking")
        change(card)
        assert shown(world, card) == ("", None)
        assert changes.doings([world.board]) == {}


def test_a_claim_ends_it(world):
    card = world.add()
    set_card_activity(world.owner, card_id=card, doing="Looking")
    world.claim()
    assert shown(world, card) == ("", world.worker.handle)


def test_on_a_held_card_only_its_holder_says_something(world, held):
    with pytest.raises(CardHeld):
        set_card_activity(world.owner, card_id=held.card.id, doing="Mine")
    set_card_activity(world.worker, card_id=held.card.id, doing="Mine")
    assert lease_row(held.lease.id).doing == "Mine"
    assert card_row(held.card.id).doing == ""


def test_it_is_one_line_by_who_may_edit(world, held):
    with pytest.raises(Invalid):
        renew(world.worker, **receipt(held), doing="x" * 201)
    with pytest.raises(Invalid):
        set_card_activity(world.worker, card_id=world.add(), doing="x" * 201)
    set_board_member(
        world.owner,
        board_id=world.board,
        handle=world.worker.handle,
        role=BoardRole.COMMENTER,
    )
    with pytest.raises(Forbidden):
        set_card_activity(world.worker, card_id=world.add(), doing="Looking")
