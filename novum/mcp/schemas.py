"""JSON Schemas of what goes into a tool and comes out of it, from the same shapes."""

from typing import Any, get_origin

import msgspec

from novum.operations.operation import Operation

VERBOSE = "verbose"
KEY = "idempotency_key"
ITEMS = "items"
_OWN: dict[str, dict[str, Any]] = {
    VERBOSE: {
        "type": "boolean",
        "default": False,
        "description": "Answer with every field, also empty ones.",
    },
    KEY: {
        "type": "string",
        "maxLength": 255,
        "description": "Any text of yours, new for each intent. Repeat a call whose"
        " answer was lost with the same key and arguments: the same answer, done once.",
    },
}


def own_arguments(operation: Operation) -> list[str]:
    """The arguments that a tool takes beside those of its operation."""
    answers = [VERBOSE] if operation.output is not None else []
    return [*answers, *([KEY] if operation.remembers else [])]


def input_schema(operation: Operation) -> dict[str, Any]:
    schema = _inlined(operation.input)
    own = {name: _OWN[name] for name in own_arguments(operation)}
    if twice := own.keys() & schema["properties"].keys():
        raise TypeError(f"{operation.name} has arguments of the door's own: {twice}.")
    schema["properties"] = {**schema["properties"], **own}
    if not schema["required"]:
        del schema["required"]
    return schema


def output_schema(operation: Operation) -> dict[str, Any] | None:
    """Nothing is required, because without `verbose` what is empty is left out."""
    if operation.output is None:
        return None
    schema = _inlined(operation.output)
    if is_bare_list(operation):
        defs = schema.pop("$defs", {})
        schema = {"type": "object", "properties": {ITEMS: schema}, "$defs": defs}
    for shape in (schema, *schema.get("$defs", {}).values()):
        shape.pop("required", None)
    return schema


def is_bare_list(operation: Operation) -> bool:
    """A structured answer is an object in the revisions of 2025, so a tool puts a list
    under `items`."""
    return get_origin(operation.output) is list


def _inlined(shape: Any) -> dict[str, Any]:
    """The schema of the shape itself at the root, others under `$defs`; without titles,
    which only repeat the names of our classes."""
    schema = msgspec.json.schema(shape)
    defs = schema.pop("$defs", {})
    root = schema
    if "$ref" in schema:
        root = defs.pop(schema["$ref"].rpartition("/")[2])
    for each in (root, *defs.values()):
        each.pop("title", None)
    return {**root, "$defs": defs} if defs else dict(root)
