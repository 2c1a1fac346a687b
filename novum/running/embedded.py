"""The embedded services together: what `DATABASE_URL` and `REDIS_URL` don't name."""

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from novum.running.children import Child, Family, rotate
from novum.running.postgres import Postgres
from novum.running.valkey import Valkey

SERVICES_FILE = "services.json"


@dataclass(frozen=True)
class Services:
    """Where the two services are; `children` are those of them that are ours."""

    database_url: str
    redis_url: str
    children: tuple[Child, ...]

    def environment(self) -> dict[str, str]:
        return {"DATABASE_URL": self.database_url, "REDIS_URL": self.redis_url}

    def public(self) -> dict[str, str]:
        return {"database_url": self.database_url, "redis_url": self.redis_url}


@contextmanager
def running_services(
    family: Family,
    data: Path,
    database_url: str = "",
    redis_url: str = "",
    settings: Mapping[str, str] | None = None,
) -> Iterator[Services]:
    """Runs PostgreSQL and Valkey under `data`, each unless a URL for it is given.

    While they run, `services.json` (mode 600) in `data` says where, so that a
    `manage.py` in a second terminal finds them. `settings` are PostgreSQL's, beside
    ours. Raises StartError.
    """
    children: list[Child] = []
    file = data / SERVICES_FILE
    try:
        if not redis_url:
            valkey = Valkey(data, _log(data, "valkey"))
            redis_url = valkey.url
            children.append(_started(family, valkey.child()))
        if not database_url:
            postgres = Postgres(data, _log(data, "postgres"))
            database_url = postgres.url
            children.append(_started(family, postgres.child(settings)))
            family.wait_until_ready(children[-1])
            postgres.ensure_database()
        for child in children:
            family.wait_until_ready(child)
        services = Services(database_url, redis_url, tuple(children))
        _write_private(file, json.dumps(services.public(), indent=2))
        yield services
    finally:
        file.unlink(missing_ok=True)
        for child in children:
            family.stop(child)


def _started(family: Family, child: Child) -> Child:
    family.start(child)
    return child


def _log(data: Path, name: str) -> Path:
    log = data / "logs" / f"{name}.log"
    rotate(log)
    return log


def _write_private(file: Path, text: str) -> None:
    file.unlink(missing_ok=True)
    with os.fdopen(
        os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w"
    ) as out:
        out.write(text)
