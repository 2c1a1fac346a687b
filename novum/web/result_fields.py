"""A schema's properties as fields: what each is asked for with, and where it lies."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

MAX_REFERENCES = 10
LONG_TEXT = 200
SIMPLE = ("text", "long", "integer", "number", "yesno", "choice", "date", "moment")


@dataclass
class ResultField:
    """`text` is what stands in the field, as typed; `kind` one of SIMPLE, or lines,
    json, or group (of `fields`)."""

    name: str
    label: str
    kind: str
    required: bool = False
    help: str = ""
    choices: list[tuple[str, Any]] = field(default_factory=list)
    limits: dict[str, Any] = field(default_factory=dict)
    fields: list["ResultField"] = field(default_factory=list)
    text: str = ""
    errors: list[str] = field(default_factory=list)

    @property
    def key(self) -> str:
        """As an id in the page."""
        return self.name.replace("/", "-")


def properties_of(
    schema: Any, root: Any, place: str, *, depth: int
) -> Iterator[ResultField]:
    asked = [one for one in schema.get("required") or [] if isinstance(one, str)]
    # The database keeps no order of properties, but that of what is required.
    places = {one: place for place, one in enumerate(asked)}
    by_place = sorted(
        schema["properties"].items(), key=lambda one: places.get(one[0], len(places))
    )
    for name, raw in by_place:
        part = resolved(raw, root)
        path = f"{place}/{_escaped(name)}"
        kind = kind_of(part)
        if kind == "group" and depth:
            kind = "json"
        found = field_of(path, name, part, kind, required=name in asked)
        if kind == "group":
            found.fields = list(properties_of(part, root, path, depth=depth + 1))
        yield found


def field_of(
    place: str, name: str, schema: Any, kind: str, *, required: bool
) -> ResultField:
    schema = schema if isinstance(schema, dict) else {}
    title, text = schema.get("title"), schema.get("description")
    found = ResultField(
        name=place,
        label=title if isinstance(title, str) and title else name,
        kind=kind,
        required=required,
        help=text if isinstance(text, str) else "",
        choices=_choices(schema, kind),
    )
    for key, word in (("minimum", "min"), ("maximum", "max")):
        limit = schema.get(key)
        is_number = isinstance(limit, int | float) and not isinstance(limit, bool)
        if kind in ("integer", "number") and is_number:
            found.limits[word] = limit
    default = schema.get("default", schema.get("const"))
    if default is not None and kind in SIMPLE:
        found.text = _shown(default)
    return found


def _choices(schema: Any, kind: str) -> list[tuple[str, Any]]:
    if kind == "yesno":
        return [("yes", True), ("no", False)]
    return [(_shown(one), one) for one in schema["enum"]] if kind == "choice" else []


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value)


_KINDS = {
    "integer": "integer",
    "number": "number",
    "boolean": "yesno",
    "object": "group",
    "array": "lines",
}


def kind_of(schema: Any) -> str:
    """How it's asked for; what this can't tell is written as JSON."""
    if not isinstance(schema, dict):
        return "json"
    enum = schema.get("enum")
    if isinstance(enum, list) and enum:
        simple = all(isinstance(one, str | int | float | bool) for one in enum)
        return "choice" if simple else "json"
    kind = type_of(schema)
    if kind == "string":
        return _kind_of_text(schema)
    found = _KINDS.get(kind, "json")
    if found == "group" and not isinstance(schema.get("properties"), dict):
        return "json"
    if found == "lines" and type_of(schema.get("items")) != "string":
        return "json"
    return found


def _kind_of_text(schema: Any) -> str:
    by_format = {"date": "date", "date-time": "moment"}
    if (form := schema.get("format")) in by_format:
        return by_format[form]
    most = schema.get("maxLength")
    short = isinstance(most, int) and most < LONG_TEXT
    return "text" if short or form or "pattern" in schema else "long"


def type_of(schema: Any) -> str:
    if not isinstance(schema, dict):
        return ""
    said = schema.get("type")
    if isinstance(said, list):
        others = [one for one in said if one != "null"]
        said = others[0] if len(others) == 1 else ""
    if said is None and isinstance(schema.get("properties"), dict):
        return "object"
    return said if isinstance(said, str) else ""


def resolved(schema: Any, root: Any) -> Any:
    """Behind its local `$ref`s."""
    for _ in range(MAX_REFERENCES):
        if not isinstance(schema, dict) or not isinstance(schema.get("$ref"), str):
            return schema
        target: Any = root
        for step in schema["$ref"].removeprefix("#").split("/")[1:]:
            name = step.replace("~1", "/").replace("~0", "~")
            target = target.get(name) if isinstance(target, dict) else None
        schema = target
    return None


def _escaped(name: str) -> str:
    return name.replace("~", "~0").replace("/", "~1")
