"""Any schema, any value.

The oracle of the differential test is jsonschema as it comes, restricted to the
keywords whose meaning we do not change on purpose.
"""

import time

from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from leases.schemas import BadSchema, accept, problems
from leases.schemas.accept import DIALECT

JSON_SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-5, 5)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.sampled_from(["", "a", "b", "ab", "$ref", "#", "é"])
    | st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=5)
)
JSON_VALUES = st.recursive(
    JSON_SCALARS,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(["a", "b", "c", "x-1"]), inner, max_size=4)
    ),
    max_leaves=12,
)
SMALL = st.integers(0, 3)
NAMES = st.sampled_from(["a", "b", "c", "x-1"])


def keywords(inner):
    """The keywords whose meaning is jsonschema's own, each with fitting values."""
    return st.fixed_dictionaries(
        {},
        optional={
            "type": st.sampled_from(
                ["null", "boolean", "integer", "number", "string", "array", "object"]
            ),
            "enum": st.lists(JSON_VALUES, min_size=1, max_size=3),
            "const": JSON_VALUES,
            "multipleOf": st.integers(1, 3),
            "minimum": st.integers(-3, 3),
            "exclusiveMaximum": st.integers(-3, 3),
            "minLength": SMALL,
            "maxLength": SMALL,
            "pattern": st.sampled_from(["^a", "b", "[a-c]+"]),
            "minItems": SMALL,
            "maxItems": SMALL,
            "uniqueItems": st.booleans(),
            "prefixItems": st.lists(inner, min_size=1, max_size=2),
            "items": inner,
            "contains": inner,
            "minContains": SMALL,
            "maxContains": SMALL,
            "properties": st.dictionaries(NAMES, inner, max_size=3),
            "patternProperties": st.dictionaries(
                st.sampled_from(["^a", "^x-", "b"]), inner, max_size=2
            ),
            "additionalProperties": inner,
            "propertyNames": inner,
            "required": st.lists(NAMES, max_size=2, unique=True),
            "minProperties": SMALL,
            "maxProperties": SMALL,
            "dependentRequired": st.dictionaries(
                NAMES, st.lists(NAMES, max_size=2, unique=True), max_size=2
            ),
            "dependentSchemas": st.dictionaries(NAMES, inner, max_size=2),
            "allOf": st.lists(inner, min_size=1, max_size=3),
            "anyOf": st.lists(inner, min_size=1, max_size=3),
            "oneOf": st.lists(inner, min_size=1, max_size=3),
            "not": inner,
            "if": inner,
            "then": inner,
            "else": inner,
            "unevaluatedItems": inner,
            "unevaluatedProperties": inner,
            "$ref": st.sampled_from(["#/$defs/text", "#/$defs/pair", "#/$defs/tree"]),
        },
    )


DEFS = {
    "text": {"type": "string"},
    "pair": {"properties": {"a": {"$ref": "#/$defs/text"}, "b": True}},
    "tree": {"items": {"$ref": "#/$defs/tree"}, "properties": {"c": True}},
}
SCHEMAS = st.recursive(st.booleans(), keywords, max_leaves=6).map(
    lambda schema: {**schema, "$defs": DEFS} if isinstance(schema, dict) else schema
)


@settings(max_examples=300)
@given(SCHEMAS, st.lists(JSON_VALUES, min_size=1, max_size=3))
def test_verdicts_are_those_of_jsonschema(schema, values):
    accept(schema)
    oracle = Draft202012Validator(schema)
    for value in values:
        found = problems(schema, value, seconds=20)
        assert (found == []) is oracle.is_valid(value), (value, found)


WILD_KEYS = (
    *("$ref", "$defs", "$id", "$schema", "allOf", "anyOf", "const", "contains", "enum"),
    *("format", "if", "items", "maxLength", "minimum", "multipleOf", "not", "pattern"),
    *("patternProperties", "properties", "propertyNames", "required", "then", "type"),
    *("uniqueItems", "unevaluatedItems", "unevaluatedProperties", "a"),
)
WILD = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=8)
    | st.sampled_from(["#", "#/$defs/a", "#/allOf/0", DIALECT, "object", "(", r"\1"]),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(WILD_KEYS) | st.text(max_size=3),
            inner,
            max_size=5,
        )
    ),
    max_leaves=20,
)


@settings(max_examples=500)
@given(st.dictionaries(st.sampled_from(WILD_KEYS), WILD, max_size=4) | WILD, WILD)
def test_whatever_comes_as_a_schema_is_accepted_or_refused_and_never_breaks(
    schema, value
):
    try:
        accept(schema)
        accepted = True
    except BadSchema as error:
        accepted = False
        error.pointer.encode()
        error.detail.encode()
    begun = time.thread_time()
    found = problems(schema, value, seconds=0.5)
    assert time.thread_time() - begun < 2
    for each in found:
        (each.pointer + each.code + each.detail).encode()
    if accepted:
        assert "cannot_judge" not in [each.code for each in found]
