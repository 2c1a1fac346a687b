"""What the doctor finds: one list for the command, the operation and `novum doctor`."""

from collections.abc import Callable, Iterable, Iterator
from typing import Literal

import msgspec

type Level = Literal["ok", "warning", "problem"]
type Check = Callable[[], Iterable["Finding"]]


class Finding(msgspec.Struct, frozen=True):
    """`advice` says what to do, where something is to be done."""

    area: str
    level: Level
    what: str
    advice: str = ""


def ok(area: str, what: str) -> Finding:
    return Finding(area, "ok", what)


def warning(area: str, what: str, advice: str) -> Finding:
    return Finding(area, "warning", what, advice)


def problem(area: str, what: str, advice: str) -> Finding:
    return Finding(area, "problem", what, advice)


def tried(area: str, check: Check, advice: str) -> Iterator[Finding]:
    """What the check finds; where it can't be made, that is what's found. An error is
    told by its kind alone: its words may hold an address or a password."""
    try:
        yield from check()
    except Exception as error:
        yield problem(area, f"couldn't be looked at: {type(error).__name__}", advice)
