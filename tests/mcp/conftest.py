"""The world of tests/fixtures.py, seen through the MCP door, in both revisions."""

import pytest

from tests.builders import World
from tests.doors.http import token_of
from tests.mcp.door import REVISIONS, Mcp


@pytest.fixture(params=REVISIONS)
def revision(request) -> str:
    return request.param


@pytest.fixture
def owner(world: World, revision: str) -> Mcp:
    return Mcp(token_of(world.owner), revision)


@pytest.fixture
def worker(world: World, revision: str) -> Mcp:
    return Mcp(token_of(world.worker), revision)
