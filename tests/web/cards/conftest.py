import pytest
from django.test import Client

from accounts.models import Actor
from boards.reads import card as read_card
from tests.builders import World


@pytest.fixture
def person(world: World) -> Client:
    """The owner, signed in, without any script."""
    return signed_in(world.owner)


def signed_in(caller) -> Client:
    client = Client()
    actor = Actor.objects.select_related("user").get(pk=caller.actor_id)
    client.force_login(actor.user)
    return client


def url(world: World, card_id, rest: str = "") -> str:
    return f"/boards/{world.board}/cards/{card_id}{rest}"


def read(world: World, card_id):
    return read_card(world.owner, card_id=card_id)
