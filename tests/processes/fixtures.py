"""The real web server on the test database, and fleets of workers in front of it."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from urllib.parse import urlsplit

import pytest
from django.conf import settings
from django.db import connection

from accounts.models import Actor
from novum.running import processes
from novum.running.children import Child, Family
from novum.running.settings import RunSettings
from tests.builders import World, a_token, a_world
from tests.doors.http import Http, door_of
from tests.processes.fleet import Fleet
from tests.running.ports import two_free_ports

START_SECONDS = 60.0
# The application with something that isn't so in earnest.
SKEWED = "tests.processes.skewed:application"
PATIENT = "tests.processes.patient:application"
# The one that says more than it does in earnest.
TELLING = "tests.processes.telling:application"


@dataclass
class Server:
    """Granian as `make up` starts it, with two workers."""

    settings: RunSettings
    environment: dict[str, str]
    family: Family
    application: str = ""
    child: Child | None = None

    @property
    def address(self) -> tuple[str, int]:
        return self.settings.local_host, self.settings.port

    def start(self) -> None:
        self.child = processes.web(self.settings)
        if self.application:
            self.child.command = [*self.child.command[:-1], self.application]
        self.child.environment = {**self.child.environment, **self.environment}
        self.family.start(self.child)
        self.family.wait_until_ready(self.child, START_SECONDS)

    def kill(self) -> None:
        """All of it, at once and without a goodbye."""
        assert self.child
        self.family.bury(self.child)

    def log(self) -> str:
        return processes.log_path(self.settings.data, "web").read_text()


def database_url() -> str:
    name = str(connection.settings_dict["NAME"])
    return urlsplit(os.environ["DATABASE_URL"])._replace(path=f"/{name}").geturl()


@pytest.fixture(scope="session")
def family(django_db_setup) -> Iterator[Family]:
    family = Family()
    yield family
    family.kill()
    family.close()


@pytest.fixture(scope="session")
def serve(family, tmp_path_factory) -> Callable[..., object]:
    """`with serve(NAME=value, …) as server` runs one more server of its own."""

    @contextmanager
    def serve(application: str = "", **environment: str) -> Iterator[Server]:
        data = tmp_path_factory.mktemp("web")
        url = environment.pop("DATABASE_URL", database_url())
        redis = environment.pop("REDIS_URL", settings.REDIS_URL)
        run = RunSettings(
            "127.0.0.1", two_free_ports(), data, url, redis, web_workers=2
        )
        given = {
            "DATABASE_URL": url,
            "REDIS_URL": redis,
            "SECRET_KEY": settings.SECRET_KEY,
            "NOVUM_DB_POOL": "6",
            **environment,
        }
        server = Server(run, given, family, application)
        server.start()
        try:
            yield server
        finally:
            if server.child:
                server.kill()

    return serve


@pytest.fixture(scope="session")
def shared_server(serve) -> Iterator[Server]:
    with serve() as server:
        yield server


@pytest.fixture
def server(shared_server) -> Server:
    """The one that most tests share; a test that kills it starts it again."""
    return shared_server


@pytest.fixture
def world(transactional_db) -> World:
    return a_world()


@pytest.fixture
def queue(world) -> str:
    return f"/v1/boards/{world.board}/columns/{world.queue}"


@pytest.fixture
def owner(world) -> Http:
    """A person beside the fleet, by the same verbs in this process."""
    return door_of(world.owner)


@pytest.fixture
def tokens(world) -> Callable[[int], list[str]]:
    """Twenty workers acting as one drafter have twenty tokens."""
    seat = Actor.objects.get(pk=world.worker.actor_id)
    return lambda number: [a_token(seat)[0] for _ in range(number)]


@pytest.fixture
def fleet_at(tmp_path, tokens) -> Iterator[Callable[..., Fleet]]:
    fleets: list[Fleet] = []

    def fleet_at(server: Server, number: int) -> Fleet:
        folder = tmp_path / f"fleet-{len(fleets)}"
        folder.mkdir()
        fleets.append(Fleet(folder, server.address))
        fleets[-1].start(tokens(number))
        return fleets[-1]

    yield fleet_at
    for fleet in fleets:
        fleet.close()


@pytest.fixture
def fleet(fleet_at, server) -> Callable[[int], Fleet]:
    """So many workers in front of the shared server."""
    return lambda number: fleet_at(server, number)
