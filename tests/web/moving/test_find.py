"""The command palette's list: what is found, and who finds it."""

import pytest

from accounts.roles import WorkspaceRole
from boards.models import Board
from boards.search import search
from boards.verbs.cards import archive_card
from tests.builders import a_person, a_world, card_row
from tests.web.moving.conftest import at_the_board


def found(world, text, caller=None):
    return {one.id for one in search(caller or world.owner, text=text).cards}


def test_cards_are_found_by_title_and_by_key(world):
    card, other = world.add("Spring newsletter"), world.add("Summer letter")
    number = card_row(card).number
    assert found(world, "NEWS") == {card}
    assert found(world, "letter") == {card, other}
    for key in (f"{world.owner.workspace_key}-{number}", str(number)):
        assert card in found(world, key)
        assert card in found(world, key.lower())
    assert found(world, "9" * 40) == set()
    archive_card(world.owner, card_id=card)
    assert found(world, "news") == set()


def test_nobody_finds_what_they_cannot_see(world):
    world.add("Secret plan")
    assert found(world, "secret", a_world().owner) == set()
    member = a_person(world.workspace, WorkspaceRole.MEMBER)
    assert len(found(world, "secret", member)) == 1
    Board.objects.filter(pk=world.board).update(default_role=None)
    assert found(world, "secret", member) == set()
    assert search(member, text="content").boards == []


@pytest.mark.parametrize("number", [1, 40])
def test_finding_costs_three_statements(world, django_assert_num_queries, number):
    world.add_many(number)
    with django_assert_num_queries(3):
        search(world.owner, text="card")


def test_the_list_offers_actions_of_the_board_only_there(world):
    person = at_the_board(world)
    headers = {"HX-Request": "true"}
    anywhere = person.client.get("/find", headers=headers).content.decode()
    on_board = person.client.get("/find?on=board", headers=headers).content.decode()
    assert 'data-does="new"' in on_board
    assert 'data-does="new"' not in anywhere
    assert "<dialog" in anywhere
    part = person.client.get("/find?q=zzz&part=results", headers=headers)
    assert "zzz" in part.content.decode()
    assert "<dialog" not in part.content.decode()


def test_without_scripts_it_is_a_search_page(world):
    card = world.add("<script>alert(1)</script> plan")
    page = at_the_board(world).client.get("/find?q=plan").content.decode()
    assert f"/boards/{world.board}/cards/{card}" in page
    assert "<script>alert" not in page
