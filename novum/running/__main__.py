"""`python -m novum.running`: what `make up`, `make backup` and `make restore` call.

With `--with-parent` Novum stops when the process that started it is gone.
"""

import argparse
import os
import sys
from pathlib import Path

from novum.running.backup import backup
from novum.running.errors import StartError
from novum.running.restore import restore
from novum.running.supervisor import run


def main() -> int:
    given = _parser().parse_args()
    try:
        if given.what == "backup":
            _back_up(given)
        elif given.what == "restore":
            _restore(given)
        else:
            run(os.environ, os.getppid() if given.with_parent else None)
    except StartError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m novum.running")
    parser.add_argument("--with-parent", action="store_true")
    what = parser.add_subparsers(dest="what", metavar="backup | restore")
    one = what.add_parser("backup", help="everything into one file")
    one.add_argument("file", nargs="?", type=Path)
    one = what.add_parser("restore", help="everything out of one")
    one.add_argument("file", type=Path)
    one.add_argument("--force", action="store_true", help="move what's there aside")
    return parser


def _back_up(given: argparse.Namespace) -> None:
    file = backup(os.environ, given.file)
    print(f"Everything is in {file} ({file.stat().st_size:,} bytes).")
    print("It holds the keys, too: keep it where nobody else reads it.")
    if os.environ.get("SECRET_KEY"):
        print("But not SECRET_KEY, which is set from outside: keep it beside it.")


def _restore(given: argparse.Namespace) -> None:
    aside = restore(os.environ, given.file, force=given.force)
    print("Restored. `make up` starts it.")
    if aside:
        print(f"What was there lies in {aside}.")


if __name__ == "__main__":
    sys.exit(main())
