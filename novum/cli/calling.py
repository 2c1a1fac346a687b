"""From `key=value` words to one call of an operation."""

import json
import os
from typing import Any
from urllib.parse import quote, urlencode

from novum.cli.catalog import Field, Operation, meant
from novum.cli.errors import Usage
from novum.cli.transport import Request
from novum.cli.values import kinds, split_pair, value_of

HEADERS = {"if_match": "If-Match"}


def read_values(operation: Operation, words: list[str]) -> dict[str, Any]:
    """The values by field. Raises Usage for what the operation does not take."""
    values: dict[str, Any] = {}
    for word in words:
        name, is_json, text = split_pair(word)
        field = operation.field(name)
        if field is None:
            raise Usage(_unknown(operation, name))
        value = value_of(field, text, is_json=is_json)
        if name in values:
            value = _joined(field, values[name], value)
        values[name] = value
    missing = [
        field.name
        for field in operation.fields
        if field.required and field.name not in values
    ]
    if missing:
        raise Usage(f"{operation.name} needs {', '.join(missing)}.")
    return values


def _unknown(operation: Operation, name: str) -> str:
    names = [field.name for field in operation.fields]
    text = f"{operation.name} has no field {name}."
    return text + (meant(name, names) or f" It takes {', '.join(names) or 'none'}.")


def _joined(field: Field, before: Any, value: Any) -> list[Any]:
    """A list may be given item by item."""
    if "array" not in kinds(field.schema):
        raise Usage(f"{field.name} is given twice.")
    return [
        *(before if isinstance(before, list) else [before]),
        *(value if isinstance(value, list) else [value]),
    ]


def request_of(
    operation: Operation, values: dict[str, Any], key: str | None = None
) -> Request:
    """The call. Where the server remembers keys, it gets one, so that it can be sent
    again; `key` is the caller's own."""
    places = {field.name: field.place for field in operation.fields}
    placed: dict[str, dict[str, Any]] = {one: {} for one in places.values()}
    for name, value in values.items():
        placed[places[name]][name] = value
    path = _path(operation, placed.get("path", {}))
    if query := placed.get("query"):
        path += "?" + urlencode({name: _in_query(one) for name, one in query.items()})
    headers = {
        HEADERS[name]: _in_header(name, one)
        for name, one in placed.get("header", {}).items()
    }
    if operation.repeat == "key":
        headers["Idempotency-Key"] = _in_header("--key", key or os.urandom(16).hex())
    elif key is not None:
        raise Usage(f"--key: {operation.name} remembers no keys.")
    body = None
    if operation.method not in ("GET", "DELETE"):
        body = json.dumps(placed.get("body", {}), ensure_ascii=False).encode()
    return Request(
        operation.method,
        path,
        body,
        headers,
        may_repeat=operation.repeat != "not",
        extra_seconds=float(values.get("wait_seconds") or 0)
        + operation.patience_seconds,
    )


def _path(operation: Operation, values: dict[str, Any]) -> str:
    path = operation.path
    for name, value in values.items():
        text = str(value)
        if name == "handle":
            text = text.removeprefix("@")
        path = path.replace(f"{{{name}}}", quote(text, safe=""))
    return path


def _in_query(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, list) and all(isinstance(one, str) for one in value):
        return ",".join(value)
    return json.dumps(value)


def _in_header(name: str, value: Any) -> str:
    text = str(value)
    if not text.isascii() or not text.isprintable():
        raise Usage(f"{name} has characters that can't be sent.")
    return text
