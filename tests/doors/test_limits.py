"""The limits that the document tells are those that are kept: just beyond one a call is
refused by the field's name, just within it isn't refused for that."""

from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import pytest

from accounts.told import MAX_HANDLE_CHARACTERS
from novum.mcp.schemas import input_schema, own_arguments
from novum.operations.registry import OPERATIONS
from tests.connections import undone
from tests.doors.http import DOCUMENT
from tests.doors.recipes import Sent, sent

Path = tuple[str | int, ...]

# By name, wherever they stand, and why they have no bounds.
UNBOUNDED = {
    "lease_token": "a secret of ours: one of another length is a lost lease",
    "page_token": "ours, and opaque: of another length it's a bad cursor",
    "after": "ours, and opaque: of another length it's a bad cursor",
    "if_match": "an ETag of ours: another one doesn't match",
    "scopes": "a list of four words",
    "page_size": "a larger one counts as the largest",
}
UNTRIED = {
    "text": "a file: the whole body is measured (tests/transfer)",
    "base64": "a file: the whole body is measured (tests/transfer)",
}
SPANS = {"string": ("minLength", "maxLength"), "array": ("minItems", "maxItems")}
NUMBERS = ("integer", "number")


@dataclass(frozen=True)
class Field:
    """`at` is where it stands in the input, 0 for an item of a list."""

    at: Path
    schema: dict[str, Any]
    defs: dict[str, Any]

    @property
    def kind(self) -> str:
        return str(self.schema.get("type", ""))

    @property
    def name(self) -> str:
        return str([step for step in self.at if isinstance(step, str)][-1])

    @property
    def is_free(self) -> bool:
        """Whether there could be any number of them."""
        return not self.schema.keys() & {"enum", "format"} or self.is_handle

    @property
    def is_handle(self) -> bool:
        return self.schema.get("format") == "handle" or (
            self.schema.get("maxLength") == MAX_HANDLE_CHARACTERS
        )

    def bound(self, side: int) -> float | None:
        names = SPANS.get(self.kind, ("minimum", "maximum"))
        found: float | None = self.schema.get(names[side])
        return found

    def value(self, size: float) -> Any:
        """Of this length, or this number."""
        if self.kind in NUMBERS:
            return size
        count = int(size)
        if self.kind == "string":
            return "@" + "a" * (count - 1) if self.is_handle else "a" * count
        return [self._item(i) for i in range(count)]

    def _item(self, i: int) -> Any:
        items = self.schema["items"]
        if items.get("format") == "uuid":
            return str(UUID(int=i))
        if items.get("type") in NUMBERS:
            return i
        return items["enum"][0] if "enum" in items else f"a{i}"


def fields(operation) -> Iterator[Field]:
    schema = input_schema(operation)
    for name in own_arguments(operation):
        del schema["properties"][name]
    yield from walked(schema, (), schema.get("$defs", {}))


def walked(schema: dict[str, Any], at: Path, defs: dict[str, Any]) -> Iterator[Field]:
    if "$ref" in schema:
        schema = defs[schema["$ref"].rpartition("/")[2]]
    for kind in schema.get("anyOf", []):
        yield from walked(kind, at, defs)
    if at and "type" in schema:
        yield Field(at, schema, defs)
    if "items" in schema:
        yield from walked(schema["items"], (*at, 0), defs)
    for name, each in schema.get("properties", {}).items():
        yield from walked(each, (*at, name), defs)


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda one: one.name)
def test_every_text_list_and_number_is_bounded(operation):
    for field in fields(operation):
        if field.name in UNBOUNDED:
            continue
        if (field.kind in SPANS and field.is_free) or field.kind in NUMBERS:
            assert field.bound(1) is not None, field.at
        if field.kind in NUMBERS:
            assert field.bound(0) is not None, field.at


def tried(operation) -> list[tuple[Field, int, float]]:
    """Each field, which way is beyond, and its bound."""
    found = []
    for field in fields(operation):
        in_path = f"{{{field.name}}}" in operation.path
        if in_path or field.name in UNTRIED or field.kind == "boolean":
            continue
        for side, beyond in enumerate((-1, 1)):
            bound = field.bound(side)
            if bound is not None and not (field.kind in SPANS and bound <= 0):
                found.append((field, beyond, bound))
    return found


@pytest.mark.parametrize(
    "operation", [one for one in OPERATIONS if tried(one)], ids=lambda one: one.name
)
def test_the_limits_that_are_told_are_kept(world, owner, operation):
    values = sent(operation, world, world.owner).values
    for field, beyond, bound in tried(operation):
        outside = refusals(world, owner, operation, values, field, bound + beyond)
        assert outside, (field.at, bound + beyond)
        if field.name == "wait_seconds" and bound:
            continue  # it would be kept by waiting
        inside = refusals(world, owner, operation, values, field, bound)
        assert not outside & inside, (field.at, bound)


def refusals(world, owner, operation, values, field, size) -> set[tuple[str, str]]:
    """What an answer says against this field: codes and details."""
    made = filled(values, field, size)
    with undone():
        answer = Sent(made).by(owner, operation)
    assert answer.status_code < 500
    if answer.status_code < 400:
        return set()
    errors = answer.json().get("errors") or []
    # An item may be told by its list.
    names = [step for step in field.at if isinstance(step, str)]
    return {
        (one["code"], one["detail"])
        for one in errors
        if [name for name in one["pointer"][1:].split("/") if not name.isdigit()]
        == names
    }


def filled(values: dict[str, Any], field: Field, size: float) -> dict[str, Any]:
    """The call with this field of this size, and whatever it stands in."""
    made: Any = deepcopy(values)
    there = made
    for step, following in zip(field.at, field.at[1:], strict=False):
        empty: Any = [] if following == 0 else {}
        if isinstance(step, str):
            if type(there.get(step)) is not type(empty):
                there[step] = empty
        elif not there:
            there.append(empty)
        there = there[step]
    value = field.value(size)
    if (
        field.kind == "array"
        and isinstance(there, dict)
        and "$ref" in str(field.schema["items"])
    ):
        value = there[field.at[-1]][:1] * int(size)
    if isinstance(there, dict):
        there[field.at[-1]] = value
    else:
        there[:1] = [value]
    return made


NAMED = [
    ("create_card", "title", "maxLength", 500),
    ("create_card", "description", "maxLength", 100_000),
    ("create_card", "labels", "maxItems", 50),
    ("create_card", "skills", "maxItems", 20),
    ("add_comment", "text", "maxLength", 20_000),
    ("fail_lease", "reason", "maxLength", 10_000),
    ("release_lease", "note", "maxLength", 10_000),
    ("create_board", "name", "maxLength", 100),
    ("set_column_contract", "max_attempts", "maximum", 1_000),
    ("set_column_contract", "lease_ttl_seconds", "maximum", 86_400),
    ("set_column_contract", "concurrency_limit", "maximum", 10_000),
    ("set_column_contract", "backoff_seconds", "maxItems", 50),
    ("set_column_contract", "queue", "pattern", "^[a-z0-9][a-z0-9_-]{0,59}$"),
    ("claim_next_card", "count", "maximum", 50),
]


@pytest.mark.parametrize(("name", "field", "limit", "value"), NAMED)
def test_the_document_tells_them(name, field, limit, value):
    entry = next(
        entry
        for methods in DOCUMENT["paths"].values()
        for entry in methods.values()
        if entry["operationId"] == name
    )
    body = entry["requestBody"]["content"]["application/json"]["schema"]
    schema = body["properties"][field]
    (kind,) = [
        kind for kind in schema.get("anyOf", [schema]) if kind != {"type": "null"}
    ]
    assert kind[limit] == value
