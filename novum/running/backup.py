"""`make backup`: everything of the embedded default in one file, while it runs or not."""

import json
import os
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import psycopg

from novum.running.archive import DUMP, Manifest, pack
from novum.running.children import Family
from novum.running.cluster import programs
from novum.running.embedded import SERVICES_FILE, running_services
from novum.running.errors import StartError
from novum.running.settings import RunSettings, from_environment
from novum.running.supervisor import make_folder, only_one

NOT_OURS = (
    "DATABASE_URL is set: that PostgreSQL is backed up with its own means (see\n"
    "docs/deployment.md). Unset it to work on the PostgreSQL that Novum brings."
)
# Nobody asks Valkey for anything while one is made.
NO_REDIS = "redis://unused"


def backup(environment: Mapping[str, str], target: Path | None = None) -> Path:
    """Writes one file (mode 600) and returns where it is.

    The database is dumped as it is at one moment; those who work with it aren't held
    up. Raises StartError.
    """
    settings = from_environment(environment)
    if settings.database_url:
        raise StartError(NOT_OURS)
    if not (settings.data / "postgres").exists():
        raise StartError(f"There's nothing in {settings.data} to back up.")
    target = target or settings.data / "backups" / f"novum-{stamp()}.tar"
    try:
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with (
            database(settings) as url,
            tempfile.TemporaryDirectory(prefix="dump-", dir=target.parent) as folder,
        ):
            dump = Path(folder) / DUMP
            manifest = _dump(url, dump)
            pack(target, dump, settings.data, manifest)
    except OSError as error:
        raise StartError(f"The backup can't be written: {error}") from error
    return target


def stamp() -> str:
    return datetime.now(UTC).strftime("%Y%m%dT%H%M%SZ")


@contextmanager
def database(settings: RunSettings) -> Iterator[str]:
    """The URL of the embedded database: of the one that runs, or started for us."""
    make_folder(settings.data)
    running = _running(settings.data)
    if running:
        yield running
        return
    family = Family()
    try:
        with (
            only_one(settings.data),
            running_services(family, settings.data, redis_url=NO_REDIS) as services,
        ):
            yield services.database_url
    finally:
        family.close()


def _running(data: Path) -> str:
    """Empty where no Novum runs, also after one that was killed."""
    try:
        told: dict[str, str] = json.loads((data / SERVICES_FILE).read_text())
        url = told["database_url"]
        psycopg.connect(url, connect_timeout=5).close()
    except (OSError, ValueError, KeyError, psycopg.OperationalError):
        return ""
    return url


def _dump(url: str, file: Path) -> Manifest:
    made_at = datetime.now(UTC).isoformat(timespec="seconds")
    run_program("pg_dump", "--format=custom", f"--file={file}", f"--dbname={url}")
    with psycopg.connect(url) as connection:
        row = connection.execute(
            "SELECT pg_snapshot_xmax(pg_current_snapshot())::text::bigint,"
            " current_setting('server_version')"
        ).fetchone()
    assert row is not None
    return Manifest(made_at=made_at, postgres=row[1], transaction=row[0])


def run_program(name: str, *arguments: str) -> None:
    """One of PostgreSQL's, to its end. Raises StartError with what it says."""
    done = subprocess.run(
        [programs() / name, *arguments],
        capture_output=True,
        text=True,
        env={**os.environ, "PGOPTIONS": "-c statement_timeout=0"},
        check=False,
    )
    if done.returncode:
        raise StartError(f"{name} failed:\n{done.stderr[-2000:]}")
