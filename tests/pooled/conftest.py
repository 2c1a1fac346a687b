from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.pooled.bouncer import Bouncer, roles_settings
from tests.processes import test_feed_stream
from tests.processes.fixtures import (
    Server,
    family,
    fleet,
    fleet_at,
    owner,
    queue,
    serve,
    server,
    tokens,
    world,
)
from tests.processes.test_expiry import reaper

__all__ = [
    "family",
    "fleet",
    "fleet_at",
    "owner",
    "queue",
    "reaper",
    "serve",
    "server",
    "tokens",
    "world",
]


def pytest_collection_modifyitems(items):
    """Everything in this folder starts real processes."""
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            item.add_marker(pytest.mark.processes)


@pytest.fixture(scope="session")
def bouncer(family, django_db_blocker, tmp_path_factory) -> Iterator[Bouncer]:
    with django_db_blocker.unblock():
        bouncer = Bouncer(tmp_path_factory.mktemp("pgbouncer"))
        roles_settings(on=True)
    family.start(bouncer.child)
    family.wait_until_ready(bouncer.child)
    yield bouncer
    family.bury(bouncer.child)
    with django_db_blocker.unblock():
        roles_settings(on=False)


POOLED = {"NOVUM_DATABASE_POOLER": "transaction"}


@pytest.fixture
def live(world, family, tmp_path, bouncer):
    yield from test_feed_stream.running(family, tmp_path, bouncer.url, **POOLED)


@pytest.fixture(scope="session")
def shared_server(serve, bouncer) -> Iterator[Server]:
    """In place of the one of tests.processes."""
    with serve(DATABASE_URL=bouncer.url, **POOLED) as server:
        yield server
