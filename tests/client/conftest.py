from functools import wraps
from inspect import iscoroutinefunction
from pathlib import Path

import pytest
from django.db import connection

from novum_client import Client, worker
from tests.client.network import Network
from tests.client.program import Program
from tests.doors.http import token_of
from tests.processes.fixtures import (
    family,
    serve,
    server,
    shared_server,
    tokens,
    world,
)

__all__ = ["family", "serve", "server", "shared_server", "tokens", "world"]


def pytest_collection_modifyitems(items):
    """Everything in this folder talks to a real server."""
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            item.add_marker(pytest.mark.processes)


@pytest.fixture
def token(world) -> str:
    return token_of(world.worker)


@pytest.fixture
def url(server) -> str:
    host, port = server.address
    return f"http://{host}:{port}"


@pytest.fixture
def client(url, token):
    client = Client(url, token)
    yield client
    client.close()


def closing(function):
    """Leave no connection of the test's own to the database in a worker's thread."""
    if iscoroutinefunction(function):
        return function

    @wraps(function)
    def closed(*arguments):
        try:
            return function(*arguments)
        finally:
            connection.close()

    return closed


@pytest.fixture
def working(client, world):
    """The decorator, for the world's column."""

    def working(**options):
        column = {"board_id": str(world.board), "column_id": str(world.queue)}
        given = {"client": client, "most_pause_seconds": 0.2, **column, **options}
        return lambda function: worker(**given)(closing(function))

    return working


@pytest.fixture
def network(server):
    network = Network(server.address)
    yield network
    network.close()


@pytest.fixture
def start(tmp_path, world, url):
    """Programs of their own that work on the world's column; killed in the end."""
    programs: list[Program] = []

    def start(token: str, **habits) -> Program:
        name = f"worker-{len(programs) + 1}"
        habits = {"url": url, "token": token, "name": name, **habits}
        column = {"board_id": str(world.board), "column_id": str(world.queue)}
        programs.append(Program(tmp_path, {**habits, **column}))
        return programs[-1]

    yield start
    for program in programs:
        program.close()
