"""JSON values that every parser and the database keep as they are."""

import re
from typing import Any

import msgspec

_LARGEST = 2**53 - 1
_MAX_DEPTH = 64
# An escape of U+0000 itself, and not of a backslash before "u0000".
_NUL = re.compile(rb"(?<!\\)(?:\\\\)*\\u0000")


def exact(value: Any) -> Any:
    """The same value; 1e20, which the database gives back as a whole number of 21
    digits, as the float it was."""
    if isinstance(value, dict):
        return {name: exact(each) for name, each in value.items()}
    if isinstance(value, list):
        return [exact(each) for each in value]
    if isinstance(value, int) and not -_LARGEST <= value <= _LARGEST:
        return float(value)
    return value


def fault_of(value: Any) -> str:
    """Why the database couldn't keep this; empty for what it can."""
    try:
        text = msgspec.json.encode(value)
    except UnicodeEncodeError:
        return "It holds half of a surrogate pair."
    except (RecursionError, ValueError):
        return f"It's nested deeper than {_MAX_DEPTH} lists and objects."
    if b"\\u0000" in text and _NUL.search(text):
        return "It holds U+0000, which can't be stored."
    if text.count(b"[") + text.count(b"{") > _MAX_DEPTH and _is_deep(value):
        return f"It's nested deeper than {_MAX_DEPTH} lists and objects."
    return ""


def _is_deep(value: Any) -> bool:
    level = [msgspec.to_builtins(value)]
    for _ in range(_MAX_DEPTH + 3):
        level = [
            each
            for one in level
            if isinstance(one, dict | list)
            for each in (one.values() if isinstance(one, dict) else one)
        ]
        if not level:
            return False
    return True
