"""What a text means for a field is told by the field alone, never by the folder."""

import json
import sys
from io import BytesIO, TextIOWrapper

import pytest

from novum.cli.catalog import Field
from novum.cli.errors import Usage
from novum.cli.values import split_pair, value_of

INTEGER = {"type": "integer", "minimum": 1, "maximum": 5, "default": 3}
NUMBER = {"anyOf": [{"type": "number"}, {"type": "null"}], "default": None}
TEXT = {"type": "string"}
MAYBE_TEXT = {"anyOf": [{"type": "string"}, {"type": "null"}]}
HANDLE = {"anyOf": [{"type": "string", "format": "handle"}, {"type": "null"}]}
BOOLEAN = {"type": "boolean", "default": False}
LIST = {"type": "array", "items": {"type": "string"}}
NUMBERS = {"anyOf": [{"type": "array", "items": {"type": "integer"}}, {"type": "null"}]}
TEXT_OR_LIST = {"anyOf": [TEXT, LIST]}
OBJECT = {"type": "object"}
OBJECTS = {"type": "array", "items": {"$ref": "NewCard"}}
CHOICE = {"anyOf": [{"enum": ["bottom", "top"]}, {"type": "null"}]}
ANYTHING: dict = {"default": None}


def value(schema, text, is_json=False, place="body"):
    return value_of(Field("field", place, False, schema), text, is_json=is_json)


@pytest.mark.parametrize(
    ("schema", "text", "meant"),
    [
        (INTEGER, "3", 3),
        (INTEGER, "-7", -7),
        (NUMBER, "2.5", 2.5),
        (NUMBER, "1e3", 1000.0),
        (NUMBER, "null", None),
        (TEXT, "3", "3"),
        (TEXT, "null", "null"),
        (TEXT, "", ""),
        (TEXT, "two\nlines = 1", "two\nlines = 1"),
        (TEXT, '{"a": 1}', '{"a": 1}'),
        (MAYBE_TEXT, "null", "null"),
        (BOOLEAN, "true", True),
        (BOOLEAN, "false", False),
        (LIST, "a,b", ["a", "b"]),
        (LIST, "a, b ,", ["a", "b"]),
        (LIST, "", []),
        (LIST, '["a,b"]', ["a,b"]),
        (NUMBERS, "1,60,300", [1, 60, 300]),
        (NUMBERS, "null", None),
        (TEXT_OR_LIST, "reports", "reports"),
        (TEXT_OR_LIST, "urgent,reports", ["urgent", "reports"]),
        (OBJECT, '{"a": [1]}', {"a": [1]}),
        (CHOICE, "top", "top"),
        (ANYTHING, "312", "312"),
        (ANYTHING, "a,b", "a,b"),
    ],
)
def test_a_text_becomes_what_the_field_takes(schema, text, meant):
    found = value(schema, text)
    assert found == meant
    assert type(found) is type(meant)


@pytest.mark.parametrize(
    ("schema", "text"),
    [
        (INTEGER, "3.5"),
        (INTEGER, "three"),
        (INTEGER, ""),
        (INTEGER, "null"),
        (INTEGER, "true"),
        (INTEGER, "9" * 5000),
        (NUMBER, "nan"),
        (NUMBER, "1e999"),
        (BOOLEAN, "yes"),
        (BOOLEAN, "1"),
        (NUMBERS, "1,b"),
        (OBJECT, "a"),
        (OBJECT, "{a: 1}"),
        (OBJECTS, "a,b"),
    ],
)
def test_what_it_does_not_take_is_refused_naming_the_field(schema, text):
    with pytest.raises(Usage, match="field"):
        value(schema, text)


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ('{"file":"q3.csv"}', {"file": "q3.csv"}),
        ("null", None),
        ("312", 312),
        ('"@ann"', "@ann"),
        ("[1, 2.5]", [1, 2.5]),
    ],
)
def test_json_is_taken_as_it_is_whatever_the_field(text, meant):
    for schema in (ANYTHING, TEXT, INTEGER):
        assert value(schema, text, is_json=True) == meant


@pytest.mark.parametrize(
    "text",
    ["", "{", "{'a':1}", "NaN", "Infinity", "1e999", '{"a":1,"a":2}', "[" * 10_000],
)
def test_what_is_no_json_is_refused_naming_the_field(text):
    with pytest.raises(Usage, match=r"^field: "):
        value(ANYTHING, text, is_json=True)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ann").write_text("a file that is called like somebody\n")
    (tmp_path / "q3.json").write_text('{"rows": 312}')
    (tmp_path / "labels").write_text("a,b\n")
    (tmp_path / "picture").write_bytes(b"\xff\xd8")
    return tmp_path


def test_a_handle_is_never_a_file(folder):
    assert value(HANDLE, "@ann") == "@ann"
    assert value(HANDLE, "@nobody") == "@nobody"


def test_any_other_field_reads_the_file_without_its_last_line_break(folder):
    assert value(TEXT, "@ann") == "a file that is called like somebody"
    assert value(ANYTHING, "@q3.json") == '{"rows": 312}'
    assert value(ANYTHING, "@./q3.json", is_json=True) == {"rows": 312}
    assert value(LIST, "@labels") == ["a", "b"]
    assert value(TEXT, f"@{folder}/ann") == "a file that is called like somebody"


@pytest.mark.parametrize("name", ["nobody", ".", "picture", ""])
def test_a_file_that_cannot_be_read_is_named_and_never_sent_as_text(folder, name):
    with pytest.raises(Usage, match=r"^field: ") as refused:
        value(TEXT, f"@{name}")
    assert repr(name) in refused.value.text


def test_two_at_signs_begin_a_text_with_one(folder):
    assert value(TEXT, "@@ann please look") == "@ann please look"


def test_a_hyphen_is_standard_input(monkeypatch):
    given = TextIOWrapper(BytesIO("Grüße\n".encode()))
    monkeypatch.setattr(sys, "stdin", given)
    assert value(TEXT, "@-") == "Grüße"


@pytest.mark.parametrize("text", ["", "..", "NOV-12", "../boards", "1234"])
def test_only_an_id_stands_in_an_address(text):
    with pytest.raises(Usage, match="field"):
        value({"type": "string", "format": "uuid"}, text, place="path")


@pytest.mark.parametrize("word", ["", "title", "=x", "1a=x", "a b=c", ":=1"])
def test_a_word_that_is_no_pair_is_shown(word):
    with pytest.raises(Usage) as refused:
        split_pair(word)
    assert repr(word) in refused.value.text


def test_only_the_first_sign_parts_a_pair():
    assert split_pair("a=b=c:=d") == ("a", False, "b=c:=d")
    assert split_pair("a:=" + json.dumps("b=c")) == ("a", True, '"b=c"')
    assert split_pair("due=2026-12-01T10:00:00Z")[2] == "2026-12-01T10:00:00Z"
