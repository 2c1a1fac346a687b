"""What Trello's cards are made of, each told in Novum's words."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from math import isfinite
from typing import Any

_HEX_ID = re.compile(r"[0-9a-f]{24}")
_OLDEST = datetime(2008, 1, 1, tzinfo=UTC)


def text(value: Any, name: str) -> str:
    found = value.get(name) if isinstance(value, dict) else None
    return found if isinstance(found, str) else ""


def items(value: Any, name: str) -> list[dict[str, Any]]:
    found = value.get(name) if isinstance(value, dict) else None
    return (
        [one for one in found or [] if isinstance(one, dict)]
        if (isinstance(found, list))
        else []
    )


def ids(value: dict[str, Any], name: str) -> list[str]:
    found = value.get(name)
    return (
        [one for one in found if isinstance(one, str)]
        if (isinstance(found, list))
        else []
    )


def place_of(value: dict[str, Any]) -> float:
    """`pos` is a number, mostly a fraction; `top` and `bottom` in hand-made files."""
    found = value.get("pos")
    if isinstance(found, int | float) and isfinite(found):
        return float(found)
    return float("-inf") if found == "top" else float("inf")


def age_of(value: dict[str, Any]) -> datetime | None:
    """Trello's ids begin with the second in which they were made."""
    found = text(value, "id").lower()
    if not _HEX_ID.fullmatch(found):
        return None
    moment = datetime.fromtimestamp(int(found[:8], 16), UTC)
    return moment if _OLDEST < moment < datetime.now(UTC) else None


def described(card: dict[str, Any], checklists: list[dict[str, Any]]) -> str:
    """The text, then checklists as task lists, then attachments as links."""
    parts = [text(card, "desc").strip()]
    for one in sorted(checklists, key=place_of):
        points = [
            _point(item) for item in sorted(items(one, "checkItems"), key=place_of)
        ]
        if points:
            parts.append("\n".join([f"### {_line(text(one, 'name'))}", "", *points]))
    links = [_link(one) for one in items(card, "attachments") if text(one, "url")]
    if links:
        parts.append("\n".join(["### Attachments", "", *links]))
    return "\n\n".join(part for part in parts if part)


def _point(item: dict[str, Any]) -> str:
    mark = "x" if text(item, "state") == "complete" else " "
    due = text(item, "due")
    return f"- [{mark}] {_line(text(item, 'name'))}" + (f" (due {due})" if due else "")


def _link(one: dict[str, Any]) -> str:
    name = re.sub(r"([\[\]\\])", r"\\\1", _line(text(one, "name") or text(one, "url")))
    url = re.sub(r"[<>\s]", lambda odd: f"%{ord(odd[0]):02X}", text(one, "url"))
    return f"- [{name}](<{url}>)"


def _line(words: str) -> str:
    return " ".join(words.split())


def field_values(
    card: dict[str, Any], fields: dict[str, dict[str, Any]]
) -> dict[str, Any]:
    """Custom fields by name. Two of one name: the second has a number behind it."""
    found: dict[str, Any] = {}
    for one in items(card, "customFieldItems"):
        field = fields.get(text(one, "idCustomField"), {})
        value = _value(one, field)
        if value is not None:
            name = base = _line(text(field, "name"))[:100] or "Custom field"
            number = 1
            while name in found:
                number += 1
                name = f"{base} ({number})"
            found[name] = value
    return found


def _value(one: dict[str, Any], field: dict[str, Any]) -> Any:
    chosen = text(one, "idValue")
    if chosen:
        for option in items(field, "options"):
            if text(option, "id") == chosen:
                return text(option.get("value"), "text") or chosen
        return chosen
    value = one.get("value")
    if not isinstance(value, dict):
        return None
    if "checked" in value:
        return value["checked"] in (True, "true")
    if "number" in value:
        return _number(str(value["number"]))
    return text(value, "text") or text(value, "date") or None


def _number(told: str) -> Any:
    try:
        number = float(told)
    except ValueError:
        return told
    if not isfinite(number) or abs(number) > 2**53:
        return told
    return int(number) if number.is_integer() else number


_LEFT = (
    ("cover", "Cover pictures and colours, not carried"),
    ("idMembersVoted", "Votes, not carried"),
    ("stickers", "Stickers, not carried"),
    ("coordinates", "Places on a map, not carried"),
    ("dueReminder", "Reminders, not carried"),
    ("pluginData", "Data of power-ups, not carried"),
    ("isTemplate", "Template cards, taken as plain ones"),
)


def left_behind(card: dict[str, Any]) -> Iterator[str]:
    """What of this card has no place here, to be counted."""
    for name, told in _LEFT:
        found = card.get(name)
        if name == "cover" and isinstance(found, dict):
            found = (
                found.get("idAttachment")
                or found.get("color")
                or found.get("idUploadedBackground")
            )
        if name == "dueReminder" and not (isinstance(found, int) and found >= 0):
            continue
        if found or (name == "dueReminder" and found == 0):
            yield told
    role = text(card, "cardRole")
    if role:
        yield f"Cards as {role}, taken as plain ones"
