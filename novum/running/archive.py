"""A backup's file: a tar with the database's dump, the key, and what they're from.

Whoever has it has everything, so it's readable for its owner alone.
"""

import json
import os
import tarfile
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from novum.running.errors import StartError

FORMAT = 1
MANIFEST, DUMP = "manifest.json", "database.dump"
# Beside the database in the data folder, and needed with it: the key that sealed what
# is sealed in there, and what the examples read.
KEPT_FILES = ("secret_key", "demo.json")


@dataclass(frozen=True)
class Manifest:
    """`transaction`: no number in the dump is higher."""

    made_at: str
    postgres: str
    transaction: int
    format: int = FORMAT


def pack(target: Path, dump: Path, folder: Path, manifest: Manifest) -> None:
    """Writes the whole file or none. Raises OSError."""
    half_made = target.with_name(target.name + ".part")
    half_made.unlink(missing_ok=True)
    try:
        descriptor = os.open(half_made, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with (
            os.fdopen(descriptor, "wb") as out,
            tarfile.open(fileobj=out, mode="w") as tar,
        ):
            text = dump.with_name(MANIFEST)
            text.write_text(json.dumps(asdict(manifest), indent=2))
            tar.add(text, MANIFEST)
            tar.add(dump, DUMP)
            for name in KEPT_FILES:
                if (folder / name).exists():
                    tar.add(folder / name, name)
            out.flush()
            os.fsync(out.fileno())
        half_made.rename(target)
    finally:
        half_made.unlink(missing_ok=True)


@contextmanager
def unpacked(file: Path, near: Path) -> Iterator[tuple[Path, Manifest]]:
    """The folder (beside `near`) with what's in the file; gone at the end.

    Raises StartError where it isn't one of ours.
    """
    with tempfile.TemporaryDirectory(prefix="restoring-", dir=near) as name:
        folder = Path(name)
        try:
            with tarfile.open(file) as tar:
                for wanted in (MANIFEST, DUMP, *KEPT_FILES):
                    if wanted in tar.getnames():
                        tar.extract(wanted, folder, filter="data")
            manifest = Manifest(**json.loads((folder / MANIFEST).read_text()))
        except (OSError, tarfile.TarError, ValueError, TypeError) as error:
            raise StartError(f"{file} is no backup of Novum's: {error}") from error
        if manifest.format != FORMAT or not (folder / DUMP).exists():
            raise StartError(f"{file} is a backup that this Novum can't read.")
        yield folder, manifest
