"""Lengths of time as people write them: `30`, `90s`, `5m`, `1h 30m`."""

import re

_UNITS = {"d": 86_400, "h": 3_600, "m": 60, "s": 1}
_PART = re.compile(r"(\d{1,9})\s*([dhms]?)")


def seconds_of(text: str) -> int:
    """A number alone is seconds. Raises ValueError with a sentence."""
    parts = _PART.findall(text)
    rest = _PART.sub("", text).strip()
    if not parts or rest or (len(parts) > 1 and not all(unit for _, unit in parts)):
        raise ValueError(f"{text.strip()[:40]!r} is no length of time. Try 30s or 5m.")
    return sum(int(number) * _UNITS[unit or "s"] for number, unit in parts)


def list_of(text: str) -> list[int]:
    """Several, commas between. Raises ValueError with a sentence."""
    return [seconds_of(one) for one in text.split(",") if one.strip()]


def words(seconds: int) -> str:
    """The shortest way to write it that `seconds_of` reads."""
    said = []
    for unit, size in _UNITS.items():
        count, seconds = divmod(seconds, size)
        if count:
            said.append(f"{count}{unit}")
    return " ".join(said) or "0s"
