"""The cards that were put away, and their way back."""

import pytest
from django.test import Client

from accounts.models import Actor
from accounts.roles import BoardRole, WorkspaceRole
from boards.verbs.boards import set_board_member
from boards.verbs.cards import archive_card
from tests.builders import a_person, a_world, card_row

pytestmark = pytest.mark.django_db


def client_of(caller):
    client = Client()
    client.force_login(Actor.objects.get(pk=caller.actor_id).user)
    return client


@pytest.fixture
def address(world):
    return f"/boards/{world.board}/archived"


def test_archived_cards_are_listed_and_come_back(world, address):
    card, kept = world.add("Put <b>away</b>"), world.add("Kept")
    archive_card(world.owner, card_id=card)
    ann = client_of(world.owner)
    page = ann.get(address).content.decode()
    assert "Put &lt;b&gt;away" in page
    assert "Kept" not in page
    restore = f"/boards/{world.board}/cards/{card}/restore"
    back = ann.post(restore, {"next": address}, follow=True).content.decode()
    assert "No card of this board is archived." in back
    assert world.shown() == [kept, card]
    assert card_row(card).archived_at is None


def test_many_come_in_pages(world, address):
    for card in world.add_many(101):
        archive_card(world.owner, card_id=card)
    ann = client_of(world.owner)
    first = ann.get(address)
    assert first.content.decode().count('class="line"') == 100
    token = first.context["next_page"]
    assert ann.get(address, {"page": token}).content.decode().count('class="line"') == 1


def test_those_who_only_look_on_get_no_button_and_strangers_nothing(world, address):
    archive_card(world.owner, card_id=world.add())
    member = a_person(world.workspace, WorkspaceRole.MEMBER)
    set_board_member(
        world.owner, board_id=world.board, handle=member.handle, role=BoardRole.VIEWER
    )
    assert "/restore" not in client_of(member).get(address).content.decode()
    assert client_of(a_world().owner).get(address).status_code == 404
