"""Which schemas we take: the ones we can promise to judge with, in time.

JSON Schema 2020-12 with local references only. Rules of the design, section 5;
the limits below let every reasonable schema of our samples pass (the largest has
57 KB, 16 levels, 1,567 values; refused are enumerations of 1,772 and 2,461 names
and a whole protocol of 109 KB).
"""

import json
from collections.abc import Iterator
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match
from referencing import Registry

from leases.schemas.patterns import BadPattern, compiled
from leases.schemas.places import Place, survey
from leases.schemas.pointers import Path
from leases.schemas.refusal import BadSchema
from leases.schemas.wording import cut

DIALECT = "https://json-schema.org/draft/2020-12/schema"
MAX_SCHEMA_BYTES = 64 * 1024  # as compact JSON in UTF-8
MAX_SCHEMA_DEPTH = 32  # arrays and objects inside one another
MAX_SCHEMA_NODES = 2_000  # JSON values, the containers counted
MAX_ENUM_VALUES = 1_000
# Sub-schemas that apply to one and the same value, counted through references.
MAX_EXPANSION = 10_000

_REFUSED_KEYWORDS = {
    "$id": "Only one schema document exists here: leave out $id.",
    "$anchor": 'Anchors are not supported: refer by "#/$defs/…".',
    "$dynamicAnchor": 'Anchors are not supported: refer by "#/$defs/…".',
    "$dynamicRef": "$dynamicRef is not supported: use $ref.",
    "$recursiveRef": '$recursiveRef is of draft 2019-09: use "$ref": "#".',
    "$recursiveAnchor": '$recursiveAnchor is of draft 2019-09: use "$ref": "#".',
    "additionalItems": "additionalItems is of an older draft: use items.",
    "dependencies": "dependencies is of an older draft: use dependentRequired "
    "or dependentSchemas.",
}
_META = Draft202012Validator(Draft202012Validator.META_SCHEMA, registry=Registry())


def accept(schema: object) -> None:
    """Return when the schema can be judged with; else raise BadSchema.

    Never raises anything else, whatever it is given. An accepted schema is an
    object or a boolean of JSON Schema 2020-12 within the limits of this module,
    whose references are local, lead to schemas and never loop without going
    deeper into the value, and whose patterns RE2 can run. So trees (recursion
    through properties or items) are fine.
    """
    if not isinstance(schema, dict | bool):
        raise BadSchema((), "A schema is an object, true or false.")
    _check_size(schema)
    _check_dialect(schema)
    places = survey(schema)
    for place in places:
        _check_keywords(place)
    _check_expansion(places)
    _check_against_meta_schema(schema)


def _check_size(schema: object) -> None:
    nodes = 1
    waiting: list[tuple[Path, object]] = [((), schema)]
    while waiting:
        path, value = waiting.pop()
        if isinstance(value, dict | list):
            nodes += len(value)
        if nodes > MAX_SCHEMA_NODES:
            raise BadSchema((), f"More than {MAX_SCHEMA_NODES} JSON values.")
        if len(path) > MAX_SCHEMA_DEPTH:
            raise BadSchema(path, f"Nested deeper than {MAX_SCHEMA_DEPTH} levels.")
        waiting += _parts(path, value)
    try:
        text = json.dumps(
            schema, ensure_ascii=False, allow_nan=False, separators=(",", ":")
        )
        size = len(text.encode())
    except (ValueError, OverflowError) as error:
        raise BadSchema((), f"Not a JSON value: {error}.") from None
    if size > MAX_SCHEMA_BYTES:
        raise BadSchema(
            (), f"{size} bytes as compact JSON, at most {MAX_SCHEMA_BYTES} are allowed."
        )


def _parts(path: Path, value: object) -> Iterator[tuple[Path, object]]:
    """The members or items of a value. Raises BadSchema for what isn't JSON."""
    if isinstance(value, dict):
        for key, member in value.items():
            if not isinstance(key, str):
                raise BadSchema(path, "The keys of an object must be strings.")
            _refuse_nul(path, key)
            yield (*path, key), member
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield (*path, index), item
    elif isinstance(value, str):
        _refuse_nul(path, value)
    elif not (value is None or isinstance(value, int | float)):
        raise BadSchema(path, f"Not a JSON value: {type(value).__name__}.")


def _refuse_nul(path: Path, text: str) -> None:
    # PostgreSQL cannot store it; a pattern says it as \u0000, with a backslash.
    if "\0" in text:
        raise BadSchema(path, "U+0000 cannot be stored.")


def _check_dialect(schema: dict[str, Any] | bool) -> None:
    said = schema.get("$schema", DIALECT) if isinstance(schema, dict) else DIALECT
    if said not in (DIALECT, DIALECT + "#"):
        raise BadSchema(
            ("$schema",),
            f"Only JSON Schema 2020-12 ({DIALECT}) is supported, not {cut(said)}.",
        )


def _check_keywords(place: Place) -> None:
    for keyword, reason in _REFUSED_KEYWORDS.items():
        if keyword in place.schema:
            raise BadSchema((*place.path, keyword), reason)
    if place.path and "$schema" in place.schema:
        raise BadSchema((*place.path, "$schema"), "Only the root may name a dialect.")
    values = place.schema.get("enum")
    if isinstance(values, list) and len(values) > MAX_ENUM_VALUES:
        raise BadSchema(
            (*place.path, "enum"),
            f"{len(values)} values, at most {MAX_ENUM_VALUES} are allowed.",
        )
    for path, pattern in place.patterns():
        try:
            compiled(pattern)
        except BadPattern as error:
            raise BadSchema(path, str(error)) from None


def _check_expansion(places: list[Place]) -> None:
    """Refuse loops that consume no value, and products of references."""
    weights: dict[int, int] = {}
    for start in places:
        _weigh(start, weights)


def _weigh(start: Place, weights: dict[int, int]) -> None:
    entered: set[int] = set()
    waiting = [start]
    while waiting:
        place = waiting[-1]
        if id(place) in weights:
            waiting.pop()
        elif id(place) in entered:
            weight = 1 + sum(weights[id(each)] for each in place.in_place)
            if weight > MAX_EXPANSION:
                raise BadSchema(
                    place.path,
                    f"Its references multiply to more than {MAX_EXPANSION} checks.",
                )
            weights[id(waiting.pop())] = weight
        else:
            entered.add(id(place))
            for each in place.in_place:
                if id(each) in entered and id(each) not in weights:
                    raise BadSchema(each.path, "It refers to itself without end.")
                waiting.append(each)


def _check_against_meta_schema(schema: dict[str, Any] | bool) -> None:
    # Checked last, because its checker recurses and is slow on monsters. Its
    # "regex" format would demand Python's syntax: so no format checker.
    try:
        error = best_match(_META.iter_errors(schema))
    except RecursionError:
        raise BadSchema((), "Nested too deep to be checked.") from None
    if error is not None:
        if error.context:
            # Only "type" has alternatives; the first one lists the names of types.
            error = error.context[0]
        raise BadSchema(error.absolute_path, cut(error.message))
