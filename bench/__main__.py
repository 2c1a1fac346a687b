"""`python -m bench [part …]`: speed and memory, as ratios measured in one run."""

import argparse
import os
import signal
import sys
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from time import monotonic

from bench.load import LoadError
from bench.report import Figure, keep
from bench.sizes import Sizes, add_options, sizes_of
from bench.stage import running_stage
from novum.running.errors import StartError
from novum.running.settings import from_environment

PARTS = (
    *("start", "floor", "cycle", "redis", "batch", "limit", "depth", "sustained"),
    "memory",
    *("mcp", "tasks", "pages", "supervision", "live", "waiting", "webhooks", "bulk"),
)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="part", help=", ".join(PARTS))
    add_options(parser)
    options = parser.parse_args()
    if unknown := set(options.parts) - set(PARTS):
        parser.error(f"there is no part {', '.join(sorted(unknown))}")
    _stop_in_order()
    try:
        run(options.parts or PARTS, sizes_of(options))
    except (StartError, LoadError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def run(parts: tuple[str, ...], sizes: Sizes) -> None:
    """Raises StartError, LoadError."""
    started_at = datetime.now(UTC).isoformat(timespec="seconds")
    results = from_environment(os.environ).data / "bench" / "results.jsonl"
    figures: list[Figure] = []
    with running_stage() as stage:
        # They import models, so not before Django is set up.
        world = import_module("bench.seeding").a_world()
        for part in parts:
            began = monotonic()
            print(f"{part} …", file=sys.stderr, flush=True)
            found = import_module(f"bench.parts.{part}").measure(stage, world, sizes)
            keep(found, results, started_at)
            figures += found
            print(f"{part}: {monotonic() - began:.0f} s", file=sys.stderr, flush=True)
    for figure in figures:
        print(figure.line())
    print(f"\nThe same as JSON lines: {_shown(results)}")


def _stop_in_order() -> None:
    """SIGTERM ends what we have started, too. Processes that we fork just end by it,
    as the pools that they are in expect."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    os.register_at_fork(
        after_in_child=lambda: signal.signal(signal.SIGTERM, signal.SIG_DFL)
    )


def _shown(file: Path) -> str:
    return os.path.relpath(file)


if __name__ == "__main__":
    sys.exit(main())
