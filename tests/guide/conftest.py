from tests.processes.fixtures import family, serve, server, shared_server

__all__ = ["family", "serve", "server", "shared_server"]
