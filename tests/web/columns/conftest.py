import pytest
from django.test import Client

from tests.builders import World
from tests.web.cards.conftest import signed_in


@pytest.fixture
def person(world: World) -> Client:
    return signed_in(world.owner)


def url(world: World, rest: str, column=None) -> str:
    return f"/boards/{world.board}/columns/{column or world.queue}{rest}"
