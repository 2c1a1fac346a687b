"""What a manager sets on a column and on a board, by forms alone."""

import pytest

from accounts.roles import WorkspaceRole
from boards.models import Event
from boards.reads import board as read_board
from boards.reads import column as read_column
from boards.reads import columns as read_columns
from boards.verbs.clearing import archive_cards
from boards.verbs.columns import delete_column
from tests.builders import a_person, card_row, event_types
from tests.web.cards.conftest import signed_in
from tests.web.columns.conftest import url


def _names(world):
    return [one.name for one in read_columns(world.owner, board_id=world.board)]


def test_name_colour_and_limit_are_saved(world, person):
    fields = {"name": " Writing ", "color": "teal", "wip_limit": "7"}
    person.post(url(world, "/settings"), fields)
    found = read_column(world.owner, board_id=world.board, column_id=world.queue)
    assert (found.name, found.color, found.wip_limit) == ("Writing", "teal", 7)
    person.post(url(world, "/settings"), {"name": "Writing", "wip_limit": ""})
    found = read_column(world.owner, board_id=world.board, column_id=world.queue)
    assert (found.color, found.wip_limit) == ("", None)


@pytest.mark.parametrize(
    "fields", [{"name": ""}, {"name": "\u200b"}, {"name": "A", "wip_limit": "0"}]
)
def test_what_does_not_fit_is_said_at_its_field(world, person, fields):
    answer = person.post(url(world, "/settings"), fields)
    assert answer.status_code == 422
    assert 'class="error"' in answer.content.decode()
    assert _names(world)[0] == "Drafting"


def test_columns_change_places_and_stop_at_the_ends(world, person):
    person.post(url(world, "/move"), {"to": "right"})
    assert _names(world) == ["Done", "Drafting", "Needs attention"]
    person.post(url(world, "/move"), {"to": "right"})
    person.post(url(world, "/move"), {"to": "right"})
    assert _names(world) == ["Done", "Needs attention", "Drafting"]
    person.post(url(world, "/move"), {"to": "left"})
    assert _names(world) == ["Done", "Drafting", "Needs attention"]


def test_a_column_is_added_and_deleted_with_a_place_for_its_cards(world, person):
    person.post(f"/boards/{world.board}/columns", {"name": "Ideas"})
    assert _names(world)[-1] == "Ideas"
    ideas = read_columns(world.owner, board_id=world.board)[-1].id
    card = world.add(column=ideas)
    person.post(url(world, "/delete", ideas))
    assert "Ideas" in _names(world)
    person.post(url(world, "/delete", ideas), {"move_cards_to": world.done})
    assert "Ideas" not in _names(world)
    assert card_row(card).column_id == world.done


def test_all_cards_are_archived_each_with_its_event(world, person):
    cards = world.add_many(3)
    other = world.add(column=world.done)
    person.post(url(world, "/archive-cards"))
    assert all(card_row(card).archived_at for card in cards)
    assert card_row(other).archived_at is None
    for card in cards:
        assert event_types(card) == ["card.created", "card.archived"]
        assert card_row(card).version == 2


def test_cards_being_worked_on_are_archived_only_when_said_so(world, person):
    first, second = world.add_many(2)
    world.claim()
    page = person.get(url(world, "/settings")).content.decode()
    assert f"@{world.worker.handle}" in page
    person.post(url(world, "/archive-cards"))
    assert card_row(first).archived_at is None
    assert card_row(second).archived_at is None
    person.post(url(world, "/archive-cards"), {"force": "1"})
    assert card_row(first).archived_at
    assert event_types(first)[-2:] == ["card.lease.revoked", "card.archived"]
    sequences = Event.objects.filter(card_id=first).values_list("sequence", flat=True)
    assert sorted(sequences) == list(range(1, len(sequences) + 1))


def test_archiving_nothing_is_fine(world):
    assert archive_cards(world.owner, board_id=world.board, column_id=world.done) == 0


def test_a_board_is_renamed_made_private_archived_and_restored(world, person):
    here = f"/boards/{world.board}"
    person.post(f"{here}/settings", {"name": "News", "default_role": ""})
    found = read_board(world.owner, board_id=world.board)
    assert (found.name, found.default_role) == ("News", None)
    person.post(f"{here}/archive")
    assert read_board(world.owner, board_id=world.board).archived_at
    assert "Restore" in person.get(f"{here}/settings").content.decode()
    person.post(f"{here}/restore")
    assert read_board(world.owner, board_id=world.board).archived_at is None


@pytest.mark.parametrize("rest", ["/move", "/archive-cards", "/delete", "/pause"])
def test_editors_set_nothing(world, rest):
    world.add()
    editor = signed_in(a_person(world.workspace, WorkspaceRole.MEMBER))
    before = _names(world)
    fields = {"to": "right", "move_cards_to": world.done}
    answer = editor.post(url(world, rest), fields, headers={"HX-Request": "true"})
    assert answer.status_code == 403
    assert _names(world) == before


def test_a_deleted_column_has_no_settings(world, person):
    gone = world.column("Gone")
    delete_column(world.owner, board_id=world.board, column_id=gone)
    assert person.get(url(world, "/settings", gone)).status_code == 404
