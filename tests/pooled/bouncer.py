"""PgBouncer in front of the test database, handing out sessions by transaction."""

import shutil
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.conf import settings
from django.db import connection
from psycopg.rows import dict_row

from novum.running.account import account_for
from novum.running.children import Child
from tests.running.ports import two_free_ports

# Debian has it where only root finds it.
PROGRAM = shutil.which("pgbouncer") or shutil.which("pgbouncer", path="/usr/sbin")
NAME = "novum"
# Fewer than there are threads that ask; and each transaction gets another one.
SESSIONS = 4
# Nothing is ignored of what a client sends at its start.
INI = """
[databases]
{name} = {target}

[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = {sessions}
max_client_conn = 200
server_round_robin = 1
"""


class Bouncer:
    def __init__(self, folder: Path) -> None:
        if not PROGRAM:
            pytest.skip("no pgbouncer here: `bin/setup --dev` as root installs it")
        self.port = two_free_ports()
        self.url = f"postgres://anybody@127.0.0.1:{self.port}/{NAME}"
        file = folder / "pgbouncer.ini"
        file.write_text(
            INI.format(name=NAME, target=_target(), port=self.port, sessions=SESSIONS)
        )
        # Like PostgreSQL it refuses to be root.
        account = account_for(folder / "none")
        self.child = Child(
            name="PgBouncer",
            command=[PROGRAM, file],
            log=folder / "pgbouncer.log",
            is_ready=self._is_ready,
            become=account.become([file, _socket_folder()]) if account else None,
        )

    def _is_ready(self) -> bool:
        try:
            psycopg.connect(self.url, connect_timeout=5).close()
        except psycopg.OperationalError:
            return False
        return True

    def transactions(self) -> int:
        """How many it has passed on."""
        rows = self._console("SHOW STATS_TOTALS")
        return sum(row["xact_count"] for row in rows if row["database"] == NAME)

    def sessions(self) -> int:
        """How many it has with PostgreSQL."""
        return sum(row["database"] == NAME for row in self._console("SHOW SERVERS"))

    def _console(self, command: str) -> list[dict[str, Any]]:
        url = self.url.replace(f"/{NAME}", "/pgbouncer")
        with psycopg.connect(url, autocommit=True, row_factory=dict_row) as console:
            return console.execute(command).fetchall()


def _info() -> psycopg.ConnectionInfo:
    connection.ensure_connection()
    return connection.connection.info


def _target() -> str:
    info = _info()
    given = {
        "host": info.host,
        "port": str(info.port),
        "dbname": info.dbname,
        "user": info.user,
        **({"password": info.password} if info.password else {}),
    }
    return " ".join(f"{key}='{value}'" for key, value in given.items())


def _socket_folder() -> Path:
    host = _info().host
    return Path(host) / "x" if host.startswith("/") else Path("/")


def roles_settings(*, on: bool) -> None:
    """As docs/scaling.md wants them."""
    with connection.cursor() as cursor:
        for name, value in settings.DATABASE_SESSION.items():
            change = f"SET {name} = '{value}'" if on else f"RESET {name}"
            info = _info()
            cursor.execute(
                f'ALTER ROLE "{info.user}" IN DATABASE "{info.dbname}" {change}'
            )
