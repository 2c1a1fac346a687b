"""`key=value`: what a text means for a field.

`key=value`   the text, turned into what the field takes: a number, true or false, null;
              commas between the items of a list; JSON for an object. A field that takes
              text gets the text as it stands.
`key:=json`   JSON.
`key=@file`   the text of a file without the line break at its end, `key:=@file` the JSON
              of one; `-` is standard input.
`key=@@text`  a text that begins with @.

A field for a handle (`assignee=@ann`) never reads a file, any other one always does:
what lies in the folder changes nothing.
"""

import json
import math
import re
import sys
from typing import Any, NoReturn

from novum.cli.catalog import Field
from novum.cli.errors import Usage

_PAIR = re.compile(r"([A-Za-z_][\w.-]*)(:?=)(.*)", re.DOTALL)
_UUID = re.compile(r"[0-9a-fA-F]{8}(-?[0-9a-fA-F]{4}){3}-?[0-9a-fA-F]{12}")
_WORDS = {"true": True, "false": False}
_NAMES = {
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "null": "null",
    "array": "a list, such as a,b or [1,2]",
    "object": 'an object, such as {"a":1}',
}


def split_pair(word: str) -> tuple[str, bool, str]:
    """Name, whether it's JSON, and the text. Raises Usage."""
    found = _PAIR.fullmatch(word)
    if not found:
        raise Usage(f"{word!r} is not key=value, key:=json or key=@file.")
    return found[1], found[2] == ":=", found[3]


def value_of(field: Field, text: str, *, is_json: bool) -> Any:
    """Raises Usage, which names the field."""
    if is_json:
        if text.startswith("@"):
            text = _content(field.name, text[1:])
        return json_value(field.name, text)
    if text.startswith("@") and not is_handle(field.schema):
        if not text.startswith("@@"):
            return _converted(field, _content(field.name, text[1:]).rstrip("\r\n"))
        text = text[1:]
    return _converted(field, text)


def is_handle(schema: dict[str, Any]) -> bool:
    return any(one.get("format") == "handle" for one in variants(schema))


def variants(schema: dict[str, Any]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = schema.get("anyOf") or [schema]
    return found


def kinds(schema: dict[str, Any]) -> set[str]:
    """The JSON types that a field takes; none where it takes anything."""
    found = {_kind(one) for one in variants(schema)}
    return set() if "" in found else found


def _kind(schema: dict[str, Any]) -> str:
    if "$ref" in schema:
        return "object"
    if "enum" in schema and "type" not in schema:
        return "string" if isinstance(schema["enum"][0], str) else "integer"
    return str(schema.get("type", ""))


def _converted(field: Field, text: str) -> Any:
    taken = kinds(field.schema)
    is_list = "array" in taken and ("string" not in taken or "," in text)
    if is_list:
        return _list(field, text, taken)
    if taken and "string" not in taken:
        return _no_text(field, text, taken)
    if field.place == "path":
        _check_path(field, text)
    return text


def _no_text(field: Field, text: str, taken: set[str]) -> Any:
    if "object" in taken and text.lstrip().startswith("{"):
        return json_value(field.name, text)
    if text == "null" and "null" in taken:
        return None
    if "boolean" in taken and text in _WORDS:
        return _WORDS[text]
    number = _number(text, taken)
    if number is None:
        _refuse(field, text, taken)
    return number


def _number(text: str, taken: set[str]) -> float | None:
    for kind, read in (("integer", int), ("number", float)):
        if kind in taken and re.fullmatch(r"[-+]?[\d.]+([eE][-+]?\d+)?", text):
            try:
                number = read(text)
            except ValueError:
                continue
            return number if math.isfinite(number) else None
    return None


def _list(field: Field, text: str, taken: set[str]) -> Any:
    if text == "null" and "null" in taken:
        return None
    if text.lstrip().startswith("["):
        return json_value(field.name, text)
    (items,) = (
        one.get("items", {}) for one in variants(field.schema) if "items" in one
    )
    item = field._replace(schema=items)
    return [_converted(item, part.strip()) for part in text.split(",") if part.strip()]


def _check_path(field: Field, text: str) -> None:
    """What stands in an address must not change which one it is."""
    formats = {one.get("format") for one in variants(field.schema)}
    if "uuid" in formats and not _UUID.fullmatch(text):
        raise Usage(f"{field.name}: {text!r} is no id (a UUID).")
    if not text or text.strip(".") == "":
        raise Usage(f"{field.name} is empty.")


def _refuse(field: Field, text: str, taken: set[str]) -> NoReturn:
    wanted = " or ".join(_NAMES[one] for one in _NAMES if one in taken)
    raise Usage(f"{field.name}: {text!r} is not {wanted}.")


def json_value(name: str, text: str) -> Any:
    """Strict JSON (RFC 8259), no member twice. Raises Usage naming the field."""
    try:
        value = json.loads(text, parse_constant=_no_constant, object_pairs_hook=_object)
        json.dumps(value, allow_nan=False)
    except RecursionError:
        raise Usage(f"{name}: nested too deep.") from None
    except ValueError as error:
        raise Usage(f"{name}: not JSON: {error}.") from None
    return value


def _no_constant(word: str) -> NoReturn:
    raise ValueError(f"{word} is no JSON number")


def _object(members: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(members)
    if len(found) != len(members):
        raise ValueError("a member stands there twice")
    return found


def _content(name: str, path: str) -> str:
    try:
        if path == "-":
            return sys.stdin.buffer.read().decode()
        with open(path, "rb") as file:
            return file.read().decode()
    except UnicodeDecodeError:
        raise Usage(f"{name}: {path!r} is not UTF-8.") from None
    except OSError as error:
        raise Usage(
            f"{name}: can't read {path!r}: {error.strerror}."
            f" (For a text that begins with @ write {name}=@@…)"
        ) from None
