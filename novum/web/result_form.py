"""The form of a result, made from the schema that the queue's contract asks for.

A field for each property of an object: texts, numbers, yes or no, choices, dates, lists
of texts, and objects one level deep. What is deeper or freer is written as JSON, and the
whole result can always be. Whether it fits is the verb's to say; what it says is put at
the field that it's about (a field's name is its place: `result/rows`).
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from accounts.errors import FieldError, Invalid
from novum.web import posted
from novum.web.pages import PageRequest

MAX_FIELDS = 60
MAX_REFERENCES = 10
LONG_TEXT = 200
ROOT = "result"
JSON = "json"
SIMPLE = ("text", "long", "integer", "number", "yesno", "choice", "date", "moment")
_MISSING = object()


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


@dataclass
class ResultForm:
    """`free`: any result will do. `json` stands for all fields when it's filled."""

    fields: list[ResultField]
    free: bool = False
    json: str = ""
    errors: list[str] = field(default_factory=list)
    json_errors: list[str] = field(default_factory=list)
    is_typed: bool = False

    def every(self) -> Iterator[ResultField]:
        for one in self.fields:
            yield one
            yield from one.fields

    @property
    def wrong(self) -> bool:
        return bool(
            self.errors or self.json_errors or any(one.errors for one in self.every())
        )

    @property
    def typed(self) -> str:
        """All that was typed, to be copied where the form has lost its task."""
        said = [f"{one.label}: {one.text}" for one in self.every() if one.text]
        return "\n".join([*said, self.json] if self.json else said)


def form_of(schema: Any) -> ResultForm:
    """Empty, but for the schema's defaults."""
    if schema is None or schema is True or schema == {}:
        return ResultForm([ResultField(f"{ROOT}/text", "", "long")], free=True)
    found = _resolved(schema, schema)
    if _type(found) == "object" and isinstance(found.get("properties"), dict):
        fields = list(_properties(found, schema, ROOT, depth=0))
        if len(fields) <= MAX_FIELDS:
            return ResultForm(fields)
    elif (kind := _kind(found)) not in ("json", "group"):
        return ResultForm([_field(ROOT, "", found, kind, required=True)])
    return ResultForm([])


def read(request: PageRequest, schema: Any) -> tuple[ResultForm, Any]:
    """The form as it was sent, and the result that it says (None where it's wrong; then
    the form says what is)."""
    form = form_of(schema)
    form.is_typed = True
    values: dict[str, Any] = {}
    for one in form.every():
        one.errors = []
        if one.kind != "group":
            values[one.name] = _value(request, one)
    try:
        form.json = posted.text(request, JSON)
        if form.json.strip():
            for one in form.every():
                one.errors = []
            return form, posted.json_value(form.json, JSON)
    except Invalid as bad:
        form.json_errors.append(bad.detail)
        return form, None
    if form.wrong:
        return form, None
    if not form.fields:
        form.json_errors.append("Write the result as JSON.")
        return form, None
    return form, _together(form, values)


def blame(form: ResultForm, errors: Iterable[FieldError]) -> None:
    """What the verb refused, each at the field that it's about."""
    known = sorted(form.every(), key=lambda one: -len(one.name))
    for error in errors:
        place = error.pointer.strip("/")
        if form.json.strip():
            form.json_errors.append(f"{error.pointer}: {error.detail}")
            continue
        found = next(
            (one for one in known if f"{place}/".startswith(f"{one.name}/")), None
        )
        (found.errors if found else form.errors).append(error.detail)


def _together(form: ResultForm, values: dict[str, Any]) -> Any:
    if len(form.fields) == 1 and form.fields[0].name == ROOT:
        found = values[ROOT]
        return None if found is _MISSING else found
    result = _object(form.fields, values)
    return (result or None) if form.free else result


def _object(fields: list[ResultField], values: dict[str, Any]) -> dict[str, Any]:
    found = {}
    for one in fields:
        if one.kind == "group":
            inner = _object(one.fields, values)
            if inner or one.required:
                found[_last(one.name)] = inner
        elif values[one.name] is not _MISSING:
            found[_last(one.name)] = values[one.name]
    return found


def _value(request: PageRequest, one: ResultField) -> Any:
    try:
        one.text = posted.text(request, one.name)
        text = one.text if one.kind in ("text", "long") else one.text.strip()
        if text.strip():
            return _READ.get(one.kind, _text)(one, text)
    except Invalid as bad:
        one.errors.append(bad.detail)
        return _MISSING
    if one.kind == "lines" and one.required:
        return []
    group_is_empty = one.name.count("/") > 1
    if one.required and not group_is_empty:
        one.errors.append("Fill this in.")
    return _MISSING


def _text(one: ResultField, text: str) -> Any:
    return text


def _number(one: ResultField, text: str) -> Any:
    value = posted.json_value(text, one.name)
    allowed = (int,) if one.kind == "integer" else (int, float)
    if isinstance(value, bool) or not isinstance(value, allowed):
        whole = one.kind == "integer"
        detail = "Give a whole number." if whole else "Give a number."
        raise Invalid.at(f"/{one.name}", "not_a_number", detail)
    return value


def _choice(one: ResultField, text: str) -> Any:
    found = dict(one.choices)
    if text not in found:
        raise Invalid.at(f"/{one.name}", "not_a_choice", "Choose one of the list.")
    return found[text]


_READ: dict[str, Callable[[ResultField, str], Any]] = {
    "integer": _number,
    "number": _number,
    "yesno": _choice,
    "choice": _choice,
    # The page sends it in UTC.
    "moment": lambda one, text: f"{text}:00Z" if len(text) == 16 else text,
    "lines": lambda one, text: [
        line.strip() for line in text.split("\n") if line.strip()
    ],
    "json": lambda one, text: posted.json_value(text, one.name),
}


def _properties(
    schema: Any, root: Any, place: str, *, depth: int
) -> Iterator[ResultField]:
    asked = [one for one in schema.get("required") or [] if isinstance(one, str)]
    # The database keeps no order of properties, but that of what is required.
    places = {one: place for place, one in enumerate(asked)}
    by_place = sorted(
        schema["properties"].items(), key=lambda one: places.get(one[0], len(places))
    )
    for name, raw in by_place:
        part = _resolved(raw, root)
        path = f"{place}/{_escaped(name)}"
        kind = _kind(part)
        if kind == "group" and depth:
            kind = "json"
        found = _field(path, name, part, kind, required=name in asked)
        if kind == "group":
            found.fields = list(_properties(part, root, path, depth=depth + 1))
        yield found


def _field(
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


def _kind(schema: Any) -> str:
    """How it's asked for; what this can't tell is written as JSON."""
    if not isinstance(schema, dict):
        return "json"
    enum = schema.get("enum")
    if isinstance(enum, list) and enum:
        simple = all(isinstance(one, str | int | float | bool) for one in enum)
        return "choice" if simple else "json"
    kind = _type(schema)
    if kind == "string":
        return _kind_of_text(schema)
    found = _KINDS.get(kind, "json")
    if found == "group" and not isinstance(schema.get("properties"), dict):
        return "json"
    if found == "lines" and _type(schema.get("items")) != "string":
        return "json"
    return found


def _kind_of_text(schema: Any) -> str:
    by_format = {"date": "date", "date-time": "moment"}
    if (form := schema.get("format")) in by_format:
        return by_format[form]
    most = schema.get("maxLength")
    short = isinstance(most, int) and most < LONG_TEXT
    return "text" if short or form or "pattern" in schema else "long"


def _type(schema: Any) -> str:
    if not isinstance(schema, dict):
        return ""
    said = schema.get("type")
    if isinstance(said, list):
        others = [one for one in said if one != "null"]
        said = others[0] if len(others) == 1 else ""
    if said is None and isinstance(schema.get("properties"), dict):
        return "object"
    return said if isinstance(said, str) else ""


def _resolved(schema: Any, root: Any) -> Any:
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


def _last(place: str) -> str:
    return place.rpartition("/")[2].replace("~1", "/").replace("~0", "~")
