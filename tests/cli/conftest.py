from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path

import pytest

from novum.running.settings import ROOT
from tests.builders import ALL_SCOPES
from tests.cli.shell import Shell
from tests.cli.wire import Wire
from tests.doors.http import token_of
from tests.processes.fixtures import family, serve, server, shared_server

__all__ = ["family", "serve", "server", "shared_server"]


@pytest.fixture(scope="session")
def program(tmp_path_factory) -> Path:
    """The command as `bin/setup` writes it, in a folder of its own."""
    loader = SourceFileLoader("novum_setup", str(ROOT / "bin" / "setup"))
    setup = module_from_spec(spec_from_loader("novum_setup", loader))
    loader.exec_module(setup)
    setup.VENV = tmp_path_factory.mktemp("venv it's") / "v"
    (setup.VENV / "bin").mkdir(parents=True)
    setup.write_command()
    return setup.VENV / "bin" / "novum"


@pytest.fixture
def bare(program, tmp_path) -> Shell:
    """Nothing known: no address, no token."""
    home = tmp_path / "home"
    home.mkdir()
    return Shell(program, home)


@pytest.fixture
def url(server) -> str:
    host, port = server.address
    return f"http://{host}:{port}"


@pytest.fixture
def shell(bare, url, a_lasting_world) -> Shell:
    """As the world's worker."""
    world = a_lasting_world
    bare.environment = {"NOVUM_URL": url, "NOVUM_TOKEN": token_of(world.worker)}
    return bare


@pytest.fixture
def a_lasting_world(transactional_db, world):
    """Committed, so that the server sees it."""
    return world


@pytest.fixture
def reader(shell, world) -> Shell:
    """May look and nothing else."""
    scopes = [one for one in ALL_SCOPES if one == "read"]
    token = token_of(world.worker, scopes)
    return Shell(
        shell.program, shell.folder, shell.environment | {"NOVUM_TOKEN": token}
    )


@pytest.fixture
def column(world) -> list[str]:
    return [f"board_id={world.board}", f"column_id={world.queue}"]


@pytest.fixture
def wire(server):
    wire = Wire(server.address)
    yield wire
    wire.close()
