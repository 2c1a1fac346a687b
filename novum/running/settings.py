"""What the environment says about running Novum, and what it means when it's silent."""

import errno
import socket
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from novum.running.errors import StartError

ROOT = Path(__file__).parents[2]
WILDCARDS = {"0.0.0.0": "127.0.0.1", "::": "::1", "": "127.0.0.1"}


@dataclass(frozen=True)
class RunSettings:
    """`NOVUM_PORT` is web's port; live listens on the next one."""

    host: str
    port: int
    data: Path
    database_url: str
    redis_url: str
    web_workers: int

    @property
    def live_port(self) -> int:
        return self.port + 1

    @property
    def local_host(self) -> str:
        """Where a program on this machine reaches what listens on `host`."""
        return WILDCARDS.get(self.host, self.host)

    @property
    def url(self) -> str:
        host = f"[{self.local_host}]" if ":" in self.local_host else self.local_host
        return f"http://{host}:{self.port}"

    def environment(self) -> dict[str, str]:
        """What children are to read: the same, spelt out."""
        return {
            "NOVUM_HOST": self.host,
            "NOVUM_PORT": str(self.port),
            "NOVUM_DATA": str(self.data),
        }


def from_environment(environment: Mapping[str, str]) -> RunSettings:
    """Raises StartError, naming the variable, where a value makes no sense."""
    database_url = environment.get("DATABASE_URL", "")
    if database_url and not environment.get("SECRET_KEY"):
        raise StartError(
            "DATABASE_URL is set, so SECRET_KEY must be, too (50 or more random\n"
            "characters): Novum makes one only for the PostgreSQL it brings."
        )
    return RunSettings(
        host=environment.get("NOVUM_HOST", "127.0.0.1"),
        port=_number(environment, "NOVUM_PORT", 8000, 65534),
        data=Path(environment.get("NOVUM_DATA") or ROOT / ".novum").absolute(),
        database_url=database_url,
        redis_url=environment.get("REDIS_URL", ""),
        web_workers=_number(environment, "NOVUM_WEB_WORKERS", 2, 1024),
    )


def check_ports(settings: RunSettings, patience_seconds: float = 0.0) -> None:
    """Raises StartError where web's or live's port is taken, or the host isn't ours.

    `patience_seconds` is how long a former run, that was killed, may still hold them.
    """
    deadline = time.monotonic() + patience_seconds
    for port in (settings.port, settings.live_port):
        while error := _listen_error(settings.host, port):
            if error.errno != errno.EADDRINUSE:
                raise StartError(
                    f"Novum cannot listen on {settings.host}, port {port}: "
                    f"{error.strerror}. Set NOVUM_HOST or NOVUM_PORT to another."
                )
            if time.monotonic() >= deadline:
                raise StartError(
                    f"Port {port} on {settings.host} is taken. Set NOVUM_PORT to "
                    "another one (Novum uses it and the next)."
                )
            time.sleep(0.1)


def _listen_error(host: str, port: int) -> OSError | None:
    try:
        found = socket.getaddrinfo(host or None, port, flags=socket.AI_PASSIVE)
        family, _, _, _, address = found[0]
        with socket.socket(family) as probe:
            # As the servers do it: connections just closed don't count.
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(address)
    except OSError as error:
        return error
    return None


def _number(
    environment: Mapping[str, str], name: str, default: int, highest: int
) -> int:
    text = environment.get(name) or str(default)
    if not text.isdecimal() or not 1 <= int(text) <= highest:
        raise StartError(f"{name} must be a number from 1 to {highest}, not {text!r}.")
    return int(text)
