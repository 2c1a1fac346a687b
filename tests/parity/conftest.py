from tests.cli.conftest import bare, program, url
from tests.processes.fixtures import family, serve, server, shared_server

__all__ = ["bare", "family", "program", "serve", "server", "shared_server", "url"]
