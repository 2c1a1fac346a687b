"""`make restore`: the embedded default as it was when a backup was made.

A new cluster is filled beside the old one and takes its place at the very end, so a
restore that fails changes nothing.
"""

import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

import psycopg

from novum.running.account import Account, account_for
from novum.running.archive import DUMP, KEPT_FILES, Manifest, unpacked
from novum.running.backup import NO_REDIS, NOT_OURS, run_program, stamp
from novum.running.children import Family
from novum.running.cluster import ensure_cluster, programs
from novum.running.embedded import running_services
from novum.running.errors import StartError
from novum.running.settings import from_environment
from novum.running.supervisor import make_folder, only_one

# Transactions in one page of PostgreSQL's commit log (8 KB, two bits each). A number at
# the begin of a page needs nothing of the pages before it.
LOG_PAGE = 32_768
# Numbers compare in a circle of 2^32; half of it lies ahead of the new cluster's own.
HIGHEST_NUMBER = 1 << 30
# Where the numbers can't go on: what was there counts as old and in order.
START_ANEW = (
    "UPDATE boards_event SET transaction = 0",
    "UPDATE tasks_people_gathering SET transaction = 1",
    "UPDATE webhooks_cursor SET transaction = 0",
    "UPDATE webhooks_endpoint SET since = 0",
    "UPDATE supervision_rollup SET transaction = 0",
)


def restore(
    environment: Mapping[str, str], file: Path, *, force: bool = False
) -> Path | None:
    """Fills NOVUM_DATA from a backup. With `force` also where there is data, which is
    moved aside; returns where to. Raises StartError."""
    settings = from_environment(environment)
    if settings.database_url:
        raise StartError(NOT_OURS)
    data = settings.data
    make_folder(data)
    with only_one(data), unpacked(file, data) as (folder, manifest):
        there = data / "postgres"
        if there.exists() and not force:
            raise StartError(
                f"There is data in {data}. Restore into another folder (NOVUM_DATA), or"
                " say --force (make restore FORCE=1): then it's moved aside."
            )
        _fill(folder, manifest)
        aside = None
        if there.exists():
            aside = data / f"postgres.before-{stamp()}"
            there.rename(aside)
        (folder / "postgres").rename(there)
        for name in KEPT_FILES:
            if (folder / name).exists():
                shutil.copyfile(folder / name, data / name)
                (data / name).chmod(0o600)
    return aside


def _fill(folder: Path, manifest: Manifest) -> None:
    cluster = (folder / "postgres").absolute()
    # PostgreSQL's account has to reach its own folder in there.
    account = account_for(cluster)
    ensure_cluster(cluster, account)
    if manifest.transaction < HIGHEST_NUMBER:
        _number_from(cluster, account, manifest.transaction)
    family = Family()
    try:
        with running_services(family, folder, redis_url=NO_REDIS) as services:
            url = services.database_url
            run_program(
                *("pg_restore", "--no-owner", "--no-privileges", "--exit-on-error"),
                *("--jobs=2", f"--dbname={url}", str(folder / DUMP)),
            )
            with psycopg.connect(url) as connection:
                _finish(connection, manifest)
    finally:
        family.close()


def _number_from(cluster: Path, account: Account | None, last: int) -> None:
    """Lets the new cluster's transactions go on above those of the backup's. The event
    feed is in their order, so readers' places in it stay good."""
    first = (last // LOG_PAGE + 1) * LOG_PAGE
    become = account.become([programs(), cluster]) if account else None
    done = subprocess.run(
        [programs() / "pg_resetwal", "-x", str(first), "-D", cluster],
        capture_output=True,
        text=True,
        cwd=cluster,
        preexec_fn=become,
        start_new_session=True,
        check=False,
    )
    if done.returncode:
        raise StartError(f"pg_resetwal failed:\n{done.stderr}")


def _finish(connection: psycopg.Connection, manifest: Manifest) -> None:
    found = connection.execute(
        "SELECT pg_snapshot_xmin(pg_current_snapshot())::text::bigint"
    ).fetchone()
    assert found is not None
    if found[0] <= manifest.transaction:
        for statement in START_ANEW:
            connection.execute(statement.encode())
        connection.commit()
    connection.execute("ANALYZE")
