"""What is measured: PostgreSQL, Valkey and the web server, as `make up` runs them.

Everything lies in a folder of its own that is thrown away afterwards. The web server is
the production one (Granian, two processes) with the settings it has by default.
"""

import os
import random
import socket
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from novum.running import processes
from novum.running.children import Child, Family
from novum.running.embedded import running_services
from novum.running.settings import RunSettings, from_environment

# What would make it measure something else than the embedded default.
_OURS_TO_SAY = ("DATABASE_URL", "REDIS_URL", "SECRET_KEY", "NOVUM_HOST", "DEBUG")


@dataclass(frozen=True)
class Stage:
    settings: RunSettings
    database_url: str
    postgres: Child
    web: Child

    @property
    def address(self) -> tuple[str, int]:
        return self.settings.local_host, self.settings.port


@contextmanager
def running_stage() -> Iterator[Stage]:
    """Raises StartError. Django is set up inside of it, not before."""
    for name in _OURS_TO_SAY:
        os.environ.pop(name, None)
    with tempfile.TemporaryDirectory(prefix="novum-bench-") as folder:
        os.environ |= {"NOVUM_DATA": folder, "NOVUM_PORT": str(free_port())}
        settings = from_environment(os.environ)
        family = Family()
        try:
            with running_services(family, Path(folder)) as services:
                _set_up_django()
                web = processes.web(settings)
                try:
                    family.start(web)
                    family.wait_until_ready(web)
                    postgres = services.children[-1]
                    yield Stage(settings, services.database_url, postgres, web)
                finally:
                    family.stop(web)
        finally:
            family.close()


def _set_up_django() -> None:
    """For this process, that seeds and looks; without a pool, so that it may fork."""
    os.environ["DJANGO_SETTINGS_MODULE"] = "novum.settings"
    os.environ["NOVUM_DB_POOL"] = "0"
    try:
        import django
        from django.core.management import call_command

        django.setup()
        call_command("migrate", verbosity=0)
    finally:
        del os.environ["NOVUM_DB_POOL"]


def free_port() -> int:
    """For web, and the next one for live; below those that the system may give away as
    somebody's own end of a connection before we come to take them."""
    while True:
        port = random.randrange(30_000, 32_000, 2)
        try:
            for one in (port, port + 1):
                socket.create_server(("127.0.0.1", one)).close()
        except OSError:
            continue
        return port
