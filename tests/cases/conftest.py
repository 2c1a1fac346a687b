"""A world that commits, and the real server in front of it where a case asks for it."""

from tests.processes.fixtures import (
    family,
    fleet,
    fleet_at,
    owner,
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
    "owner",
    "queue",
    "serve",
    "server",
    "shared_server",
    "tokens",
    "world",
]
