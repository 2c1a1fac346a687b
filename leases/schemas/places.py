"""Where the sub-schemas of a schema are, and which apply to the same value."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from leases.schemas.pointers import Path, follow
from leases.schemas.refusal import BadSchema
from leases.schemas.wording import cut

# JSON Schema 2020-12, the applicators and $defs, by the shape of their value.
_ONE = frozenset(
    (
        "additionalProperties",
        "contains",
        "contentSchema",
        "else",
        "if",
        "items",
        "not",
        "propertyNames",
        "then",
        "unevaluatedItems",
        "unevaluatedProperties",
    )
)
_LIST = frozenset(("allOf", "anyOf", "oneOf", "prefixItems"))
_NAMED = frozenset(
    ("$defs", "definitions", "dependentSchemas", "patternProperties", "properties")
)
# These judge the value at hand; the others judge its members, items or keys.
_IN_PLACE = frozenset(
    ("allOf", "anyOf", "dependentSchemas", "else", "if", "not", "oneOf", "then")
)


@dataclass(slots=True)
class Place:
    """One object schema: the path to it, and the schemas it applies in place."""

    path: Path
    schema: dict[str, Any]
    in_place: list["Place"] = field(default_factory=list)

    def patterns(self) -> Iterator[tuple[Path, str]]:
        """The regular expressions of this place, with their paths."""
        pattern = self.schema.get("pattern")
        if isinstance(pattern, str):
            yield (*self.path, "pattern"), pattern
        named = self.schema.get("patternProperties")
        if isinstance(named, dict):
            for key in named:
                yield (*self.path, "patternProperties", key), key


def survey(root: object) -> list[Place]:
    """Every object schema from the root down, references followed.

    Raises BadSchema for a reference that isn't local, leads nowhere, or leads
    to something that isn't at the place of a schema. Values of a wrong shape
    are passed over: the meta-schema refuses them.
    """
    # By identity: one object is one schema, however it is reached.
    places: dict[int, Place] = {}
    waiting: list[tuple[Path, object]] = [((), root)]
    while waiting:
        path, schema = waiting.pop()
        if isinstance(schema, dict) and id(schema) not in places:
            places[id(schema)] = Place(path, schema)
            waiting += ((at, part) for _, at, part in _parts(path, schema))
    for place in places.values():
        for keyword, _, part in _parts(place.path, place.schema):
            if keyword in _IN_PLACE and isinstance(part, dict):
                place.in_place.append(places[id(part)])
        if "$ref" in place.schema:
            named = _named(place, root)
            if isinstance(named, dict):
                place.in_place.append(_place_of(named, place, places))
    return list(places.values())


def _parts(path: Path, schema: dict[str, Any]) -> Iterator[tuple[str, Path, object]]:
    for keyword, value in schema.items():
        if keyword in _ONE:
            yield keyword, (*path, keyword), value
        elif keyword in _LIST and isinstance(value, list):
            for index, part in enumerate(value):
                yield keyword, (*path, keyword, index), part
        elif keyword in _NAMED and isinstance(value, dict):
            for name, part in value.items():
                yield keyword, (*path, keyword, name), part


def _named(place: Place, root: object) -> object:
    ref, at = place.schema["$ref"], (*place.path, "$ref")
    if not isinstance(ref, str):
        raise BadSchema(at, "A reference is a string.")
    if ref != "#" and not ref.startswith("#/"):
        raise BadSchema(
            at, f'Only references inside of this schema ("#/…"), not {cut(ref)}.'
        )
    try:
        named = follow(root, ref)
    except (LookupError, ValueError):
        raise BadSchema(at, f"{cut(ref)} leads to nothing.") from None
    if not isinstance(named, dict | bool):
        raise BadSchema(at, f"{cut(ref)} leads to no schema.")
    return named


def _place_of(named: object, place: Place, places: dict[int, Place]) -> Place:
    try:
        return places[id(named)]
    except KeyError:
        raise BadSchema(
            (*place.path, "$ref"),
            f"{cut(place.schema['$ref'])} is not the place of a schema: "
            "put it under $defs.",
        ) from None
