"""A person at the board, with scripts and without."""

import json
from dataclasses import dataclass
from typing import Any

import pytest
from django.test import Client

from accounts.callers import Caller
from accounts.models import Actor
from tests.builders import World


@dataclass
class Person:
    """`form` posts as a browser does by itself, `script` as the page's modules do."""

    client: Client
    board: str

    def form(self, path: str, **fields: Any):
        return self.client.post(self.board + path, fields)

    def script(self, path: str, **fields: Any):
        return self.client.post(
            self.board + path, fields, headers={"HX-Request": "true"}
        )

    def ask(self, path: str):
        return self.client.get(self.board + path, headers={"HX-Request": "true"})


def at_the_board(world: World, caller: Caller | None = None) -> Person:
    actor = Actor.objects.select_related("user").get(
        pk=(caller or world.owner).actor_id
    )
    client = Client()
    client.force_login(actor.user)
    return Person(client, f"/boards/{world.board}")


def told(answer) -> dict[str, Any]:
    return json.loads(answer["HX-Trigger"])


@pytest.fixture
def person(world: World) -> Person:
    return at_the_board(world)
