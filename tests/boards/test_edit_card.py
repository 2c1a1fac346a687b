"""Editing a card: what changed, by whom, at which version; also while it's held."""

from datetime import UTC, datetime, timedelta

import pytest

from accounts.errors import Forbidden, Invalid, NotFound
from accounts.roles import BoardRole
from boards.errors import VersionMismatch
from boards.models import Event
from boards.verbs.boards import edit_board
from boards.verbs.cards import edit_card
from leases.verbs.complete import complete
from tests.builders import a_world, card_row, receipt, snapshot


def edit(world, card, by=None, **changes):
    return edit_card(by or world.owner, card_id=card, **changes)


def test_what_is_given_changes_and_the_rest_stays(world):
    card = world.add("Old", description="Text", labels=["a"])
    edit(world, card, title=" New ", labels=["b"], priority=2)
    row = card_row(card)
    assert (row.title, row.description) == ("New", "Text")
    assert (row.labels, row.priority) == (["b"], 2)
    assert (row.version, row.sequence) == (2, 2)


def test_the_event_names_the_fields_that_are_different(world):
    card = world.add("Same", description="Old")
    edit(world, card, title="Same", description="New", priority=1)
    event = Event.objects.get(card_id=card, type="card.updated")
    assert event.data == {"changed": ["description", "priority"]}
    assert event.sequence == 2


def test_nothing_different_is_no_change(world):
    card = world.add("Same", properties={"a": 1}, assignee=world.worker.handle)
    before = snapshot(world)
    edit(world, card, title="Same", properties={"a": 1}, assignee=world.worker.handle)
    assert snapshot(world) == before


def test_a_version_that_is_not_the_present_one_is_refused(world):
    card = world.add()
    edit(world, card, title="Two", version=1)
    before = snapshot(world)
    for version in (1, 3):
        with pytest.raises(VersionMismatch) as refused:
            edit(world, card, title="Three", version=version)
        assert refused.value.facts["version"] == 2
    assert snapshot(world) == before


@pytest.mark.parametrize(
    ("pointer", "changes"),
    [
        ("/title", {"title": ""}),
        ("/priority", {"priority": 7}),
        ("/labels", {"labels": [" "]}),
        ("/assignee", {"assignee": "nobody"}),
        ("/description", {"description": "x" * 100_001}),
    ],
)
def test_what_does_not_fit_is_named_and_nothing_changes(world, pointer, changes):
    card = world.add()
    before = snapshot(world)
    with pytest.raises(Invalid) as refused:
        edit(world, card, **changes)
    assert refused.value.errors[0].pointer == pointer
    assert snapshot(world) == before


def test_a_held_card_can_be_edited_and_stays_held(world):
    card = world.add()
    held = world.claim()
    edit(world, card, title="Better", labels=["x"], assignee=world.owner.handle)
    row = card_row(card)
    assert (row.state, row.lease_id) == ("claimed", held.lease.id)
    assert complete(world.worker, **receipt(held)).card.title == "Better"


def test_an_open_card_can_be_put_off_and_called_back(world):
    card = world.add()
    edit(world, card, not_before=datetime.now(UTC) + timedelta(hours=1))
    assert world.ask().reason == "waiting"
    edit(world, card, not_before=None)
    assert world.claim().card.id == card


def test_only_an_open_card_can_be_put_off(world):
    later = datetime.now(UTC) + timedelta(hours=1)
    plain = world.add(column=world.done)
    held = world.add()
    world.claim()
    for card in (plain, held):
        with pytest.raises(Invalid) as refused:
            edit(world, card, not_before=later)
        assert refused.value.errors[0].pointer == "/not_before"


def test_an_assignee_can_be_taken_off(world):
    card = world.add(assignee=world.owner.handle)
    edit(world, card, assignee=None)
    assert card_row(card).assignee_id is None
    assert world.claim().card.id == card


def test_it_takes_an_editor_who_sees_the_card(world):
    card = world.add()
    edit(world, card, by=world.worker, title="By the worker")
    edit_board(world.owner, board_id=world.board, default_role=BoardRole.COMMENTER)
    with pytest.raises(Forbidden):
        edit(world, card, by=world.worker, title="x")
    edit_board(world.owner, board_id=world.board, default_role=None)
    with pytest.raises(NotFound):
        edit(world, card, by=world.worker, title="x")
    with pytest.raises(NotFound):
        edit(world, card, by=a_world().owner, title="x")
    assert card_row(card).title == "By the worker"


def test_no_card_is_part_of_itself(world):
    top = world.add()
    middle = world.add(parent=top)
    leaf = world.add(parent=middle)
    for parent in (top, middle, leaf):
        with pytest.raises(Invalid) as refused:
            edit_card(world.owner, card_id=top, parent=parent)
        assert refused.value.errors[0].pointer == "/parent"
    edit_card(world.owner, card_id=leaf, parent=top, skills=["SEO"])
    assert (card_row(leaf).parent_id, card_row(leaf).skills) == (top, ["seo"])
    edit_card(world.owner, card_id=leaf, parent=None, skills=[])
    assert (card_row(leaf).parent_id, card_row(leaf).skills) == (None, [])
