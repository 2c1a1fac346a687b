"""A card opened cold and as a part, by those who may see it and those who may not."""

from uuid import uuid4

from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts.roles import BoardRole, WorkspaceRole
from boards.verbs.boards import create_board, set_board_member
from boards.verbs.cards import archive_card
from boards.verbs.columns import create_column
from boards.verbs.comments import add_comment
from boards.verbs.moving import move_card
from tests.builders import a_person, a_workspace
from tests.web.cards.conftest import signed_in, url

PART = {"HX-Request": "true"}
HOSTILE = '<img src=x onerror="alert(1)"><script>alert(2)</script>'


def test_a_card_opened_cold_is_a_whole_page_with_the_way_back(world, person):
    card = world.add("Compare three tools")
    page = person.get(url(world, card)).content.decode()
    assert "<!doctype html>" in page
    assert "Compare three tools" in page
    assert f'href="/boards/{world.board}"' in page


def test_a_script_gets_the_sheet_alone(world, person):
    card = world.add("Compare three tools")
    part = person.get(url(world, card), headers=PART).content.decode()
    assert "<html" not in part
    assert f'data-sheet="{card}"' in part


def test_a_card_that_went_to_another_board_is_found_there(world, person):
    card = world.add()
    other = create_board(world.owner, name="Other")
    there = create_column(world.owner, board_id=other, name="There")
    move_card(world.owner, card_id=card, column_id=there)
    answer = person.get(url(world, card))
    assert answer.headers["Location"] == f"/boards/{other}/cards/{card}"


def test_what_cannot_be_seen_is_not_found(world, person):
    card = world.add()
    stranger = signed_in(a_person(a_workspace()))
    assert stranger.get(url(world, card)).status_code == 404
    assert person.get(url(world, uuid4())).status_code == 404


def test_a_viewer_reads_everything_and_has_no_button_to_change_it(world):
    card = world.add("Only to read", description="**Bold**")
    viewer = a_person(world.workspace, WorkspaceRole.MEMBER)
    set_board_member(
        world.owner,
        board_id=world.board,
        handle=viewer.handle,
        role=BoardRole.VIEWER,
    )
    page = signed_in(viewer).get(url(world, card), headers=PART).content.decode()
    assert "<strong>Bold</strong>" in page
    assert "<form" not in page


def test_an_archived_card_says_so_and_can_be_restored(world, person):
    card = world.add()
    archive_card(world.owner, card_id=card)
    page = person.get(url(world, card)).content.decode()
    assert "Archived" in page
    assert url(world, card, "/restore") in page


def test_no_text_of_people_or_agents_becomes_markup(world, person):
    card = world.add(
        HOSTILE,
        description=HOSTILE,
        labels=["<b>label"],
        properties={"x": HOSTILE},
        payload=[HOSTILE],
    )
    add_comment(world.worker, card_id=card, text=HOSTILE)
    world.claim()
    page = person.get(url(world, card)).content.decode()
    assert "<img src=x" not in page
    assert "<script>alert" not in page
    assert "<b>label" not in page


def test_the_number_of_queries_does_not_grow(world, person):
    few, many = world.add("few"), world.add("many")
    for i in range(20):
        add_comment(world.owner, card_id=many, text=f"Comment {i}")
    counts = []
    for card in (few, few, many):
        with CaptureQueriesContext(
            connection,
        ) as seen:
            person.get(url(world, card), headers=PART)
        counts.append(len(seen))
    assert counts[1] == counts[2] <= 25
