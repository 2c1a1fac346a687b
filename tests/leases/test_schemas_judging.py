"""How a value is judged by a schema."""

import pytest

from leases.schemas import accept, problems
from leases.schemas.engine import MAX_PROBLEMS
from tests.leases.schema_samples import INVOICE, TREE, fits


def test_each_problem_has_its_place_its_keyword_and_a_sentence():
    bill = {
        "vendor": "",
        "issued": "2026-02-30",
        "currency": "EUR\n",
        "lines": [{"text": None, "amount": 19.991, "tax/~": 1}, {"text": "x"}],
        "missing": ["a", "b", "a"],
        "extra": 1,
    }
    accept(INVOICE)
    assert [(each.pointer, each.code) for each in problems(INVOICE, bill)] == [
        ("/currency", "pattern"),
        ("/issued", "format"),
        ("/lines/0/tax~1~0", "additionalProperties"),
        ("/lines/0/amount", "multipleOf"),
        ("/lines/0/text", "type"),
        ("/lines/1", "required"),
        ("/missing", "uniqueItems"),
        ("/vendor", "minLength"),
        ("/extra", "unevaluatedProperties"),
    ]
    details = {each.code: each.detail for each in problems(INVOICE, bill)}
    assert details["type"] == "expected string, got null"
    assert details["required"] == "'amount' is a required property"
    assert details["pattern"] == '"EUR\\n" does not match "^[A-Z]{3}$"'


def test_the_problems_do_not_depend_on_the_order_of_the_schema():
    turned = dict(reversed(INVOICE.items()))
    turned["properties"] = dict(reversed(INVOICE["properties"].items()))
    value = {"currency": "x", "vendor": 1, "z": 1, "y": 2}
    assert problems(turned, value) == problems(INVOICE, value) != []


def test_no_more_than_twenty_problems_are_told_and_no_big_value():
    schema = {"items": {"type": "string", "maxLength": 1}}
    found = problems(schema, ["x" * 100_000] * 30)
    assert len(found) == MAX_PROBLEMS
    assert [each.pointer for each in found] == [f"/{n}" for n in range(MAX_PROBLEMS)]
    assert all(len(each.detail) <= 200 for each in found)


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "null"},
        {"const": 1},
        {"enum": [1, "x" * 5_000]},
        {"anyOf": [{"type": "null"}, {"properties": {"k": False}}]},
        {"oneOf": [True, {}]},
        {"not": {}},
        {"maxProperties": 0},
        {"additionalProperties": False},
        {"additionalProperties": {"format": "date"}},
        {"propertyNames": {"maxLength": 1}},
        {"propertyNames": {"pattern": "^a$"}},
        {"unevaluatedProperties": False},
        {"dependentRequired": {"k": ["y" * 5_000]}},
        {"if": True, "then": False},
        {"allOf": [False]},
        False,
    ],
)
def test_no_message_leaks_a_big_value(schema):
    value = {"k": "s3cret" * 50_000, "n" * 50_000: "s3cret" * 50_000}
    found = problems(schema, value)
    assert found
    for each in found:
        assert len(each.detail) <= 200
        assert len(each.pointer) <= 300
        assert each.code


def test_a_message_is_always_text_that_can_be_sent():
    for schema in ({"const": 1}, {"format": "date"}, {"required": ["\ud83d"]}):
        for each in problems(schema, "\ud83d") + problems(schema, {"a": 1}):
            each.detail.encode()
    found = problems({"additionalProperties": False}, {"\ud83d": 1})
    assert found[0].pointer.encode() == rb"/\ud83d"


@pytest.mark.parametrize(
    ("schema", "good", "bad"),
    [
        ({"type": "integer"}, [1, 1.0, -0.0, 10**400], [True, False, 1.5, "1"]),
        ({"type": "number"}, [1, 1.5], [True, "1", None]),
        ({"type": "boolean"}, [True], [0, 1]),
        ({"type": ["string", "null"]}, ["", None], [0, {}]),
        ({"const": 1.0}, [1, 1.0], [True, "1", [1]]),
        ({"const": [False, {"a": 0}]}, [[False, {"a": 0.0}]], [[0, {"a": 0}]]),
        ({"enum": [1, "a", None, {"x": [True]}]}, [1.0, {"x": [True]}], [True, {"x": [1]}]),
        ({"multipleOf": 0.01}, [19.99, 0.07, 4.35, 1e20, 3], [19.991, 1e-5]),
        ({"multipleOf": 0.5}, [10**400, 1e308, -1.5], [0.3, 1e-320]),
        ({"multipleOf": 3}, [0, 9, -3, 9.0, 4.106535307727486e16], [10, 7.5]),
        ({"multipleOf": 1e-300}, [1e308, 1e-299], [1e-301]),
        ({"minimum": 0}, [0, 1e308], [-1, float("nan")]),
        ({"exclusiveMaximum": 1}, [0.5], [1, 1.0, float("nan")]),
        ({"minLength": 2}, ["👩‍👩", "ab", 5], ["a", ""]),
        ({"maxLength": 1}, ["🦊"], ["ab"]),
        ({"uniqueItems": True}, [[1, True, "1", [1], {"a": 1}, [True]], []], [
            [1, 1.0], [[1], [1.0]], [{"a": 1, "b": 2}, {"b": 2, "a": 1}], [None, None],
        ]),
        ({"uniqueItems": False}, [[1, 1]], []),
        ({"items": False, "prefixItems": [True]}, [[], [1]], [[1, 2]]),
        ({"contains": {"type": "string"}}, [["a", 1]], [[], [1]]),
        ({"contains": {"const": 1}, "minContains": 2, "maxContains": 3},
         [[1, 1], [1, 1, 1, 2]], [[1], [1] * 4]),
        ({"contains": {"const": 1}, "minContains": 0}, [[]], []),
        ({"oneOf": [{"minimum": 2}, {"multipleOf": 2}]}, [3, 0], [4, 1]),
        ({"if": {"type": "string"}, "then": {"minLength": 1}, "else": {"type": "null"}},
         ["a", None], ["", 1]),
        (TREE, [{"name": "a", "children": [{"name": "b"}]}],
         [{"name": "a", "children": [{"name": 1}]}, {"children": []}]),
    ],
)  # fmt: skip
def test_values_are_judged_as_json_schema_says(schema, good, bad):
    for value in good:
        assert fits(schema, value), value
    for value in bad:
        assert not fits(schema, value), value


@pytest.mark.parametrize(
    ("pattern", "good", "bad"),
    [
        ("^a$", ["a"], ["a\n", "ba"]),
        ("b", ["abc"], ["", "ac"]),
        (r"^\p{L}+$", ["Grüße", "日本"], ["a1", ""]),
        (r"^\p{Letter}\p{Script=Greek}$", ["a\u03b1"], ["aa"]),
        (r"^\P{Lu}$", ["a"], ["A"]),
        (r"^[\u4e00-\u9fff]+$", ["漢字"], ["kanji"]),
        (r"^\u{1F600}\ud83d\ude01$", ["😀😁"], ["😀"]),
        (r"^\cA[\x00-\x1f]$", ["\x01\x02"], ["A\x02"]),
        (r"^\d\w$", ["1a"], ["\u0661a", "1é"]),
        (r"^\s[\s\S]\S$", ["\u00a0\ufeffa"], ["\u00a0\ufeff\u2028"]),
        (r"^[^\s]$", ["a"], ["\u3000"]),
        (r"^\/\[\]\.$", ["/[]."], ["/[]a"]),
        (r"^(?<year>\d{4})$", ["2026"], ["26"]),
        (r"^\\u0041$", [r"\u0041"], ["A"]),
    ],
)
def test_patterns_mean_what_ecma_says(pattern, good, bad):
    for text in good:
        assert fits({"pattern": pattern}, text), text
        assert fits({"patternProperties": {pattern: False}}, {text: 1}) is False
    for text in bad:
        assert not fits({"pattern": pattern}, text), text
        assert fits({"patternProperties": {pattern: False}}, {text: 1})


def test_patterns_decide_what_is_additional_and_what_is_unevaluated():
    for keyword in ("additionalProperties", "unevaluatedProperties"):
        schema = {
            "properties": {"id": {}},
            "patternProperties": {r"^x-\p{Ll}$": {}, "^y$": {}},
            keyword: False,
        }
        assert fits(schema, {"id": 1, "x-ä": 1, "y": 1})
        found = problems(schema, {"y\n": 1, "x-Ä": 1, "a|b": 1})
        assert [each.pointer for each in found] == ["/y\n", "/x-Ä", "/a|b"]
        assert {each.code for each in found} == {keyword}


def test_unevaluated_sees_through_references_and_alternatives():
    schema = {
        "$defs": {"named": {"properties": {"name": {"type": "string"}}}},
        "$ref": "#/$defs/named",
        "anyOf": [
            {"properties": {"a": {"type": "integer"}}, "required": ["a"]},
            {"properties": {"b": True}, "required": ["b"]},
        ],
        "if": {"properties": {"c": {"const": 1}}, "required": ["c"]},
        "then": {"properties": {"d": True}},
        "dependentSchemas": {"name": {"properties": {"e": True}}},
        "unevaluatedProperties": {"type": "null"},
    }
    assert fits(schema, {"name": "n", "a": 1, "e": 1})
    assert fits(schema, {"b": 1, "c": 1, "d": 1, "z": None})
    assert not fits(schema, {"a": "not an integer", "b": 1})
    assert not fits(schema, {"b": 1, "d": 1})
    assert not fits(schema, {"b": 1, "e": 1})


def test_unevaluated_further_down_counts_as_judged():
    for inner in (True, {"type": "integer"}):
        schema = {
            "allOf": [{"unevaluatedProperties": inner, "unevaluatedItems": inner}],
            "unevaluatedProperties": False,
            "unevaluatedItems": False,
        }
        assert fits(schema, {"a": 1})
        assert fits(schema, [1])


def test_unevaluated_items_know_prefix_contains_and_alternatives():
    schema = {
        "prefixItems": [{"type": "string"}],
        "contains": {"const": 0},
        "anyOf": [{"prefixItems": [True, {"const": 5}]}, True],
        "unevaluatedItems": False,
    }
    assert fits(schema, ["a", 5, 0, 0])
    assert not fits(schema, ["a", 6, 0])
    assert [each.pointer for each in problems(schema, ["a", 5, 0, 7])] == ["/3"]


@pytest.mark.parametrize(
    ("name", "good", "bad"),
    [
        ("date", ["2026-11-29", "2024-02-29"], ["2026-02-29", "2026-1-1", "20261129"]),
        (
            "date-time",
            ["2026-11-29T13:00:00Z", "2026-11-29t13:00:00.123+05:30"],
            ["2026-11-29T13:00:00", "2026-11-29 13:00:00Z", "2026-11-29T24:00:00Z"],
        ),
        (
            "time",
            ["13:00:00Z", "23:59:60+00:00"],
            ["13:00", "13:60:00Z", "\u0661\u0663:00:00Z"],
        ),
        ("email", ["a@example.com"], ["a", "a@", "a b@c", "@c"]),
        ("uri", ["https://example.com/a?b#c", "urn:x"], ["/a", "http://a b", "a:%zz"]),
        ("uri-reference", ["/a", "", "x:y"], ["a b", "\\"]),
        (
            "uuid",
            ["0190b4a2-7C3d-7e4f-8a9b-0c1d2e3f4a5b"],
            [
                "0190b4a27c3d7e4f8a9b0c1d2e3f4a5b",
                "{0190b4a2-7c3d-7e4f-8a9b-0c1d2e3f4a}",
            ],
        ),
        ("ipv4", ["127.0.0.1"], ["127.1", "256.0.0.1", "01.2.3.4"]),
        ("ipv6", ["::1"], ["::1%eth0", ":::"]),
    ],
)
def test_formats_assert(name, good, bad):
    schema = {"format": name}
    for text in (*good, 5, None):
        assert fits(schema, text), text
    for text in bad:
        assert [each.code for each in problems(schema, text)] == ["format"], text


def test_an_unknown_format_is_an_annotation():
    assert fits({"format": "credit-card"}, "x")
