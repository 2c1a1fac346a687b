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
from novum.web.result_fields import (
    ResultField,
    field_of,
    kind_of,
    properties_of,
    resolved,
    type_of,
)

MAX_FIELDS = 60
ROOT = "result"
JSON = "json"
_MISSING = object()


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
    found = resolved(schema, schema)
    if type_of(found) == "object" and isinstance(found.get("properties"), dict):
        fields = list(properties_of(found, schema, ROOT, depth=0))
        if len(fields) <= MAX_FIELDS:
            return ResultForm(fields)
    elif (kind := kind_of(found)) not in ("json", "group"):
        return ResultForm([field_of(ROOT, "", found, kind, required=True)])
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


def _last(place: str) -> str:
    return place.rpartition("/")[2].replace("~1", "/").replace("~0", "~")
