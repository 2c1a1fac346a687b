"""How big and how long; each part says at its end how long it took."""

import argparse
from dataclasses import dataclass, fields


@dataclass(frozen=True)
class Sizes:
    """Every one of them is an option of `python -m bench`."""

    rounds: int = 5
    slice_seconds: int = 3
    cards: int = 100_000
    deep_cards: int = 1_000_000
    cards_in_front: int = 10_000
    sustained_seconds: int = 60
    requests: int = 50_000
    pages: int = 100
    board_cards: int = 5_000
    viewers: int = 200
    change_seconds: int = 5
    grace_seconds: int = 5
    waiters: int = 1_000
    idle_seconds: int = 12
    webhook_events: int = 2_000
    feed_events: int = 100_000
    dead_letters: int = 10_000
    finished_leases: int = 1_000_000


def add_options(parser: argparse.ArgumentParser) -> None:
    for field in fields(Sizes):
        parser.add_argument(
            f"--{field.name.replace('_', '-')}",
            type=int,
            default=field.default,
            metavar="N",
            help=f"{field.default} unless given",
        )


def sizes_of(options: argparse.Namespace) -> Sizes:
    return Sizes(
        **{field.name: getattr(options, field.name) for field in fields(Sizes)}
    )
