"""What the text of a cell means: a date, a priority, labels, done or not."""

import json
import re
from collections.abc import Iterable
from datetime import UTC, datetime, time
from typing import Any

# A day without a time: noon in UTC is that day nearly everywhere.
_NOON = time(12, tzinfo=UTC)
_MONTHS = [
    "jan",
    "feb",
    "mar",
    "apr",
    "may",
    "jun",
    "jul",
    "aug",
    "sep",
    "oct",
    "nov",
    "dec",
]
_TIME = r"(?:[ ,T]+(?P<hour>\d{1,2}):(?P<minute>\d\d)(?::(?P<second>\d\d))?(?: ?(?P<half>[AaPp][Mm]))?)?"
_NUMBERS = re.compile(
    r"(?P<a>\d{1,2})(?P<mark>[./-])(?P<b>\d{1,2})(?P=mark)(?P<year>\d{4}|\d\d)"
    r"(?:\.)?" + _TIME + "$"
)
_WORDS = (
    re.compile(
        r"(?P<day>\d{1,2})[ ./-]+(?P<month>[A-Za-z]{3,9})[ ,./-]+(?P<year>\d{4}|\d\d)"
        + _TIME
        + "$"
    ),
    re.compile(
        r"(?:[A-Za-z]{3,9},? )?(?P<month>[A-Za-z]{3,9})\.? (?P<day>\d{1,2}),? (?P<year>\d{4})"
        + _TIME
        + "$"
    ),
)
_ISO_WITH_SLASHES = re.compile(r"(\d{4})[/.](\d{1,2})[/.](\d{1,2})")
_ZONE_BEHIND = re.compile(r" ?(?:GMT|UTC|Z)(?:\+0000)?(?: \([^)]*\))?$")
PRIORITIES = {
    1: "urgent critical highest blocker immediate p0 asap",
    2: "high major important p1",
    3: "medium normal middle default none p2",
    4: "low minor p3",
    5: "lowest trivial p4 someday",
}
_BY_WORD = {word: n for n, words in PRIORITIES.items() for word in words.split()}
_BY_WORD |= {"no priority": 3, "no": 3, "-": 3}
_YES = frozenset(
    [
        "true",
        "yes",
        "y",
        "x",
        "1",
        "done",
        "complete",
        "completed",
        "closed",
        "finished",
        "✓",
        "✔",
        "☑",
    ]
)
_NO = frozenset(["false", "no", "n", "0", "open", "incomplete", "todo", "☐", "-"]) | {
    "",
    "to do",
}


def moment_of(text: str, order: str) -> datetime | None:
    """A date with or without a time, as tools write it; None for what is none. `order`
    says which comes first where both could: `dmy` or `mdy`."""
    text = _ZONE_BEHIND.sub("Z", text.strip())
    try:
        return _iso(_ISO_WITH_SLASHES.sub(_hyphens, text, count=1)) or _spelt(
            text.removesuffix("Z"), order
        )
    except (ValueError, OverflowError):
        return None


def _hyphens(found: re.Match[str]) -> str:
    return f"{found[1]}-{int(found[2]):02}-{int(found[3]):02}"


def _iso(text: str) -> datetime | None:
    if not re.match(r"\d{4}-?\d\d-?\d\d", text) or (
        text.isdecimal() and len(text) != 8
    ):
        return None
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return None
    if not re.search(r"\d[T ]\d", text):
        return datetime.combine(found.date(), _NOON)
    return found.astimezone(UTC) if found.tzinfo else found.replace(tzinfo=UTC)


def _spelt(text: str, order: str) -> datetime | None:
    if found := _NUMBERS.match(text):
        first, second = int(found["a"]), int(found["b"])
        day, month = (first, second) if order != "mdy" else (second, first)
        return _moment(found, day, month)
    for pattern in _WORDS:
        if found := pattern.match(text):
            name = found["month"][:3].lower()
            if name in _MONTHS:
                return _moment(found, int(found["day"]), _MONTHS.index(name) + 1)
    return None


def _moment(found: re.Match[str], day: int, month: int) -> datetime:
    """Raises ValueError for a day that there isn't."""
    year = int(found["year"])
    if year < 100:
        year += 2000 if year < 70 else 1900
    if found["hour"] is None:
        return datetime.combine(datetime(year, month, day, tzinfo=UTC), _NOON)
    hour = int(found["hour"])
    if found["half"]:
        hour = hour % 12 + (12 if found["half"].lower() == "pm" else 0)
    second = int(found["second"] or 0)
    return datetime(year, month, day, hour, int(found["minute"]), second, tzinfo=UTC)


def order_of(texts: Iterable[str]) -> str:
    """`dmy` or `mdy` where some date tells, `both` where they contradict each other,
    `either` where all could be both, empty where none is written in numbers."""
    orders = set()
    for text in texts:
        found = _NUMBERS.match(text.strip())
        if not found:
            continue
        first, second = int(found["a"]), int(found["b"])
        if found["mark"] == "." or first > 12:
            orders.add("dmy")
        elif second > 12:
            orders.add("mdy")
        else:
            orders.add("either")
    told = orders - {"either"}
    if len(told) > 1:
        return "both"
    return told.pop() if told else "".join(orders)


def priority_of(text: str) -> int | None:
    """1 to 5; None for what is none."""
    text = text.strip().casefold()
    if not text:
        return 3
    if text in {"1", "2", "3", "4", "5"}:
        return int(text)
    word = re.sub(r"^[^a-z0-9-]+|[^a-z0-9]+$", "", text)
    return _BY_WORD.get(word) or _BY_WORD.get(word.split(" ")[0])


def list_of(text: str) -> list[str]:
    """What stands in one cell with commas or semicolons between, or as a JSON list."""
    text = text.strip()
    if text.startswith("["):
        try:
            found = json.loads(text)
        except ValueError:
            found = None
        if isinstance(found, list):
            return [str(one).strip() for one in found if str(one).strip()]
    mark = ";" if ";" in text and "," not in text else ","
    return [one.strip() for one in text.split(mark) if one.strip()]


def is_done(text: str) -> bool | None:
    """None for what says neither. The time at which something was done says it is."""
    word = text.strip().casefold()
    if word in _YES:
        return True
    if word in _NO:
        return False
    return True if moment_of(text, "dmy") else None


def json_or_text(text: str) -> Any:
    """Lists and objects in a cell are meant as such."""
    if text[:1] in "[{" and text[-1:] in "]}":
        try:
            return json.loads(text)
        except (ValueError, RecursionError):
            return text
    return text
