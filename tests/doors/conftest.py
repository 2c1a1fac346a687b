"""The world of tests/fixtures.py, seen through the REST door."""

import pytest

from tests.builders import World
from tests.doors.http import Http, door_of


@pytest.fixture
def owner(world: World) -> Http:
    return door_of(world.owner)


@pytest.fixture
def worker(world: World) -> Http:
    return door_of(world.worker)


@pytest.fixture
def queue(world: World) -> str:
    """The path of the world's queue."""
    return f"/v1/boards/{world.board}/columns/{world.queue}"
