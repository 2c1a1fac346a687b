"""The OpenAPI 3.1 document, derived from the operations."""

import re
from typing import Any

import msgspec

from novum import cleaning
from novum.operations.operation import Operation
from novum.operations.registry import OPERATIONS
from novum.parts import parts
from novum.problems import Problem
from novum.rest.answering import IN_HEADER, IN_QUERY, IN_QUERY_TOO

_PARAMETER = re.compile(r"{(\w+)}")
_REF = "#/components/schemas/{name}"
_REFUSAL = "TooManyRequests"

_DESCRIPTION = f"""Agents claim cards from a column with a lease, renew it, complete or
fail. Send `Authorization: Bearer <worker token>`.

Limits: bodies {cleaning.MAX_BODY_BYTES} bytes, nesting {cleaning.MAX_DEPTH} levels,
integers within ±{cleaning.MAX_INTEGER} (send larger ones as strings), no U+0000 and no
lone surrogates anywhere, no member twice in one object. Times are RFC 3339 with an
offset; lengths of time are seconds. Errors are RFC 9457 problem details: look at `code`.
A custom verb follows a colon (AIP-136); the verbs keep their hyphens.
"""


def document() -> dict[str, Any]:
    outputs = [one.output for one in OPERATIONS if one.output is not None]
    inputs = [one.input for one in OPERATIONS]
    shapes = [*outputs, *inputs, Problem]
    refs, components = msgspec.json.schema_components(shapes, ref_template=_REF)
    by_shape = dict(zip(map(repr, shapes), refs, strict=True))
    paths: dict[str, dict[str, Any]] = {}
    for one in OPERATIONS:
        for path in (one.path, *one.aliases):
            entry = _operation(one, by_shape, components, alias=path != one.path)
            paths.setdefault(f"/v1{path}", {})[one.method.lower()] = entry
    found = {
        "openapi": "3.1.1",
        "info": {"title": "Novum", "version": "1", "description": _DESCRIPTION},
        "servers": [{"url": "/"}],
        "security": [{"bearer": []}],
        "paths": paths,
        "components": {
            "schemas": _used(components),
            "responses": {_REFUSAL: _refusal()},
            "securitySchemes": {"bearer": {"type": "http", "scheme": "bearer"}},
        },
    }
    for part in parts("document"):
        part.extend(found, _REF)
    return found


def _operation(
    one: Operation, refs: dict[str, Any], components: dict[str, Any], *, alias: bool
) -> dict[str, Any]:
    shape = components[one.input.__name__]
    entry: dict[str, Any] = {
        "operationId": one.name + ("_alias" if alias else ""),
        "tags": [one.noun],
        "summary": one.summary,
        "description": f"{prose(one)}\n\n{shape.get('description', '')}".strip(),
        "parameters": _parameters(one, shape),
        "responses": _responses(one, refs),
    }
    if one.method not in IN_QUERY:
        entry["requestBody"] = _body(one, shape)
    return entry


def prose(one: Operation) -> str:
    """Who may do it."""
    who = {
        "anybody": "Anybody in the workspace",
        "person": "People, not agents",
        "admin": "Admins of the workspace",
    }
    may = who.get(one.who, f"Board role {one.who} or above")
    return f"{may}; scope `{one.scope}`."


def _parameters(one: Operation, shape: dict[str, Any]) -> list[dict[str, Any]]:
    found = []
    in_path = _PARAMETER.findall(one.path)
    for name, schema in shape["properties"].items():
        if name in in_path:
            found.append(_parameter(name, "path", True, schema))
        elif name in IN_HEADER:
            found.append(_parameter(IN_HEADER[name], "header", False, schema))
        elif one.waits and name == IN_QUERY_TOO:
            found.append(_parameter(name, "query", False, schema))
        elif one.method in IN_QUERY:
            required = name in shape.get("required", [])
            found.append(_parameter(name, "query", required, schema))
    if one.remembers:
        schema = {
            "type": "string",
            "maxLength": 255,
            "description": "The same key and body again: the same answer, for 24 h.",
        }
        found.append(_parameter("Idempotency-Key", "header", False, schema))
    return found


def _parameter(
    name: str, place: str, required: bool, schema: dict[str, Any]
) -> dict[str, Any]:
    if place != "path" and "anyOf" in schema:
        # Absent is how a query or a header says null.
        kinds = [kind for kind in schema["anyOf"] if kind != {"type": "null"}]
        schema = {**kinds[0]} if len(kinds) == 1 else {**schema, "anyOf": kinds}
        schema.pop("default", None)
    if name == "handle":
        schema = {**schema, "pattern": "^[a-z0-9][a-z0-9-]{0,38}$"}
    if name == "queue" and place == "path":
        schema = {**schema, "pattern": "^[a-z0-9][a-z0-9_-]{0,59}$"}
    return {"name": name, "in": place, "required": required, "schema": schema}


def _body(one: Operation, shape: dict[str, Any]) -> dict[str, Any]:
    outside = {*_PARAMETER.findall(one.path), *IN_HEADER}
    fields = {k: v for k, v in shape["properties"].items() if k not in outside}
    required = [name for name in shape.get("required", []) if name in fields]
    schema: dict[str, Any] = {
        "type": "object",
        "properties": fields,
        "additionalProperties": False,
    }
    if required:
        schema["required"] = required
    return {
        "required": bool(required),
        "content": {"application/json": {"schema": schema}},
    }


def _responses(one: Operation, refs: dict[str, Any]) -> dict[str, Any]:
    good: dict[str, Any] = {"description": "Done."}
    if one.output is not None:
        good["content"] = {"application/json": {"schema": refs[repr(one.output)]}}
    codes = ", ".join(f"`{code}`" for code in one.errors)
    problem = {
        "description": f"A problem. Codes of its own: {codes}."
        if codes
        else "A problem.",
        "content": _problem(),
    }
    refusal = {"$ref": f"#/components/responses/{_REFUSAL}"}
    return {str(one.status): good, "429": refusal, "default": problem}


def _refusal() -> dict[str, Any]:
    """What every operation can answer; draft-ietf-httpapi-ratelimit-headers."""
    told = {
        "Retry-After": ("Seconds to wait.", {"type": "integer", "minimum": 1}),
        "RateLimit-Policy": (
            'The limit that was hit: `"work";q=240000;w=60` are 240000 requests in 60'
            " seconds (`qu`: another unit than requests).",
            {"type": "string"},
        ),
        "RateLimit": (
            'What is left of it: `"work";r=0;t=12` is nothing for the next 12 seconds.',
            {"type": "string"},
        ),
    }
    headers = {
        name: {"description": text, "required": True, "schema": schema}
        for name, (text, schema) in told.items()
    }
    text = "Too many requests: `rate_limited`, with the names in `violated-policies`."
    return {"description": text, "headers": headers, "content": _problem()}


def _problem() -> dict[str, Any]:
    schema = {"$ref": _REF.format(name="Problem")}
    return {"application/problem+json": {"schema": schema}}


def _used(components: dict[str, Any]) -> dict[str, Any]:
    """Inputs are written out where they are used; keep those that others refer to."""
    text = msgspec.json.encode(components).decode()
    inputs = {one.input.__name__ for one in OPERATIONS}
    return {
        name: schema
        for name, schema in components.items()
        if name not in inputs or _REF.format(name=name) in text
    }
