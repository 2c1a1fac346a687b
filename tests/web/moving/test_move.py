"""Moving a card from the board: what the page is told, what a form leads to."""

import pytest
from django.contrib.messages import get_messages

from accounts.roles import BoardRole, WorkspaceRole
from boards.verbs.boards import set_board_member
from boards.verbs.moving import move_card
from tests.builders import a_person, a_world, card_row, lease_row
from tests.web.moving.conftest import at_the_board, told


@pytest.fixture
def wall_column(world):
    return world.column("Review")


def test_a_script_gets_the_card_as_it_is_now_and_a_way_back(world, person, wall_column):
    first, card, _ = (world.add(f"Card {i}") for i in range(3))
    answer = person.script(f"/cards/{card}/move", column=wall_column, version=1)
    assert answer.status_code == 200
    assert f'data-into="{wall_column}"' in answer.content.decode()
    assert f'id="card-{card}"' in answer.content.decode()
    undo = told(answer)["undoable"]
    assert undo["text"] == "Moved to Review"
    assert undo["fields"] == {
        "version": 2,
        "column": str(world.queue),
        "after": str(first),
    }
    assert answer["HX-Reswap"] == "none"


@pytest.mark.parametrize("which", [0, 1, 2])
def test_undo_brings_the_card_back_to_its_place(world, person, wall_column, which):
    cards = [world.add(f"Card {i}") for i in range(3)]
    answer = person.script(f"/cards/{cards[which]}/move", column=wall_column)
    undo = told(answer)["undoable"]
    person.client.post(undo["url"], undo["fields"], headers={"HX-Request": "true"})
    assert world.shown() == cards


@pytest.mark.parametrize("number", [1, 60])
def test_moving_costs_the_same_among_few_and_many(
    world, person, wall_column, number, django_assert_max_num_queries
):
    card, *_ = world.add_many(number)
    with django_assert_max_num_queries(25):
        person.script(f"/cards/{card}/move", column=wall_column)


def test_a_card_is_put_before_after_and_at_the_ends(world, person):
    a, b, c = (world.add(name) for name in "abc")
    person.script(f"/cards/{c}/move", column=world.queue, before=a)
    assert world.shown() == [c, a, b]
    person.script(f"/cards/{c}/move", column=world.queue, after=a)
    assert world.shown() == [a, c, b]
    person.script(f"/cards/{b}/move", column=world.queue, position="top")
    assert world.shown() == [b, a, c]
    person.script(f"/cards/{b}/move", column=world.queue, position="bottom")
    assert world.shown() == [a, c, b]


def test_the_loser_hears_where_the_winner_has_put_it(world, person, wall_column):
    card = world.add()
    move_card(world.owner, card_id=card, column_id=world.failed)
    answer = person.script(f"/cards/{card}/move", column=wall_column, version=1)
    assert answer.status_code == 412
    assert "Needs attention now" in told(answer)["toast"]["text"]
    assert card_row(card).column_id == world.failed
    plain = person.form(f"/cards/{card}/move", column=wall_column, version=1)
    assert plain["Location"] == f"/boards/{world.board}#card-{card}"


def test_a_held_card_is_asked_about_and_taken_away_when_told_so(
    world, person, wall_column
):
    world.add("<b>bold</b>")
    held = world.claim()
    path = f"/cards/{held.card.id}/move"
    before = card_row(held.card.id).version
    answer = person.script(path, column=wall_column, position="top")
    assert answer.status_code == 409
    question = answer.content.decode()
    assert f"@{held.lease.holder.handle}" in question
    assert 'name="force"' in question
    assert f'name="column" value="{wall_column}"' in question
    assert 'name="position" value="top"' in question
    assert f'name="version" value="{before}"' in question
    assert "&lt;b&gt;bold" in question
    assert lease_row(held.lease.id).state == "active"
    page = person.form(path, column=wall_column)
    assert page.status_code == 409
    assert "<html" in page.content.decode()
    forced = person.form(path, column=wall_column, version=before, force="on")
    assert forced.status_code == 302
    assert lease_row(held.lease.id).state == "revoked"
    assert card_row(held.card.id).column_id == wall_column


def test_the_notice_explains_a_drop_that_the_order_undoes(world, person):
    card = world.add()
    answer = person.script(
        f"/cards/{card}/move", column=world.queue, position="top", disordered="on"
    )
    assert "higher priority" in told(answer)["undoable"]["text"]


def test_the_menu_is_a_form_for_every_column(world, person, wall_column):
    card = world.add()
    path = f"/cards/{card}/move"
    part = person.ask(path).content.decode()
    for column in (world.queue, world.done, world.failed, wall_column):
        assert f'name="column" value="{column}"' in part
    assert "<html" not in part
    page = person.client.get(person.board + path).content.decode()
    assert "<html" in page
    answer = person.form(path, column=wall_column, position="top", version=1)
    assert answer["Location"] == f"/boards/{world.board}#card-{card}"
    assert [str(m) for m in get_messages(answer.wsgi_request)] == ["Moved to Review"]


def test_nonsense_is_refused_and_changes_nothing(world, person):
    card, other = world.add(), world.add()
    for fields in (
        {"column": "nonsense"},
        {"column": world.queue, "before": other, "after": other},
        {"column": world.queue, "position": "middle"},
    ):
        answer = person.script(f"/cards/{card}/move", **fields)
        assert answer.status_code == 422
        assert told(answer)["toast"]["problem"]
    assert card_row(card).version == 1


def test_a_viewer_may_not_and_a_stranger_finds_nothing(world, wall_column):
    card = world.add()
    path, fields = f"/cards/{card}/move", {"column": wall_column}
    viewer = a_person(world.workspace, WorkspaceRole.MEMBER)
    set_board_member(
        world.owner, board_id=world.board, handle=viewer.handle, role=BoardRole.VIEWER
    )
    assert at_the_board(world, viewer).script(path, **fields).status_code == 403
    stranger = at_the_board(world, a_world().owner)
    assert stranger.script(path, **fields).status_code == 404
    elsewhere = at_the_board(world)
    elsewhere.board = f"/boards/{a_world().board}"
    assert elsewhere.script(path, **fields).status_code == 404
    assert card_row(card).version == 1


@pytest.mark.parametrize("verb", ["move", "archive"])
def test_whoever_takes_a_card_away_hears_that_undo_gives_no_lease_back(
    world, person, wall_column, verb
):
    world.add()
    held = world.claim()
    said = {"column": wall_column} if verb == "move" else {}
    answer = person.script(f"/cards/{held.card.id}/{verb}", force="on", **said)
    text = told(answer)["undoable"]["text"]
    assert f"{held.lease.holder.name} has lost it" in text
    assert "undoing" in text


@pytest.mark.parametrize("verb", ["move", "archive"])
def test_with_nobody_at_work_nothing_is_lost(world, person, wall_column, verb):
    card = world.add()
    said = {"column": wall_column} if verb == "move" else {}
    answer = person.script(f"/cards/{card}/{verb}", force="on", **said)
    assert "lost" not in told(answer)["undoable"]["text"]
