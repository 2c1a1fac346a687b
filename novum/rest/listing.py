"""The operations in the shortest form from which a client can make its commands.

The OpenAPI document says everything about answers as well and is ten times as long.
Whoever has this list (the command line does) needs to know no operation beforehand.
"""

import hashlib
import re
from functools import cache
from typing import Any

import msgspec
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import condition, require_safe

from novum.operations.operation import Operation
from novum.operations.registry import OPERATIONS
from novum.rest.answering import IN_HEADER, IN_QUERY
from novum.rest.openapi import prose

_PARAMETER = re.compile(r"{(\w+)}")


def listing() -> dict[str, Any]:
    """`operations`, and the `schemas` that their fields refer to by `$ref`."""
    _, shapes = msgspec.json.schema_components(
        [one.input for one in OPERATIONS], ref_template="{name}"
    )
    operations = [_entry(one, shapes[one.input.__name__]) for one in OPERATIONS]
    inputs = {one.input.__name__ for one in OPERATIONS}
    return {
        "operations": operations,
        "schemas": {k: shape for k, shape in shapes.items() if k not in inputs},
    }


def _entry(one: Operation, shape: dict[str, Any]) -> dict[str, Any]:
    needed = shape.get("required", [])
    return {
        "name": one.name,
        "group": one.noun,
        "method": one.method,
        "path": f"/v1{one.path}",
        "summary": one.summary,
        "description": f"{one.doc} {shape.get('description', '')}".strip(),
        "who": prose(one),
        "repeat": repeat(one),
        **({"patience_seconds": more} if (more := one.patience_seconds) else {}),
        "fields": [
            {
                "name": name,
                "in": _place(one, name),
                "required": name in needed,
                "schema": schema,
            }
            for name, schema in shape["properties"].items()
        ],
    }


def _place(one: Operation, name: str) -> str:
    if name in _PARAMETER.findall(one.path):
        return "path"
    if name in IN_HEADER:
        return "header"
    return "query" if one.method in IN_QUERY else "body"


def repeat(one: Operation) -> str:
    """Whether a call whose answer was lost may be sent again: `safe` as it is, with
    the same Idempotency-`key`, or it must `not`.

    Stricter than `is_repeatable`: a DELETE or a PATCH changes nothing more, but its
    second answer may be a 404 or a 412 where the first was good.
    """
    if one.remembers:
        return "key"
    safe = one.method in ("GET", "PUT") or one.repeatable or one.bucket == "finish"
    return "safe" if safe else "not"


@cache
def _encoded() -> tuple[bytes, str]:
    text = msgspec.json.encode(listing())
    return text, f'"{hashlib.sha256(text).hexdigest()[:32]}"'


def _etag(request: HttpRequest) -> str:
    return _encoded()[1]


@require_safe
@condition(etag_func=_etag)
def operations_json(request: HttpRequest) -> HttpResponse:
    """Open to everybody, as the document is: it holds nothing of any workspace."""
    headers = {"Cache-Control": "no-cache"}
    return HttpResponse(_encoded()[0], content_type="application/json", headers=headers)
