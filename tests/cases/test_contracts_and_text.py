"""Public reports about schemas, JSON and Unicode, tried on Novum.

Each test names the thread it comes from (github.com/<repository>/issues/<number>);
symptoms in our own words. Tried elsewhere in more detail:

- osbuild/osbuild-composer#4779, an escaped U+0000 or half a surrogate pair in a
  result: tests/doors/test_nasty.py, for every field of every operation
- python-jsonschema/jsonschema#743 and others, judging itself:
  tests/leases/test_schemas*.py
"""

import http.client
import json
import socket
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import psutil
import pytest

from boards.models import Card
from leases.models import Contract, Lease
from novum.cleaning import MAX_BODY_BYTES, MAX_DEPTH
from tests.doors.http import door_of
from tests.processes.waiting import eventually

MB = 1024 * 1024
SENDERS = 12


@pytest.fixture
def listener():
    """Hears whether anybody comes."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.3)
        heard = []

        def listen():
            while True:
                try:
                    heard.append(server.accept()[1])
                except TimeoutError:
                    continue
                except OSError:
                    return

        threading.Thread(target=listen, daemon=True).start()
        yield f"http://127.0.0.1:{server.getsockname()[1]}/schema.json", heard


REMOTE = [
    lambda url: {"$ref": url},
    lambda url: {"properties": {"x": {"$ref": url + "#/$defs/a"}}},
    lambda url: {"$ref": "file:///etc/passwd"},
    lambda url: {"$ref": "//" + url.partition("//")[2]},
    lambda url: {"$id": url, "$ref": "other.json"},
    lambda url: {"$schema": url},
    lambda url: {"$ref": "#/$defs/missing"},
    lambda url: {"$ref": "urn:uuid:00000000-0000-0000-0000-000000000000"},
    lambda url: {"$dynamicRef": url},
    lambda url: {"allOf": [{"if": {"$ref": url}}]},
]


@pytest.mark.parametrize("schema", REMOTE, ids=range(len(REMOTE)))
@pytest.mark.parametrize("name", ["input_schema", "output_schema"])
def test_a_schema_makes_nobody_ask_another_server(
    owner, world, queue, listener, schema, name
):
    """PrefectHQ/prefect#22252: a user's remote reference was fetched, and where that
    failed the answer was a 500."""
    url, heard = listener
    refused = owner.put(f"{queue}/contract", {"enabled": True, name: schema(url)})
    assert refused.status_code == 422
    assert refused.json()["errors"][0]["pointer"].startswith(f"/{name}")
    # And were such a schema there all the same, it would still ask nobody.
    Contract.objects.filter(pk=world.queue).update(**{name: schema(url)})
    Card.objects.filter(column=world.queue).update(fits=None)
    world.add(payload={"x": 1})
    worker = door_of(world.worker)
    claimed = worker.post(f"{queue}:claim-next")
    assert claimed.status_code == 200
    if claimed.json()["lease"]:
        done = worker.post(
            f"/v1/leases/{claimed.json()['lease']['id']}:complete",
            {"lease_token": claimed.json()["lease_token"], "output": {"x": 1}},
        )
        assert done.status_code in (200, 422)
    assert heard == []


# (schema, value, whether it fits)
JUDGED = [
    ({"multipleOf": 0.5}, 1e308, True),
    ({"multipleOf": 0.01}, 4.35, True),
    ({"multipleOf": 1e-300}, 1, True),
    ({"type": "integer"}, 1.0, True),
    ({"type": "integer"}, True, False),
    ({"type": "integer"}, 1.5, False),
    ({"const": 1}, True, False),
    ({"const": 1}, 1.0, True),
    ({"const": {"a": [False]}}, {"a": [0]}, False),
    ({"enum": [0, ""]}, False, False),
    ({"uniqueItems": True, "maxItems": 5}, [1, True, 1.5], True),
    ({"uniqueItems": True, "maxItems": 5}, [1, 1.0], False),
    ({"pattern": "^a$"}, "a\n", False),
    ({"pattern": "^\\p{L}+$"}, "é文", True),
    ({"pattern": "^\\p{L}+$"}, "1", False),
    ({"maxLength": 1}, "😀", True),
    ({"minLength": 2}, "😀", False),
    ({"type": ["null", "string"]}, None, True),
    ({"type": "null"}, None, True),
    ({"type": "object"}, None, False),
    ({"format": "date-time"}, "2031-05-01T12:00:00Z", True),
    (
        {
            "$ref": "#/$defs/tree",
            "$defs": {"tree": {"additionalProperties": {"$ref": "#/$defs/tree"}}},
        },
        {"a": {"b": {}}},
        True,
    ),
    (True, {"anything": 1}, True),
    (False, 1, False),
]


ANSWERED = pytest.mark.parametrize(
    ("schema", "value", "fits"), JUDGED, ids=range(len(JUDGED))
)


@ANSWERED
def test_a_legal_schema_and_payload_get_an_answer_before_the_claim(
    owner, world, queue, schema, value, fits
):
    """python-jsonschema/jsonschema#743 and others: legal schemas and values raised
    instead of answering; booleans passed for numbers. No attempt is burnt on it."""
    outside = {"$defs": schema["$defs"]} if "$defs" in str(schema) else {}
    terms = {"enabled": True, "input_schema": {"properties": {"payload": schema}}}
    terms["input_schema"] |= outside
    assert owner.put(f"{queue}/contract", terms).status_code == 200
    card = world.add(payload=value)
    claimed = door_of(world.worker).post(f"{queue}:claim-next").json()
    assert bool(claimed["card"]) is fits
    row = Card.objects.get(pk=card)
    assert (row.fits, row.attempts) == (fits, int(fits))


@ANSWERED
def test_a_legal_schema_and_output_get_the_same_answer_at_the_end(
    owner, world, queue, schema, value, fits
):
    """python-jsonschema/jsonschema#810 and others: and the lease stays for another
    try."""
    terms = {"enabled": True, "output_schema": schema}
    assert owner.put(f"{queue}/contract", terms).status_code == 200
    world.add()
    worker = door_of(world.worker)
    claimed = worker.post(f"{queue}:claim-next").json()
    done = worker.post(
        f"/v1/leases/{claimed['lease']['id']}:complete",
        {"lease_token": claimed["lease_token"], "output": value},
    )
    assert done.status_code == (200 if fits else 422)
    assert Lease.objects.get().state == ("completed" if fits else "active")
    assert Card.objects.get().attempts == 1


@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "#"},
        {"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/a"}}},
        {"allOf": [{"$ref": "#"}]},
        {"pattern": "(a+)+\\1"},
        {"pattern": "("},
        {"pattern": "a" * 1_000},
        {"type": "objekt"},
        {"minimum": "1"},
        {"required": "x"},
        {"enum": list(range(1_001))},
        {"properties": {str(number): {} for number in range(2_500)}},
        [],
        "true",
        1,
    ],
    ids=str,
)
def test_a_schema_that_never_ends_or_means_nothing_is_refused_when_saved(
    owner, queue, schema
):
    """python-jsonschema/jsonschema#1159 and others."""
    started = time.thread_time()
    refused = owner.put(f"{queue}/contract", {"enabled": True, "output_schema": schema})
    assert refused.status_code == 422
    assert refused.json()["code"] == "invalid_contract"
    assert time.thread_time() - started < 2


@pytest.mark.parametrize(
    "number",
    [b"1" + b"0" * 400, b"9" * 4_000, b"9" * 5_000, b"1e400", b"-1e999", b"NaN"],
)
def test_a_number_beyond_all_measure_is_refused_and_no_attempt_is_burnt(
    world, queue, number
):
    """python-jsonschema/jsonschema#1538: 10 to the 400th raised an OverflowError."""
    world.add()
    worker = door_of(world.worker)
    held = worker.post(f"{queue}:claim-next").json()
    raw = b'{"lease_token": "%s", "output": %s}'
    raw %= held["lease_token"].encode(), number
    path = f"/v1/leases/{held['lease']['id']}:complete"
    refused = worker("POST", path, raw=raw)
    assert refused.status_code == 422
    # Python takes no more than 4,300 digits apart, so there the place isn't known.
    assert refused.json()["errors"][0]["pointer"] in ("/output", "")
    assert Lease.objects.get().state == "active"


def nested(levels: int, inside: bytes = b"1") -> bytes:
    return b"[" * levels + inside + b"]" * levels


@pytest.mark.parametrize(
    "levels", [MAX_DEPTH - 1, MAX_DEPTH, 100, 1_000, 20_000, 100_000]
)
@pytest.mark.parametrize("form", ["arrays", "objects"])
def test_deep_bodies_are_taken_to_the_stated_depth_and_no_further(
    owner, world, levels, form
):
    """flop-labs/technocore-chat#130: 40 KB of brackets gave a 500."""
    deep = nested(levels - 1)
    if form == "objects":
        deep = b'{"a":' * (levels - 1) + b"1" + b"}" * (levels - 1)
    raw = b'{"board_id": "%s", "column_id": "%s", "title": "Deep", "payload": %s}' % (
        str(world.board).encode(),
        str(world.queue).encode(),
        deep,
    )
    started = time.thread_time()
    answer = owner("POST", "/v1/cards", raw=raw)
    assert time.thread_time() - started < 2
    if levels <= MAX_DEPTH:
        assert answer.status_code == 201
        card = owner.get(answer.headers["Location"]).json()
        assert json.dumps(card["payload"]).replace(" ", "").encode() == deep
    else:
        assert answer.status_code == 422
        assert answer.json()["errors"][0]["code"] == "too_deep"


@pytest.mark.parametrize(
    "raw",
    [
        b'{"name": "A", "name": "B"}',
        b'{"name": "A", "na\\u006de": "B"}',
        b'{"name": "A", "columns": [], "columns": []}',
    ],
)
def test_a_member_named_twice_is_refused(owner, raw):
    """spray/spray-json#286: parsers disagree on which one counts."""
    refused = owner("POST", "/v1/boards", raw=raw)
    assert refused.status_code == 400
    assert refused.json()["errors"][0]["code"] == "repeated_key"


def connect(server) -> http.client.HTTPConnection:
    return http.client.HTTPConnection(*server.address, timeout=30)


def resident_mb(server) -> float:
    """Of the server and its workers."""
    process = psutil.Process(server.child.process.pid)
    every = [process, *process.children(recursive=True)]
    return sum(one.memory_info().rss for one in every) / MB


def post_a_name(server, token, size) -> int:
    """What the answer to so large a body was; 0 where there was none."""
    head = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    connection = connect(server)
    try:
        connection.request("POST", "/v1/boards", b'"' + b"x" * size + b'"', head)
        answer = connection.getresponse()
        body = json.loads(answer.read())
    except (BrokenPipeError, ConnectionResetError):
        # It need not read on to the end of what it doesn't want.
        return 0
    finally:
        connection.close()
    if answer.status == 413:
        assert body["code"] == "too_large"
    return answer.status


@pytest.mark.processes
def test_bodies_that_are_too_large_are_a_413_and_leave_the_memory_flat(server, owner):
    """encode/django-rest-framework#9858: an oversized body got an HTML page.

    Many at once, so that every thread meets some. What they took is given back while
    others are served; a server that keeps it, keeps 60 MB and more."""
    with ThreadPoolExecutor(SENDERS) as pool:

        def all_send(size, times=1):
            calls = [
                pool.submit(post_a_name, server, owner.token, size)
                for _ in range(SENDERS * times)
            ]
            return Counter(call.result() for call in calls)

        # Whatever bodies of a usual size make it keep, it has then.
        assert set(all_send(MAX_BODY_BYTES // 2, times=10)) == {422}
        warm, answered = resident_mb(server), Counter()
        for _ in range(6):
            for size in (MAX_BODY_BYTES + 1, 3 * MB, 30 * MB):
                answered += all_send(size)
    assert set(answered) <= {413, 0}
    assert answered[413] >= answered.total() / 3

    def is_flat():
        assert post_a_name(server, owner.token, 10) == 422
        return resident_mb(server) - warm < 40

    eventually(is_flat, 30)
    connection = connect(server)
    connection.request("GET", "/v1/healthz")
    assert connection.getresponse().status == 200


@pytest.mark.processes
def test_slow_bodies_hold_up_nobody_else(server, owner):
    """flop-labs/technocore-chat#130: bodies that come byte by byte. As many as there
    are threads would need a proxy that waits for them in front."""
    body = b'{"name": "Slow"}'
    slow = []
    for _ in range(3):
        one = socket.create_connection(server.address, timeout=30)
        one.sendall(
            b"POST /v1/boards HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
            b"Authorization: Bearer %s\r\nContent-Length: %d\r\n\r\n"
            % (owner.token.encode(), len(body))
        )
        slow.append(one)
    head = {"Authorization": f"Bearer {owner.token}"}
    for place in range(len(body)):
        for one in slow:
            one.sendall(body[place : place + 1])
        connection = connect(server)
        connection.request("GET", "/v1/me", headers=head)
        assert connection.getresponse().status == 200
        connection.close()
    for one in slow:
        answer = http.client.HTTPResponse(one)
        answer.begin()
        assert answer.status == 201
        one.close()


@pytest.mark.processes
@pytest.mark.parametrize(
    ("length", "status"), [(10, 201), (90, 201), (MAX_BODY_BYTES, 413)]
)
def test_a_body_of_unknown_length_is_read_to_the_same_end(
    server, owner, length, status
):
    """Else the options of a call would be lost without a word."""
    head = {"Authorization": f"Bearer {owner.token}"}
    connection = connect(server)
    parts = iter([b'{"na', b'me": "', b"x" * length, b'"}'])
    connection.request("POST", "/v1/boards", parts, head, encode_chunked=True)
    answer = connection.getresponse()
    told = json.loads(answer.read())
    assert answer.status == status
    if status == 201:
        assert told["name"] == "x" * length
