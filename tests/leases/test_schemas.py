"""Which schemas a contract may have."""

import copy

import pytest

from leases.schemas import BadSchema, accept, problems
from leases.schemas.accept import (
    DIALECT,
    MAX_ENUM_VALUES,
    MAX_SCHEMA_BYTES,
    MAX_SCHEMA_DEPTH,
    MAX_SCHEMA_NODES,
)
from tests.leases.schema_samples import INVOICE, TREE, doubling, nested


def refusal(schema):
    with pytest.raises(BadSchema) as caught:
        accept(schema)
    return caught.value.pointer, caught.value.detail


@pytest.mark.parametrize(
    "schema",
    [
        True,
        False,
        {},
        {"$schema": DIALECT},
        {"type": "object"},
        {"not": {}},
        {"properties": {"x": {"type": "integer", "const": 1.0}}},
        {"properties": {"$id": {}, "$schema": {}, "$ref": {"type": "string"}}},
        {"enum": ["$id", {"$ref": "https://example.com/"}]},
        {"pattern": r"^\p{L}+$"},
        {"pattern": "^(a+)+$"},
        {"$defs": {"a/b~%": {}}, "$ref": "#/$defs/a~1b~0%25"},
        {"prefixItems": [{}, {}], "items": {"$ref": "#/prefixItems/1"}},
        {"definitions": {"x": True}, "$ref": "#/definitions/x"},
        {"unknown-keyword": 1, "title": "T", "default": None, "deprecated": True},
        INVOICE,
        TREE,
    ],
)
def test_a_schema_we_can_judge_with_is_accepted(schema):
    before = copy.deepcopy(schema)
    accept(schema)
    assert schema == before


@pytest.mark.parametrize(
    ("schema", "pointer", "said"),
    [
        (None, "", "object, true or false"),
        ([], "", "object, true or false"),
        ("string", "", "object, true or false"),
        (5, "", "object, true or false"),
        (
            {"$schema": "http://json-schema.org/draft-07/schema#"},
            "/$schema",
            "draft-07",
        ),
        ({"$schema": 7}, "/$schema", "2020-12"),
        ({"items": {"$schema": DIALECT}}, "/items/$schema", "root"),
        ({"$id": "https://example.com/a"}, "/$id", "$id"),
        ({"items": {"$anchor": "a"}}, "/items/$anchor", "$defs"),
        ({"$dynamicAnchor": "a"}, "/$dynamicAnchor", "$defs"),
        ({"$dynamicRef": "#a"}, "/$dynamicRef", "$ref"),
        ({"$recursiveRef": "#"}, "/$recursiveRef", "$ref"),
        ({"additionalItems": False}, "/additionalItems", "items"),
        ({"dependencies": {}}, "/dependencies", "dependentRequired"),
        ({"type": "strnig"}, "/type", "'strnig' is not one of"),
        ({"required": "name"}, "/required", "array"),
        ({"items": [{"type": "string"}]}, "/items", "object"),
        ({"exclusiveMinimum": True}, "/exclusiveMinimum", "number"),
        ({"properties": {"a": 5}}, "/properties/a", "5"),
        ({"minLength": -1}, "/minLength", "minimum"),
        ({"const": float("nan")}, "", "JSON"),
        ({"const": {1: 2}}, "/const", "keys"),
        ({"const": {1, 2}}, "/const", "set"),
        ({"const": b"x"}, "/const", "bytes"),
        ({"const": 10**5000}, "", "JSON"),
        ({"const": "\ud83d"}, "", "surrogates"),
        ({"const": ["\0"]}, "/const/0", "U+0000"),
        ({"const": {"\0": 1}}, "/const", "U+0000"),
        ({"a/b~": {"const": {1: 1}}}, "/a~1b~0/const", "keys"),
    ],
)
def test_any_other_is_refused_naming_the_place_and_the_reason(schema, pointer, said):
    place, detail = refusal(schema)
    assert place == pointer
    assert said in detail


@pytest.mark.parametrize(
    ("ref", "said"),
    [
        ("http://127.0.0.1:1/x.json", "inside"),
        ("file:///etc/passwd", "inside"),
        ("//host/x", "inside"),
        ("other.json#/a", "inside"),
        ("", "inside"),
        ("#anchor", "inside"),
        ("#/$defs/missing", "nothing"),
        ("#/allOf/-1", "nothing"),
        ("#/allOf/00", "nothing"),
        ("#/allOf/1", "nothing"),
        ("#/$defs/%FF", "nothing"),
        ("#/title", "no schema"),
        ("#/unknown", "$defs"),
        ("#/$defs", "$defs"),
        (5, "string"),
        (None, "string"),
    ],
)
def test_a_reference_must_lead_to_a_schema_in_this_document(ref, said):
    schema = {
        "title": "T",
        "$defs": {"a": {}},
        "unknown": {"type": "string"},
        "allOf": [{"properties": {"x": {"$ref": ref}}}],
    }
    place, detail = refusal(schema)
    assert place == "/allOf/0/properties/x/$ref"
    assert said in detail


@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "#"},
        {"allOf": [{"$ref": "#"}]},
        {"anyOf": [True, {"$ref": "#"}]},
        {"oneOf": [{"not": {"$ref": "#"}}]},
        {"if": {"$ref": "#"}},
        {"then": {"$ref": "#"}},
        {"dependentSchemas": {"a": {"$ref": "#"}}},
        {"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}},
        {"properties": {"a": {"$ref": "#/properties/a"}}},
    ],
)
def test_a_loop_that_consumes_no_value_is_refused(schema):
    assert "without end" in refusal(schema)[1]


@pytest.mark.parametrize(
    "part",
    [
        {"items": {"$ref": "#"}},
        {"properties": {"a": {"$ref": "#"}}},
        {"additionalProperties": {"allOf": [{"$ref": "#"}]}},
        {"contains": {"$ref": "#"}},
        {"prefixItems": [{"$ref": "#"}]},
        {"unevaluatedProperties": {"$ref": "#"}},
        {"propertyNames": {"$ref": "#"}},
    ],
)
def test_recursion_into_the_value_is_accepted_and_ends(part):
    accept(part)
    for value in (1, [[[1]]], {"a": {"a": {"a": 1}}}):
        assert [each.code for each in problems(part, value)] in ([], ["contains"])


def test_references_that_multiply_are_refused():
    accept(doubling(10))
    assert "multiply" in refusal(doubling(30))[1]


@pytest.mark.parametrize(
    ("largest", "too_large", "said"),
    [
        (nested(MAX_SCHEMA_DEPTH), nested(MAX_SCHEMA_DEPTH + 1), "deeper"),
        (True, nested(200_000), "deeper"),
        (
            {"enum": list(range(MAX_ENUM_VALUES))},
            {"enum": list(range(MAX_ENUM_VALUES + 1))},
            "at most 1000",
        ),
        (
            {"examples": [0] * (MAX_SCHEMA_NODES - 2)},
            {"examples": [0] * (MAX_SCHEMA_NODES - 1)},
            "2000 JSON values",
        ),
        (
            {"title": "é" * ((MAX_SCHEMA_BYTES - 12) // 2)},
            {"title": "é" * (MAX_SCHEMA_BYTES // 2)},
            "65536",
        ),
        ({"pattern": "a" * 200}, {"pattern": "a" * 201}, "200"),
        (True, {"k" * 600_000: [0] * 200_000}, "2000 JSON values"),
    ],
)
def test_the_limits_are_exact(largest, too_large, said):
    accept(largest)
    assert said in refusal(too_large)[1]


@pytest.mark.parametrize(
    ("pattern", "said"),
    [
        ("(?<=x)y", "look-around"),
        ("a(?!b)", "look-around"),
        (r"(a)\1", "back-reference"),
        (r"(?<n>a)\k<n>", "back-reference"),
        ("[", "missing ]"),
        ("a{0,1000000}", "repetition"),
        (r"(?:[^a]\p{L}?){200}", "too large"),
        (r"\p{Elvish}", "Elvish"),
    ],
)
def test_a_pattern_without_a_linear_match_is_refused(pattern, said):
    for schema, place in (
        ({"pattern": pattern}, "/pattern"),
        (
            {"patternProperties": {pattern: {}}},
            "/patternProperties/" + pattern.replace("/", "~1"),
        ),
    ):
        assert refusal(schema)[0] == place
        assert said in refusal(schema)[1]


def test_the_message_of_a_refusal_does_not_repeat_a_big_value():
    place, detail = refusal({"required": "x" * 50_000})
    assert place == "/required"
    assert len(detail) <= 200
    assert len(refusal({"k" * 50_000: {1: 1}})[0]) <= 300
