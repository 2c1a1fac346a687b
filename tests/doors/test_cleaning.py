"""The cleaning layer: what passes comes back the same, what is refused says where."""

import json
import time
import tracemalloc
from decimal import Decimal

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from accounts.blank import is_blank
from novum.cleaning import (
    MAX_BODY_BYTES,
    MAX_DEPTH,
    MAX_INTEGER,
    Unclean,
    clean,
    read_json,
)
from novum.cleaning.refusal import MAX_POINTER_CHARACTERS


def refused(function, *arguments, **named):
    with pytest.raises(Unclean) as caught:
        function(*arguments, **named)
    error = caught.value
    error.pointer.encode()
    error.detail.encode()
    assert len(error.pointer) <= MAX_POINTER_CHARACTERS
    assert len(error.detail) <= 200
    return error.status_hint, error.code, error.pointer


@pytest.mark.parametrize(
    "text",
    [
        "{}",
        "null",
        '"👩‍👩‍👧‍👦 \\ud83d\\ude00 \u202e bidi \u200d"',
        '{"a": {"": 1, " ": 2, "__proto__": 3, "a/b~": [true, false, null]}}',
        '{"url": "https://example.com:80/a?b:c", "at": "12:00:00", ":": ":"}',
        '{"a\\u003ab": "\\u003a", "c": 1}',
        '{"a" : 1 , "b"\n:\t2}',
        "[0.1, -0.0, 1e20, 1E-320, 123456789.123456789, 0.11111111111111111111]",
        f"[{MAX_INTEGER}, -{MAX_INTEGER}]",
        '"\\\\u0000 \\\\ud83d"',
        "[" * MAX_DEPTH + "]" * MAX_DEPTH,
        '{"a":' * MAX_DEPTH + '"leaf"' + "}" * MAX_DEPTH,
    ],
)
def test_clean_json_comes_back_as_it_is(text):
    assert read_json(text.encode()) == json.loads(text)


@pytest.mark.parametrize(
    ("body", "answer"),
    [
        (b"", (400, "malformed_json", "")),
        (b" ", (400, "malformed_json", "")),
        (b"{'a': 1}", (400, "malformed_json", "")),
        (b"[1,]", (400, "malformed_json", "")),
        (b"{} {}", (400, "malformed_json", "")),
        (b"[01]", (400, "malformed_json", "")),
        (b"\xef\xbb\xbf{}", (400, "malformed_json", "")),
        (b'{"a": "\x00"}', (400, "malformed_json", "")),
        (b'{"a": "\n"}', (400, "malformed_json", "")),
        (b'"\xff"', (400, "not_utf8", "")),
        (b'"\xed\xa0\xbd"', (400, "not_utf8", "")),
        ("{}".encode("utf-16"), (400, "not_utf8", "")),
        (b'{"a": 1, "a": 1}', (400, "repeated_key", "")),
        (b'{"a" :1, "a":2}', (400, "repeated_key", "")),
        (b'{"x": [{"y": {"k": ":", "k": "::"}}]}', (400, "repeated_key", "/x/0/y")),
        (b'{"k": "\\u003a", "k": 1}', (400, "repeated_key", "")),
        (b'{"k": 1, "k": "\\u003A"}', (400, "repeated_key", "")),
        (b'{"k": 1, "\\u006b": 1}', (400, "repeated_key", "")),
        (b'{"a/b~": ["x", "a\\u0000b"]}', (422, "nul_character", "/a~1b~0/1")),
        (b'{"a": {"\\u0000": 1}}', (422, "nul_character", "/a")),
        (b'"\\ud83d"', (422, "lone_surrogate", "")),
        (b'["\\ude00"]', (422, "lone_surrogate", "/0")),
        (b'["\\ud83d\\u0041 and more text"]', (422, "lone_surrogate", "/0")),
        (b'{"a": {"\\ud83d\\ud83d": 1}}', (422, "lone_surrogate", "/a")),
        (b"[9007199254740992]", (422, "number_out_of_range", "/0")),
        (b"-9007199254740992", (422, "number_out_of_range", "")),
        (b'{"n": 123456789012345678901234567890}', (422, "number_out_of_range", "/n")),
        (b'{"n": [NaN]}', (422, "number_out_of_range", "/n/0")),
        (b'{"n": -Infinity}', (422, "number_out_of_range", "/n")),
        (b'{"n": 1e999}', (422, "number_out_of_range", "/n")),
        (b'{"n": -1e400}', (422, "number_out_of_range", "/n")),
        (b"9" * 400, (422, "number_out_of_range", "")),
        (b'{"n": ' + b"9" * 4_000 + b"}", (422, "number_out_of_range", "/n")),
        (b'{"n": ' + b"9" * 5_000 + b"}", (422, "number_out_of_range", "")),
        (b'[1, {"b": "\\u0000"}, 1e999]', (422, "nul_character", "/1/b")),
    ],
    ids=lambda each: repr(each)[:40],
)
def test_what_is_refused_has_a_status_a_code_and_a_place(body, answer):
    assert refused(read_json, body) == answer


def test_a_body_that_is_too_long_is_refused_unread():
    body = b'"' + b"x" * (MAX_BODY_BYTES - 2) + b'"'
    assert len(read_json(body)) == MAX_BODY_BYTES - 2
    assert refused(read_json, body + b" ") == (413, "too_large", "")
    assert refused(read_json, b"[1]", limit=2) == (413, "too_large", "")


@pytest.mark.parametrize("levels", [MAX_DEPTH + 1, 100, 1_000, 20_000, 100_000])
@pytest.mark.parametrize(
    ("opening", "closing"), [("[", "]"), ('{"a":', "}"), ("[", ""), ('{"a":[', "")]
)
def test_depth_is_refused_in_flat_memory(levels, opening, closing):
    leaf = "1" if closing == "}" else ""
    body = (opening * levels + leaf + closing * levels).encode()
    tracemalloc.start()
    begun = time.thread_time()
    status, code, _ = refused(read_json, body, limit=2**30)
    seconds = time.thread_time() - begun
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    unfinished = closing == "" and levels <= 1_000
    assert (status, code) in (
        [(400, "malformed_json"), (422, "too_deep")]
        if unfinished
        else [(422, "too_deep")]
    )
    assert peak < 4 * 2**20
    assert seconds < 2


HOSTILE = {
    "one endless integer": b"9" * 1_000_000,
    "many long integers": b"[" + b",".join([b"9" * 4_299] * 240) + b"]",
    "an endless float": b"-" + b"1" * 1_000_000 + b".5e99999",
    "a late fault": b"[" + b"1e308," * 150_000 + b"1e309]",
    "a long name above many items": (
        b'{"' + b"k" * 500_000 + b'": [' + b"0," * 250_000 + b'"\\u0000"]}'
    ),
    "a late repeated name": b'{"a": 1, "a": [' + b"0," * 400_000 + b"0]}",
}


@pytest.mark.parametrize("body", HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_body_costs_little_time_and_memory(body):
    assert len(body) <= MAX_BODY_BYTES
    begun = time.thread_time()
    with pytest.raises(Unclean):
        read_json(body)
    assert time.thread_time() - begun < 4
    tracemalloc.start()
    with pytest.raises(Unclean):
        read_json(body)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 40 * 2**20


def test_the_pointer_of_a_fault_is_cut():
    _, _, pointer = refused(read_json, json.dumps({"k" * 5_000: ["\0"]}).encode())
    assert pointer == "/" + "k" * (MAX_POINTER_CHARACTERS - 2) + "…"


@pytest.mark.parametrize(
    "value",
    [
        "text",
        None,
        True,
        1.5,
        {"q": "a", "limit": 5, "tags": ["x", ("y", 1)]},
        MAX_INTEGER,
        "\u200b",
    ],
)
def test_clean_values_pass_unchanged(value):
    assert clean(value) is value


@pytest.mark.parametrize(
    ("value", "answer"),
    [
        ("\0", (422, "nul_character", "/query")),
        ({"q": "a\0"}, (422, "nul_character", "/query/q")),
        ({"q\0": "a"}, (422, "nul_character", "/query")),
        (["\ud83d"], (422, "lone_surrogate", "/query/0")),
        (["\ud83d", "\ude00"], (422, "lone_surrogate", "/query/0")),
        ({"\udc00": 1}, (422, "lone_surrogate", "/query")),
        (float("nan"), (422, "number_out_of_range", "/query")),
        ([float("inf")], (422, "number_out_of_range", "/query/0")),
        ({"n": 2**53}, (422, "number_out_of_range", "/query/n")),
        ([10**6_000], (422, "number_out_of_range", "/query/0")),
        ([1, (b"x",)], (422, "not_json", "/query/1/0")),
        ({1: 2}, (422, "not_json", "/query")),
        ([Decimal(1)], (422, "not_json", "/query/0")),
        ([{1}], (422, "not_json", "/query/0")),
    ],
)
def test_decoded_values_obey_the_same_rules(value, answer):
    assert refused(clean, value, where="/query") == answer


def test_a_value_nested_without_end_is_refused():
    value = []
    value.append(value)
    assert refused(clean, value)[1] == "too_deep"
    leaf = deep = []
    for _ in range(MAX_DEPTH - 1):
        deep = [deep]
    assert clean(deep) is deep
    leaf.append(())
    assert refused(clean, deep)[:2] == (422, "too_deep")


@pytest.mark.parametrize(
    "text",
    [
        "",
        " \t\n\u00a0\u3000\u2028",
        "\u200b\u200c\u200d\u2060\ufeff\u00ad",
        "\u202e\u2066\u061c",
        "\u3164\u115f\uffa0\u2800",
        "\ufe0f\U000e0100\U000e0041\u034f",
        "\0\x1b",
    ],
)
def test_what_nobody_can_see_is_blank(text):
    assert is_blank(text)


@pytest.mark.parametrize(
    "text", ["a", " a ", "0", "\u200bx", "👩‍👩‍👧", "é", "ـ", "-", "\u202eabc"]
)
def test_what_somebody_can_see_is_not_blank(text):
    assert not is_blank(text)


TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=8)
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-MAX_INTEGER, MAX_INTEGER)
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXTS
    | st.sampled_from([":", "a:b", "\\u003a", "\\u0000"]),
    lambda inner: (
        st.lists(inner, max_size=5) | st.dictionaries(TEXTS, inner, max_size=5)
    ),
    max_leaves=30,
)


@settings(max_examples=300)
@given(VALUES, st.booleans(), st.sampled_from([(",", ":"), (" ,\n", " : ")]))
def test_any_value_within_the_limits_is_read_back(value, ascii_only, separators):
    text = json.dumps(value, ensure_ascii=ascii_only, separators=separators)
    assert read_json(text.encode()) == value
    assert read_json(msgspec.json.encode(value)) == value
    assert clean(value) is value


@settings(max_examples=300)
@given(VALUES, st.data())
def test_a_member_written_twice_is_always_seen(value, data):
    names = data.draw(st.lists(TEXTS, min_size=1, max_size=4, unique=True))
    repeated = data.draw(st.sampled_from(names))
    members = [*names, repeated]
    inner = ",".join(f"{json.dumps(name)}:{json.dumps(value)}" for name in members)
    assert refused(read_json, f'{{"a":[{{{inner}}}]}}'.encode()) == (
        400, "repeated_key", "/a/0",
    )  # fmt: skip


DIRTY = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters()),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(st.characters(), max_size=3), inner, max_size=4)
    ),
    max_leaves=12,
)


def is_dirty(value):
    """The rules once more, in the plainest way."""
    if isinstance(value, str):
        return any(each == "\0" or "\ud800" <= each <= "\udfff" for each in value)
    if isinstance(value, dict):
        return any(map(is_dirty, [*value, *value.values()]))
    if isinstance(value, list):
        return any(map(is_dirty, value))
    if isinstance(value, float):
        return value - value != 0
    return isinstance(value, int) and abs(value) > MAX_INTEGER


@settings(max_examples=400)
@given(DIRTY)
def test_exactly_the_dirty_values_are_refused(value):
    if not is_dirty(value):
        assert clean(value) is value
        assert read_json(json.dumps(value).encode()) == value
        return
    answer = refused(clean, value)
    assert answer == refused(read_json, json.dumps(value).encode())


@settings(max_examples=400)
@given(st.binary(max_size=60) | st.text('[]{}":,\\u0d83e1-. a').map(str.encode))
def test_any_bytes_are_read_or_refused(body):
    try:
        value = read_json(body)
    except Unclean:
        return
    assert value == json.loads(body)
