"""The rules for decoded values. Nothing here recurses."""

import re
from collections.abc import Iterator
from math import isfinite
from typing import Any

from novum.cleaning.limits import MAX_DEPTH, MAX_INTEGER
from novum.cleaning.refusal import (
    BAD_REQUEST,
    OUT_OF_RANGE,
    TOO_DEEP,
    UNPROCESSABLE,
    Fault,
    unclean,
)

_SURROGATE = re.compile("[\ud800-\udfff]")


def clean(value: object, *, where: str = "") -> Any:
    """The value itself, when all of it obeys the rules of this module.

    For what is decoded already: arguments, queries, forms; a tree of dict, list,
    tuple, str, int, float, bool and None. `where` begins every pointer. Raises
    Unclean, with the code `not_json` for anything else in it.
    """
    if colons_if_clean(value) is None:
        refuse_first_fault(value, where)
    return value


class _Tally:
    """What a value consists of, found level by level and without pointers."""

    __slots__ = ("members", "numbers", "odd", "strings")

    def __init__(self) -> None:
        self.members = 0
        self.strings: list[str] = []
        self.numbers: list[float] = []
        self.odd = False

    def take(self, level: list[Any]) -> list[Any] | None:
        """Count one level; the level below, or None when this was the last."""
        below: list[Any] = []
        is_last = True
        for each in level:
            kind = type(each)
            if kind is str:
                self.strings.append(each)
            elif kind is dict:
                is_last = False
                self.members += len(each)
                self.strings.extend(each)
                below.extend(each.values())
            elif kind is int or kind is float:
                self.numbers.append(each)
            elif kind is list:
                is_last = False
                below.extend(each)
            elif kind is not bool and each is not None:
                self.odd = True
        return None if is_last else below

    def colons(self) -> int | None:
        """How many colons the JSON text has at least; None for an unclean value."""
        try:
            text = "".join(self.strings)
        except TypeError:
            return None
        if self.odd or "\0" in text or not _are_good(self.numbers):
            return None
        if not text.isascii() and _SURROGATE.search(text):
            return None
        return self.members + text.count(":")


def colons_if_clean(value: object) -> int | None:
    tally = _Tally()
    level = [value]
    for _ in range(MAX_DEPTH + 1):
        below = tally.take(level)
        if below is None:
            return tally.colons()
        level = below
    return None


def _are_good(numbers: list[float]) -> bool:
    # NaN is in no range, so it is among the odd ones.
    odd = [each for each in numbers if not -MAX_INTEGER <= each <= MAX_INTEGER]
    return all(isinstance(each, float) and isfinite(each) for each in odd)


class Repeated:
    """Stands for an object that has two members of one name."""

    def __init__(self, key: str) -> None:
        self.key = key


def refuse_first_fault(value: object, where: str) -> None:
    """Raise the first fault in the order of the text, if any.

    One iterator a level, and a pointer only for what is raised: a long name above
    many items must not cost their product in memory.
    """
    path: list[object] = []
    waiting: list[Iterator[tuple[object, object]]] = [iter([(where, value)])]
    while waiting:
        step = next(waiting[-1], None)
        del path[len(waiting) - 1 :]
        if step is None:
            waiting.pop()
            continue
        token, each = step
        path.append(token)
        fault = _fault(each, depth=len(waiting) - 1)
        if fault:
            raise unclean(fault, _pointer(path))
        waiting.append(_parts(each))


def _parts(value: object) -> Iterator[tuple[object, object]]:
    if isinstance(value, dict):
        return iter(value.items())
    return enumerate(value) if isinstance(value, (list, tuple)) else iter(())


def _pointer(path: list[object]) -> str:
    where, *tokens = map(str, path)
    escaped = (each.replace("~", "~0").replace("/", "~1") for each in tokens)
    return where + "".join(f"/{each}" for each in escaped)


def _fault(value: object, depth: int) -> Fault | None:
    """What is wrong with this value itself, its keys included."""
    fault = None
    if isinstance(value, str):
        fault = _text_fault(value, "The text")
    elif isinstance(value, (dict, list, tuple)):
        fault = _container_fault(value, depth)
    elif isinstance(value, Repeated):
        name = ascii(value.key[:60])
        detail = f"The object has two members named {name}."
        fault = Fault(BAD_REQUEST, "repeated_key", detail)
    elif isinstance(value, (int, float)):
        fault = None if _are_good([value]) else OUT_OF_RANGE
    elif value is not None:
        detail = f"Not a JSON value: {type(value).__name__}."
        fault = Fault(UNPROCESSABLE, "not_json", detail)
    return fault


def _container_fault(value: object, depth: int) -> Fault | None:
    if depth == MAX_DEPTH:
        return TOO_DEEP
    for key in value if isinstance(value, dict) else ():
        if not isinstance(key, str):
            return Fault(UNPROCESSABLE, "not_json", "A member's name is no string.")
        fault = _text_fault(key, "The name of a member")
        if fault:
            return fault
    return None


def _text_fault(text: str, subject: str) -> Fault | None:
    if "\0" in text:
        detail = f"{subject} holds U+0000, which cannot be stored."
        return Fault(UNPROCESSABLE, "nul_character", detail)
    if _SURROGATE.search(text):
        detail = f"{subject} holds half of a surrogate pair."
        return Fault(UNPROCESSABLE, "lone_surrogate", detail)
    return None
