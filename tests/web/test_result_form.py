"""From a schema to fields, and from what was typed to a result."""

import pytest
from django.test import RequestFactory

from accounts.errors import FieldError
from novum.web.result_form import blame, form_of, read


def kinds(schema):
    return {one.name: one.kind for one in form_of(schema).every()}


def typed(schema, **fields):
    named = {name.replace("__", "/"): value for name, value in fields.items()}
    return read(RequestFactory().post("/", named), schema)


def an_object(*required, **properties):
    return {"type": "object", "required": list(required), "properties": properties}


def test_every_kind_of_value_has_its_field():
    schema = an_object(
        text={"type": "string"},
        short={"type": "string", "maxLength": 20},
        day={"type": "string", "format": "date"},
        at={"type": "string", "format": "date-time"},
        count={"type": "integer"},
        share={"type": ["number", "null"]},
        sure={"type": "boolean"},
        size={"enum": ["s", 2]},
        tags={"type": "array", "items": {"type": "string"}},
        by={"type": "object", "properties": {"deep": {"type": "object"}}},
        free={},
        many={"type": "array", "items": {"type": "object"}},
        ref={"$ref": "#/$defs/yes"},
    )
    schema["$defs"] = {"yes": {"type": "boolean"}}
    assert kinds(schema) == {
        "result/text": "long",
        "result/short": "text",
        "result/day": "date",
        "result/at": "moment",
        "result/count": "integer",
        "result/share": "number",
        "result/sure": "yesno",
        "result/size": "choice",
        "result/tags": "lines",
        "result/by": "group",
        "result/by/deep": "json",
        "result/free": "json",
        "result/many": "json",
        "result/ref": "yesno",
    }


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        ({"type": "integer"}, "12", 12),
        ({"type": "number"}, "1.5", 1.5),
        ({"type": "boolean"}, "no", False),
        ({"enum": ["s", 2]}, "2", 2),
        ({"type": "array", "items": {"type": "string"}}, "a\r\n\r\n b ", ["a", "b"]),
        (
            {"type": "string", "format": "date-time"},
            "2026-01-02T03:04",
            "2026-01-02T03:04:00Z",
        ),
        ({"type": "string"}, " as typed ", " as typed "),
        ({"type": "object"}, '{"a": [1]}', {"a": [1]}),
    ],
)
def test_what_is_typed_becomes_a_value_of_its_type(kind, text, value):
    form, result = typed(an_object(one=kind), result__one=text)
    assert not form.wrong
    assert result == {"one": value}


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ({"type": "integer"}, "1.5"),
        ({"type": "integer"}, "true"),
        ({"type": "integer"}, "9" * 5000),
        ({"type": "number"}, "NaN"),
        ({"type": "boolean"}, "perhaps"),
        ({"enum": ["s"]}, "m"),
        ({"type": "object"}, "{"),
        ({"type": "string"}, "a\x00b"),
    ],
)
def test_what_is_no_such_value_is_said_at_the_field_and_kept(kind, text):
    form, result = typed(an_object(one=kind), result__one=text)
    (field,) = form.fields
    assert result is None
    assert len(field.errors) == 1


def test_empty_is_left_out_and_asked_for_where_it_is_required():
    schema = an_object("a", a={"type": "integer"}, b={"type": "integer"})
    form, result = typed(schema, result__a="", result__b="")
    assert result is None
    assert [bool(one.errors) for one in form.fields] == [True, False]
    assert typed(schema, result__a="1")[1] == {"a": 1}


def test_what_is_required_comes_first_in_its_order():
    schema = an_object("z", "m", **{name: {"type": "integer"} for name in "abmz"})
    assert [one.label for one in form_of(schema).fields] == ["z", "m", "a", "b"]


def test_an_object_inside_is_left_out_when_it_is_empty():
    schema = an_object(by=an_object(team={"type": "string"}), rows={"type": "integer"})
    assert typed(schema, result__rows="1")[1] == {"rows": 1}
    assert typed(schema, result__by__team="north")[1] == {"by": {"team": "north"}}


def test_json_stands_for_all_fields():
    schema = an_object("a", a={"type": "integer"})
    assert typed(schema, json='{"a": 3}')[1] == {"a": 3}
    form, result = typed(schema, json="{", result__a="1")
    assert result is None
    assert form.json == "{"
    assert form.json_errors


@pytest.mark.parametrize(
    "schema", [{"type": "object"}, {"anyOf": [{}]}, False, {"$ref": "#/$defs/no"}]
)
def test_what_has_no_fields_is_asked_for_as_json(schema):
    form, _ = typed(schema)
    assert form.fields == []
    assert form.json_errors
    assert typed(schema, json="[1]")[1] == [1]


def test_a_reference_to_itself_ends():
    assert form_of({"$ref": "#"}).fields == []


def test_without_a_schema_it_is_a_text_or_nothing():
    assert typed(None, result__text="Five.")[1] == {"text": "Five."}
    assert typed(None)[1] is None


def test_names_that_look_like_paths_stay_apart():
    schema = an_object(
        **{"a/b": {"type": "string"}, "a": an_object(b={"type": "string"})}
    )
    form, result = read(
        RequestFactory().post("/", {"result/a~1b": "one", "result/a/b": "two"}), schema
    )
    assert result == {"a/b": "one", "a": {"b": "two"}}
    blame(
        form,
        [FieldError("/result/a~1b", "x", "Wrong"), FieldError("/result", "y", "All")],
    )
    assert [one.name for one in form.every() if one.errors] == ["result/a~1b"]
    assert form.errors == ["All"]
