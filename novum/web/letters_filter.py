"""The filter of the dead letters' pages: the address says it all, both ways."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from accounts.errors import Invalid
from accounts.moments import keepable
from novum.cleaning.refusal import Unclean
from novum.cleaning.values import clean
from supervision.letters import LetterFilter

_NAMES = ("q", "board", "column", "agent", "label", "since", "until")


@dataclass(frozen=True)
class Asked:
    """What an address (or a form that repeats it) asks for. What doesn't make sense is
    left out: a link never leads to an error page."""

    wanted: LetterFilter
    values: dict[str, str]

    @property
    def is_active(self) -> bool:
        return bool(self.values)

    @property
    def query(self) -> str:
        return urlencode(self.values)

    def without(self, *names: str) -> str:
        kept = {name: value for name, value in self.values.items() if name not in names}
        return urlencode(kept)

    @property
    def without_group(self) -> str:
        return self.without("group")


def asked(given: Any) -> Asked:
    """`given` is a query or a form."""
    values = {name: _text(given.get(name, "")).strip() for name in _NAMES}
    values = {name: value for name, value in values.items() if value}
    if "group" in given:
        values["group"] = _text(given["group"])
    since, until = _moment(values.get("since")), _moment(values.get("until"), end=True)
    wanted = LetterFilter(
        board_id=_uuid(values.get("board")),
        column_id=_uuid(values.get("column")),
        group=values.get("group"),
        agent=values.get("agent", ""),
        since=since,
        until=until,
        text=values.get("q", "")[:200],
        labels=tuple(
            one.strip() for one in values.get("label", "").split(",") if one.strip()
        ),
    )
    return Asked(wanted, values)


def _text(text: str) -> str:
    """Nothing where there's something in it that no text of ours can hold."""
    try:
        clean(text)
    except Unclean:
        return ""
    return text


def _uuid(text: str | None) -> UUID | None:
    try:
        return UUID(text) if text else None
    except ValueError:
        return None


def _moment(text: str | None, *, end: bool = False) -> datetime | None:
    """A moment, or a day: its beginning or its end."""
    try:
        found = datetime.fromisoformat(text) if text else None
        if found and end and text and len(text) <= len("2026-11-29"):
            found += timedelta(days=1)
        found = found.replace(tzinfo=found.tzinfo or UTC) if found else None
        return keepable(found, "")
    except (ValueError, OverflowError, Invalid):
        return None
