"""Judging fetches nothing, ends in time and never raises."""

import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from leases.schemas import BadSchema, accept, problems
from leases.schemas.accept import DIALECT
from tests.leases.schema_samples import INVOICE, TREE, deep, doubling, fits, nested
from tests.processes.waiting import eventually


@pytest.fixture
def listener():
    """A port that counts who connects."""
    server = socket.create_server(("127.0.0.1", 0))
    server.settimeout(0.05)
    callers, stop = [], threading.Event()

    def serve():
        while not stop.is_set():
            try:
                connection, address = server.accept()
            except TimeoutError:
                continue
            callers.append(address)
            connection.close()

    thread = threading.Thread(target=serve)
    thread.start()
    yield server.getsockname()[1], callers
    stop.set()
    thread.join()
    server.close()


def test_no_schema_makes_us_connect_anywhere(listener):
    port, callers = listener
    there = f"http://127.0.0.1:{port}/schema.json"
    for schema in (
        {"$ref": there},
        {"$ref": f"//127.0.0.1:{port}/x"},
        {"$schema": there},
        {"$id": there, "$ref": "other.json"},
        {"$id": there, "$ref": "#/missing"},
        {"$dynamicRef": there},
        {"items": {"$schema": there, "$ref": there}},
        {"allOf": [{"$id": there}, {"$ref": "x.json#/$defs/a"}]},
    ):
        with pytest.raises(BadSchema):
            accept(schema)
        # A schema that came past us, by an old row or an import:
        assert all(each.code == "cannot_judge" for each in problems(schema, [{"a": 1}]))
    socket.create_connection(("127.0.0.1", port)).close()
    # Whoever had come before it would have been let in before it.
    eventually(lambda: callers)
    assert len(callers) == 1, "only our own probe"


SLOW = {
    "doubling references": (doubling(40), {}),
    "doubling on the way down": ({"items": {"allOf": [{"$ref": "#"}] * 2}}, deep(60)),
    "one long text": ({"pattern": "(?:a?b?){450}c"}, "ab" * 500_000),
    "many texts": ({"items": {"pattern": "(?:a?b?){450}c"}}, ["ab" * 20_000] * 100),
    "many items": ({"items": {"not": {"required": ["x"]}}}, [{}] * 500_000),
    "many empty checks": ({"items": {"items": {}}}, [[0] * 1_000] * 1_000),
    "items times alternatives": (
        {"contains": {"anyOf": [{"type": "string"}] * 50}},
        [0] * 100_000,
    ),
    "names times patterns": (
        {"patternProperties": {f"^a{n}": {} for n in range(900)}},
        {str(n): n for n in range(50_000)},
    ),
    "many names": (
        {"propertyNames": {"maxLength": 9}},
        {str(n): n for n in range(200_000)},
    ),
    "unevaluated times alternatives": (
        {"unevaluatedItems": False, "allOf": [{"items": True}] * 1_000},
        [0] * 100_000,
    ),
}


@pytest.mark.parametrize(("schema", "value"), SLOW.values(), ids=SLOW)
def test_what_takes_too_long_is_cut_and_told(schema, value):
    begun = time.thread_time()
    found = problems(schema, value, seconds=0.2)
    assert [each.code for each in found] == ["too_slow"]
    assert time.thread_time() - begun < 1.0


FAST = {
    "nested repetition": ({"pattern": "^(a+)+$"}, "a" * 100_000 + "b"),
    "unique objects": ({"uniqueItems": True}, [{"a": n} for n in range(3_000)]),
    "unevaluated": (
        {"unevaluatedItems": False, "contains": {"minimum": 1}},
        [0] * 10_000,
    ),
    "enumeration": ({"enum": [{"a": n} for n in range(600)]}, {"a": 599}),
}


@pytest.mark.parametrize(("schema", "value"), FAST.values(), ids=FAST)
def test_what_used_to_take_seconds_is_fast(schema, value):
    accept(schema)
    begun = time.thread_time()
    found = problems(schema, value, seconds=5)
    assert time.thread_time() - begun < 1.0
    assert "too_slow" not in [each.code for each in found]


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"$ref": "#"}, 1),
        ({"$ref": "#/missing"}, 1),
        ({"items": {"$ref": "#"}}, deep(3_000)),
        ({"uniqueItems": True}, [deep(3_000), deep(3_000)]),
        (nested(100_000), 1),
        ({"pattern": "["}, "a"),
        ({"pattern": "a"}, "\ud83d"),
        ({"type": "strnig"}, 1),
        ({"minimum": "a"}, 1),
        ({"const": {1: 2}}, 1),
        ([], 1),
        ("schema", 1),
        (None, 1),
    ],
)
def test_what_cannot_be_judged_is_one_problem_and_no_exception(schema, value):
    assert [each.code for each in problems(schema, value)] == ["cannot_judge"]


def test_a_tree_as_deep_as_any_body_may_be_is_judged():
    value = {"name": "leaf"}
    for _ in range(31):
        value = {"name": "node", "children": [value]}
    assert fits(TREE, value)


def test_the_dialect_in_the_root_does_not_switch_the_engine():
    schema = {
        "$schema": DIALECT,
        "properties": {"child": {"$ref": "#"}, "name": {"pattern": "^a$"}},
    }
    assert fits(schema, {"child": {"child": {"name": "a"}}})
    assert not fits(schema, {"child": {"child": {"name": "a\n"}}})


def test_a_schema_changed_by_its_owner_is_judged_anew():
    schema = {"properties": {"a": {"type": "string"}}}
    assert problems(schema, {"a": 1})
    schema["properties"]["a"]["type"] = "integer"
    assert not problems(schema, {"a": 1})
    assert problems(schema, {"a": "x"})


def test_threads_do_not_disturb_each_other():
    def judge(number):
        good = {"vendor": "v", "lines": [{"text": "t", "amount": number}]}
        slow = doubling(40)
        return (
            problems(INVOICE, good),
            [each.code for each in problems(slow, {}, seconds=0.02)],
            [each.pointer for each in problems(INVOICE, {**good, "vendor": number})],
        )

    with ThreadPoolExecutor(8) as pool:
        assert set(map(str, pool.map(judge, range(64)))) == {
            str(([], ["too_slow"], ["/vendor"]))
        }
