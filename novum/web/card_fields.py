"""The fields of a card as text in a form, and how they're saved without losing any.

A form sends back the version it was made from and a digest of the text it showed. When
the card has changed since, but not this field (an agent has claimed it, say), the save
goes through; when the field has changed, both texts are shown.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any
from uuid import UUID

from accounts.callers import Caller
from accounts.errors import Invalid
from boards import reads
from boards.errors import VersionMismatch
from boards.shapes import CardShape
from boards.verbs.cards import edit_card
from novum.web.posted import json_value

_MINUTE = "%Y-%m-%dT%H:%M"


@dataclass(frozen=True)
class CardField:
    """`show` gives the text of a card's field, `read` the value of a text (Invalid)."""

    name: str
    show: Callable[[CardShape], str]
    read: Callable[[str], Any]


@dataclass(frozen=True)
class Entry:
    """A field in its form. `theirs` is somebody else's text that came in between."""

    name: str
    text: str
    version: int
    seen: str
    error: str = ""
    theirs: str | None = None


class FieldChanged(VersionMismatch):
    """Somebody else has changed this in the meantime."""

    def __init__(self, theirs: str) -> None:
        super().__init__()
        self.theirs = theirs


def entry(card: CardShape, name: str) -> Entry:
    shown = FIELDS[name].show(card)
    return Entry(name, shown, card.version, digest(shown))


def digest(text: str) -> str:
    return sha256(text.encode()).hexdigest()[:16]


def save(
    caller: Caller,
    *,
    card_id: UUID,
    name: str,
    text: str,
    version: int | None,
    seen: str,
) -> None:
    """What is so already is saved. Raises NotFound, Forbidden, Invalid, FieldChanged."""
    field = FIELDS[name]
    value = field.read(text)
    try:
        edit_card(caller, card_id=card_id, version=version, **{name: value})
    except VersionMismatch:
        card = reads.card(caller, card_id=card_id)
        theirs = field.show(card)
        if theirs == text:
            return
        if digest(theirs) != seen:
            raise FieldChanged(theirs) from None
        edit_card(caller, card_id=card_id, version=card.version, **{name: value})


def pretty(value: Any) -> str:
    """JSON for people; nothing for an absent or empty value."""
    if value is None or value == {}:
        return ""
    return json.dumps(value, indent=2, ensure_ascii=False)


def _moment(name: str) -> Callable[[str], datetime | None]:
    def read(text: str) -> datetime | None:
        if not text.strip():
            return None
        try:
            found = datetime.fromisoformat(text.strip())
        except ValueError as bad:
            raise Invalid.at(f"/{name}", "not_a_time", "Give a date and time.") from bad
        return found if found.tzinfo else found.replace(tzinfo=UTC)

    return read


def _minute(moment: datetime | None) -> str:
    return moment.astimezone(UTC).strftime(_MINUTE) if moment else ""


def _priority(text: str) -> int:
    if text not in ("1", "2", "3", "4", "5"):
        raise Invalid.at("/priority", "out_of_range", "Priority is 1 (first) to 5.")
    return int(text)


def _object(text: str) -> Any:
    value = json_value(text, "properties") if text.strip() else {}
    if not isinstance(value, dict):
        detail = "Properties are an object: { … }."
        raise Invalid.at("/properties", "not_an_object", detail)
    return value


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


FIELDS = {
    field.name: field
    for field in (
        CardField(
            "title", lambda card: card.title, lambda text: " ".join(text.split())
        ),
        CardField("description", lambda card: card.description, str),
        CardField("labels", lambda card: ", ".join(card.labels), _names),
        CardField("skills", lambda card: ", ".join(card.skills), _names),
        CardField(
            "assignee",
            lambda card: card.assignee.handle if card.assignee else "",
            lambda text: text.strip() or None,
        ),
        CardField("priority", lambda card: str(card.priority), _priority),
        CardField("due", lambda card: _minute(card.due), _moment("due")),
        CardField(
            "not_before",
            lambda card: _minute(card.available_at),
            _moment("not_before"),
        ),
        CardField("properties", lambda card: pretty(card.properties), _object),
        CardField(
            "payload",
            lambda card: pretty(card.payload),
            lambda text: json_value(text, "payload") if text.strip() else None,
        ),
    )
}
