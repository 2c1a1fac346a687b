"""``unevaluatedProperties`` and ``unevaluatedItems``: linear, and with RE2.

What a schema evaluates is collected from itself and from every schema that it
applies to the same value and that the value fits (JSON Schema 2020-12, core,
section 11).
"""

from collections.abc import Iterator
from typing import Any

from leases.schemas.applicators import first_error, judge, target
from leases.schemas.assertions import Errors
from leases.schemas.clock import tick
from leases.schemas.patterns import matches


def unevaluated_properties(
    validator: Any, part: Any, instance: Any, schema: Any
) -> Errors:
    """Judge the members that nothing else in this schema has judged."""
    if not isinstance(instance, dict):
        return
    known = _own_keys(instance, schema)
    for applied in _applied(validator, instance, schema):
        known |= _keys(validator, instance, applied)
    for key, value in instance.items():
        if key not in known:
            yield from judge(
                validator, value, part, key, "this property is not allowed"
            )


def unevaluated_items(validator: Any, part: Any, instance: Any, schema: Any) -> Errors:
    """Judge the items that nothing else in this schema has judged."""
    if not isinstance(instance, list):
        return
    known = _own_indexes(validator, instance, schema)
    for applied in _applied(validator, instance, schema):
        known |= _indexes(validator, instance, applied)
    for index, item in enumerate(instance):
        if index not in known:
            yield from judge(validator, item, part, index, "this item is not allowed")


def _keys(validator: Any, instance: Any, schema: Any) -> set[str]:
    tick()
    if "unevaluatedProperties" in schema:
        return set(instance)
    known = _own_keys(instance, schema)
    for applied in _applied(validator, instance, schema):
        known |= _keys(validator, instance, applied)
    return known


def _own_keys(instance: Any, schema: Any) -> set[str]:
    if "additionalProperties" in schema:
        return set(instance)
    known: set[str] = instance.keys() & schema.get("properties", {}).keys()
    for pattern in schema.get("patternProperties", ()):
        known |= {key for key in instance if matches(pattern, key)}
    return known


def _indexes(validator: Any, instance: Any, schema: Any) -> set[int]:
    tick()
    if "unevaluatedItems" in schema:
        return set(range(len(instance)))
    known = _own_indexes(validator, instance, schema)
    for applied in _applied(validator, instance, schema):
        known |= _indexes(validator, instance, applied)
    return known


def _own_indexes(validator: Any, instance: Any, schema: Any) -> set[int]:
    if "items" in schema:
        return set(range(len(instance)))
    known = set(range(len(schema.get("prefixItems", ()))))
    if "contains" in schema:
        known |= {
            index
            for index, item in enumerate(instance)
            if first_error(validator, item, schema["contains"]) is None
        }
    return known


def _applied(validator: Any, instance: Any, schema: Any) -> Iterator[dict[str, Any]]:
    """The object schemas applied in place, as far as the instance fits them."""
    for part in _candidates(validator, instance, schema):
        if isinstance(part, dict) and first_error(validator, instance, part) is None:
            yield part


def _candidates(validator: Any, instance: Any, schema: Any) -> Iterator[Any]:
    if "$ref" in schema:
        yield target(schema["$ref"])
    for keyword in ("allOf", "anyOf", "oneOf"):
        yield from schema.get(keyword, ())
    if isinstance(instance, dict):
        for key, part in schema.get("dependentSchemas", {}).items():
            if key in instance:
                yield part
    if "if" in schema:
        fits = first_error(validator, instance, schema["if"]) is None
        yield schema["if"]
        yield schema.get("then" if fits else "else", True)
