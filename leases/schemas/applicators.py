"""The keywords that apply sub-schemas to a value or to its parts.

Ours in place of the library's so that loops look at the clock, problems come in
the same order each time, and no error copies a big value.
"""

from typing import Any

from jsonschema.exceptions import ValidationError

from leases.schemas.assertions import Errors, Keyword
from leases.schemas.clock import RUN, tick
from leases.schemas.patterns import matches
from leases.schemas.pointers import follow, pointer
from leases.schemas.wording import cut, quote

_SHOWN_ALTERNATIVES = 3
_SHOWN_REASON_CHARACTERS = 50


def judge(
    validator: Any, value: Any, schema: Any, path: str | int, refusal: str
) -> Errors:
    """The errors of a member or item; `refusal` is what a `false` schema says."""
    if schema is False:
        yield ValidationError(refusal, path=[path])
        return
    for error in _errors(validator, value, schema):
        error.path.appendleft(path)
        yield error


def first_error(validator: Any, value: Any, schema: Any) -> ValidationError | None:
    """One error of the value under a schema, or None when it fits."""
    return next(_errors(validator, value, schema), None)


def _errors(validator: Any, value: Any, schema: Any) -> Errors:
    tick()
    if schema is False:
        return iter((ValidationError("nothing is allowed here"),))
    parts = RUN.get().parts
    # The library's own way makes a validator for each value it looks at.
    part = parts.get(id(schema))
    if part is None:
        part = parts[id(schema)] = validator.evolve(schema=schema)
    errors: Errors = part.iter_errors(value)
    return errors


def target(ref: str) -> Any:
    """The schema a local reference names, below the root of this run."""
    return follow(RUN.get().root, ref)


def _ref(validator: Any, ref: str, instance: Any, schema: Any) -> Errors:
    return _errors(validator, instance, target(ref))


def _all_of(validator: Any, parts: Any, instance: Any, schema: Any) -> Errors:
    for part in parts:
        yield from _errors(validator, instance, part)


def _pattern_properties(
    validator: Any, patterns: Any, instance: Any, schema: Any
) -> Errors:
    if not isinstance(instance, dict):
        return
    for pattern, part in patterns.items():
        refusal = f"no property may match {quote(pattern)}"
        for key, value in instance.items():
            if matches(pattern, key):
                yield from judge(validator, value, part, key, refusal)


def _additional_properties(
    validator: Any, part: Any, instance: Any, schema: Any
) -> Errors:
    if not isinstance(instance, dict):
        return
    named = schema.get("properties", {})
    patterns = schema.get("patternProperties", {})
    for key, value in instance.items():
        tick()
        if key in named or any(matches(pattern, key) for pattern in patterns):
            continue
        yield from judge(validator, value, part, key, "this property is not allowed")


def _properties(validator: Any, parts: Any, instance: Any, schema: Any) -> Errors:
    if not isinstance(instance, dict):
        return
    for key, part in parts.items():
        if key in instance:
            yield from judge(
                validator, instance[key], part, key, "this property is not allowed"
            )


def _items(validator: Any, part: Any, instance: Any, schema: Any) -> Errors:
    if not isinstance(instance, list):
        return
    prefix = len(schema.get("prefixItems", ()))
    refusal = f"at most {prefix} items are allowed"
    for index in range(prefix, len(instance)):
        yield from judge(validator, instance[index], part, index, refusal)


def _contains(validator: Any, part: Any, instance: Any, schema: Any) -> Errors:
    if not isinstance(instance, list):
        return
    least, most = schema.get("minContains", 1), schema.get("maxContains")
    found = 0
    for item in instance:
        found += first_error(validator, item, part) is None
        if most is not None and found > most:
            yield ValidationError(
                f"more than {most} items fit the schema under contains",
                validator="maxContains",
            )
            return
    if found < least:
        yield ValidationError(
            f"{found} items fit the schema under contains, needed are {least}",
            validator="minContains" if "minContains" in schema else "contains",
        )


def _any_of(validator: Any, parts: Any, instance: Any, schema: Any) -> Errors:
    reasons: list[str] = []
    for part in parts:
        error = first_error(validator, instance, part)
        if error is None:
            return
        if len(reasons) < _SHOWN_ALTERNATIVES:
            reasons.append(_reason(error))
    yield ValidationError(_fits_none(len(parts), reasons))


def _one_of(validator: Any, parts: Any, instance: Any, schema: Any) -> Errors:
    reasons: list[str] = []
    fitting: list[int] = []
    for index, part in enumerate(parts):
        error = first_error(validator, instance, part)
        if error is None:
            fitting.append(index)
            if len(fitting) == 2:
                yield ValidationError(
                    f"fits alternatives {fitting[0]} and {fitting[1]}, "
                    "only one is allowed"
                )
                return
        elif len(reasons) < _SHOWN_ALTERNATIVES:
            reasons.append(_reason(error))
    if not fitting:
        yield ValidationError(_fits_none(len(parts), reasons))


def _reason(error: ValidationError) -> str:
    at = pointer(error.absolute_path)
    said = f"{at}: {error.message}" if at else error.message
    return cut(said, _SHOWN_REASON_CHARACTERS)


def _fits_none(count: int, reasons: list[str]) -> str:
    return f"fits none of {count} alternatives: {'; '.join(reasons)}"


def _not(validator: Any, part: Any, instance: Any, schema: Any) -> Errors:
    if first_error(validator, instance, part) is None:
        yield ValidationError(f"{quote(instance)} fits the schema under not")


APPLICATORS: dict[str, Keyword] = {
    "$ref": _ref,
    "additionalProperties": _additional_properties,
    "allOf": _all_of,
    "anyOf": _any_of,
    "contains": _contains,
    "items": _items,
    "not": _not,
    "oneOf": _one_of,
    "patternProperties": _pattern_properties,
    "properties": _properties,
}
