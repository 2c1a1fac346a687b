"""Values as a message may show them: short, and in JSON's own words."""

import json

MAX_DETAIL_CHARACTERS = 200
MAX_QUOTED_CHARACTERS = 60


def cut(value: object, limit: int = MAX_DETAIL_CHARACTERS) -> str:
    """The text of a value, cut to `limit` characters, always valid UTF-8."""
    text = str(value)
    if len(text) > limit:
        text = text[: limit - 1] + "…"
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def kind(value: object) -> str:
    """The JSON type of a value, for people."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, str):
        return "string"
    if isinstance(value, list):
        return "array"
    return "object" if isinstance(value, dict) else "number"


def quote(value: object) -> str:
    """A value as JSON, short; a container only by its size."""
    if isinstance(value, dict):
        return f"an object ({len(value)} properties)"
    if isinstance(value, list):
        return f"an array ({len(value)} items)"
    if isinstance(value, str):
        value = cut(value, MAX_QUOTED_CHARACTERS)
    return cut(json.dumps(value, ensure_ascii=False), MAX_QUOTED_CHARACTERS + 2)
