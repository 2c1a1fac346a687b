from pathlib import Path

import pytest

from tests.processes.fixtures import (
    family,
    fleet,
    fleet_at,
    queue,
    serve,
    server,
    shared_server,
    tokens,
    world,
)

__all__ = [
    "family",
    "fleet",
    "fleet_at",
    "queue",
    "serve",
    "server",
    "shared_server",
    "tokens",
    "world",
]


def pytest_collection_modifyitems(items):
    """Everything in this folder starts real processes."""
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            item.add_marker(pytest.mark.processes)
