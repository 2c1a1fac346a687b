"""Plant each fault in a copy of the tree; a test must turn red: `make mutants`."""

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tests.mutants.faults import FAULTS, Fault

ROOT = Path(__file__).resolve().parent.parent.parent
LEFT_OUT = shutil.ignore_patterns(
    ".git", ".venv", ".novum", "__pycache__", ".*_cache", "docs"
)


def main() -> int:
    with tempfile.TemporaryDirectory(prefix="novum-mutants-") as folder:
        tree = Path(folder) / "tree"
        shutil.copytree(ROOT, tree, ignore=LEFT_OUT)
        needed = sorted({test for fault in FAULTS for test in fault.tests})
        print("The tests as they are … ", end="", flush=True)
        if not _green(tree, needed, tell=True):
            print("red: nothing can be said about faults.")
            return 1
        print("green", flush=True)
        survived = [fault for fault in FAULTS if not _killed(tree, fault)]
    print(f"{len(FAULTS) - len(survived)} of {len(FAULTS)} faults were noticed.")
    return 1 if survived else 0


def _killed(tree: Path, fault: Fault) -> bool:
    before = {name: (tree / name).read_text() for name, _, _ in fault.changes}
    try:
        for name, old, new in fault.changes:
            text = (tree / name).read_text()
            if old not in text:
                sys.exit(
                    f"{name} has changed: the fault {fault.name!r} can't be planted."
                )
            (tree / name).write_text(text.replace(old, new))
        red = not _green(tree, fault.tests)
    finally:
        for name, text in before.items():
            (tree / name).write_text(text)
    print(f"{'noticed ' if red else 'SURVIVED'}  {fault.name}", flush=True)
    return red


def _green(tree: Path, tests: Sequence[str], *, tell: bool = False) -> bool:
    """Whether they pass. What ends pytest in any other way than red tests (a fault that
    doesn't even load proves nothing) ends this program."""
    command = ["-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *tests]
    done = subprocess.run(
        [sys.executable, *command],
        cwd=tree,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode not in (0, 1) or " error" in done.stdout.rsplit("\n", 2)[-2]:
        sys.exit(done.stdout[-3000:] + done.stderr[-1000:])
    if tell and done.returncode:
        print(done.stdout[-3000:])
    return done.returncode == 0


if __name__ == "__main__":
    sys.exit(main())
