"""The transport, without a client's help: what the revisions ask for, and no 500."""

import json

import pytest
from asgiref.sync import async_to_sync
from django.test import AsyncClient, Client

from accounts.models import Actor
from novum.cleaning import MAX_BODY_BYTES, MAX_DEPTH
from novum.problems import MEDIA_TYPE
from tests.doors.http import token_of
from tests.mcp.door import LEGACY, MODERN, PATH, Mcp

PARSE, REQUEST, METHOD, PARAMS = -32700, -32600, -32601, -32602
MISMATCH, VERSION = -32020, -32022


@pytest.fixture
def door(world) -> Mcp:
    return Mcp(token_of(world.worker))


@pytest.fixture
def legacy(world) -> Mcp:
    return Mcp(token_of(world.worker), LEGACY)


def refused(answer) -> tuple[int, int]:
    """The status and the code of a JSON-RPC error."""
    assert answer.headers["Content-Type"] == "application/json", answer.content
    told = answer.json()
    assert told["jsonrpc"] == "2.0"
    assert told["error"]["message"]
    return answer.status_code, told["error"]["code"]


@pytest.mark.parametrize("method", ["GET", "DELETE", "PUT", "PATCH", "HEAD", "OPTIONS"])
def test_there_is_no_stream_and_no_session_only_post(door, method):
    headers = {"Authorization": f"Bearer {door.token}", "Accept": "text/event-stream"}
    answer = door.client.generic(method, PATH, headers=headers)
    assert (answer.status_code, answer.headers["Allow"]) == (405, "POST")


@pytest.mark.parametrize("token", ["", "nvma_wrong", "x" * 9_000])
def test_without_a_token_in_force_nobody_gets_in(db, token):
    answer = Mcp(token).send("tools/list")
    assert answer.status_code == 401
    assert answer.headers["WWW-Authenticate"].startswith("Bearer ")
    assert answer.headers["Content-Type"] == MEDIA_TYPE


def test_a_signed_in_person_needs_a_token_too(world):
    client = Client(enforce_csrf_checks=True)
    client.force_login(Actor.objects.get(pk=world.owner.actor_id).user)
    assert Mcp("", client=client).send("tools/list").status_code == 401


def test_a_client_of_2026_discovers_and_needs_no_handshake(door):
    found = door.rpc("server/discover")["result"]
    assert found["supportedVersions"][:2] == [MODERN, LEGACY]
    assert found["capabilities"] == {"tools": {}}
    assert found["resultType"] == "complete"
    listed = door.rpc("tools/list")["result"]
    assert listed["cacheScope"] == "private"
    assert listed["ttlMs"] > 0


def test_a_client_of_2025_shakes_hands_and_gets_no_session(legacy):
    answer = legacy.send("initialize", protocolVersion=LEGACY, capabilities={})
    result = answer.json()["result"]
    assert result["protocolVersion"] == LEGACY
    assert result["serverInfo"]["name"] == "novum"
    assert "Mcp-Session-Id" not in answer.headers
    note = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    assert legacy.post(note).status_code == 202
    assert legacy.rpc("ping")["result"] == {}


def test_an_unknown_version_in_the_handshake_is_offered_ours(legacy):
    result = legacy.rpc("initialize", protocolVersion="2099-01-01", capabilities={})
    assert result["result"]["protocolVersion"] == LEGACY


@pytest.mark.parametrize("version", ["2099-01-01", "1", "é", "2024-11-05"])
def test_a_version_that_we_do_not_speak_is_told_those_we_do(door, version):
    door.revision = version
    answer = door.send("tools/list")
    assert refused(answer) == (400, VERSION)
    assert answer.json()["error"]["data"]["supported"][0] == MODERN


@pytest.mark.parametrize(
    "raw", [b" ", b"{", b"nonsense", b"\xff\xfe", b'{"a":', b'{"a":1,"a":2}', b"[" * 90]
)
def test_what_is_no_json_is_a_parse_error(door, raw):
    status, code = refused(door.post(raw))
    assert status == 400
    assert code in (PARSE, REQUEST)


@pytest.mark.parametrize(
    "message",
    [
        [],
        [{"jsonrpc": "2.0", "id": 1, "method": "ping"}],
        "ping",
        7,
        None,
        {},
        {"jsonrpc": "1.0", "id": 1, "method": "ping"},
        {"jsonrpc": "2.0", "id": None, "method": "ping"},
        {"jsonrpc": "2.0", "id": {}, "method": "ping"},
        {"jsonrpc": "2.0", "id": 1, "method": 5},
        {"jsonrpc": "2.0", "id": 1, "method": "ping", "params": []},
        {"jsonrpc": "2.0", "id": 1, "result": {}},
    ],
)
def test_what_is_no_single_request_is_invalid(door, legacy, message):
    assert refused(door.post(message)) == (400, REQUEST)
    assert refused(legacy.post(message)) == (400, REQUEST)


def test_a_huge_body_is_refused_before_it_is_read(door):
    for size in MAX_BODY_BYTES + 1, 5 * 1024 * 1024:
        raw = b'{"x":"' + b"a" * size + b'"}'
        answer = door.post(raw)
        assert answer.status_code == 413
        assert answer.content


def test_deep_nesting_is_refused(door):
    for depth in MAX_DEPTH + 1, 100_000:
        raw = b'{"x":' + b"[" * depth + b"]" * depth + b"}"
        status, _ = refused(door.post(raw))
        assert status == 400


@pytest.mark.parametrize(
    "kind",
    ["text/plain", "application/x-www-form-urlencoded", "", "multipart/form-data"],
)
def test_another_content_type_is_a_415(door, kind):
    message = door.message("tools/list", {})
    answer = door.post(message, Content_Type=kind, Mcp_Method="tools/list")
    assert refused(answer) == (415, REQUEST)


def test_a_charset_is_welcome(door):
    kind = "application/json; charset=utf-8"
    message = door.message("tools/list", {})
    answer = door.post(message, Content_Type=kind, Mcp_Method="tools/list")
    assert answer.status_code == 200


@pytest.mark.parametrize(
    ("headers", "wanted"),
    [
        ({"Mcp_Method": None}, (400, MISMATCH)),
        ({"Mcp_Method": "tools/call"}, (400, MISMATCH)),
        ({"MCP_Protocol_Version": LEGACY}, (200, None)),
    ],
)
def test_headers_say_what_the_body_says(door, headers, wanted):
    message = door.message("tools/list", {})
    answer = door.post(message, **{"Mcp_Method": "tools/list", **headers})
    if wanted[1]:
        assert refused(answer) == wanted
    else:
        assert answer.status_code == wanted[0]


@pytest.mark.parametrize("name", [None, "get_me", "=?base64?!!?=", "é"])
def test_the_name_of_the_tool_stands_in_a_header(door, name):
    params = {"name": "list_boards", "arguments": {}}
    message = door.message("tools/call", params)
    answer = door.post(message, Mcp_Method="tools/call", Mcp_Name=name)
    assert refused(answer) == (400, MISMATCH)


def test_the_body_says_which_version_it_is(door):
    message = door.message("tools/list", {})
    del message["params"]["_meta"]
    assert refused(door.post(message, Mcp_Method="tools/list")) == (400, PARAMS)


def test_unknown_methods_are_not_found(door, legacy):
    assert refused(door.send("resources/list")) == (404, METHOD)
    assert refused(legacy.send("resources/list")) == (200, METHOD)
    assert refused(door.send("initialize")) == (404, METHOD)


@pytest.mark.parametrize("name", ["claim", "Claim_next_card", "", "x" * 300, "a b"])
def test_an_unknown_tool_is_an_error_of_the_protocol(door, legacy, name):
    assert refused(legacy.send("tools/call", name=name, arguments={})) == (200, PARAMS)
    status, code = refused(door.send("tools/call", name=name, arguments={}))
    assert (status, code) in [(200, PARAMS), (400, MISMATCH)]


@pytest.mark.parametrize("arguments", [[], "x", 3, True])
def test_arguments_are_an_object(door, arguments):
    answer = door.send("tools/call", name="get_me", arguments=arguments)
    assert refused(answer) == (200, PARAMS)


@pytest.mark.parametrize("state", ["x", 5, {}, "a:b:c"])
def test_a_state_that_we_never_gave_is_refused(door, state):
    answer = door.send("tools/call", name="get_me", arguments={}, requestState=state)
    assert refused(answer) == (200, PARAMS)


def test_a_cursor_that_we_never_gave_is_refused(door):
    assert refused(door.send("tools/list", cursor="abc")) == (200, PARAMS)


def test_a_notification_is_taken_and_does_nothing(door, world):
    world.add()
    params = {
        "name": "claim_next_card",
        "arguments": {"board_id": str(world.board), "column_id": str(world.queue)},
    }
    message = door.message("tools/call", params)
    del message["id"]
    answer = door.post(message, Mcp_Method="tools/call", Mcp_Name="claim_next_card")
    assert (answer.status_code, answer.content) == (202, b"")
    assert world.claim()


@pytest.mark.parametrize(
    ("origin", "status"),
    [
        ("http://localhost:3000", 200),
        ("http://127.0.0.1", 200),
        ("http://[::1]:8000", 200),
        ("https://evil.example", 403),
        ("http://localhost.evil.example", 403),
        ("null", 403),
        ("", 403),
        ("http://[", 403),
    ],
)
def test_only_pages_of_this_server_may_call_from_a_browser(door, origin, status):
    message = door.message("tools/list", {})
    answer = door.post(message, Mcp_Method="tools/list", Origin=origin)
    assert answer.status_code == status
    if status == 403:
        assert refused(answer) == (403, REQUEST)


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "a b"])
def test_a_host_that_is_not_ours_gets_no_answer(door, host):
    door.client.defaults["HTTP_HOST"] = host
    answer = door.send("tools/list")
    assert (answer.status_code, answer.json()["code"]) == (400, "bad_request")


def test_hosts_and_origins_follow_the_setting(door, settings):
    settings.ALLOWED_HOSTS = [".example.org"]
    door.client.defaults["HTTP_HOST"] = "novum.example.org"
    message = door.message("tools/list", {})
    for origin, status in [
        ("https://app.example.org", 200),
        ("https://example.com", 403),
        ("http://localhost", 403),
    ]:
        answer = door.post(message, Mcp_Method="tools/list", Origin=origin)
        assert answer.status_code == status
    door.client.defaults["HTTP_HOST"] = "localhost"
    assert door.send("tools/list").status_code == 400


@pytest.mark.parametrize("accept", ["application/json", "*/*", None])
def test_json_is_what_there_is(door, accept):
    message = door.message("tools/list", {})
    answer = door.post(message, Mcp_Method="tools/list", Accept=accept)
    assert answer.headers["Content-Type"] == "application/json"
    assert answer.headers["Content-Length"] == str(len(answer.content))
    assert answer.headers["X-Content-Type-Options"] == "nosniff"


def test_it_is_the_same_under_asgi(legacy):
    """One Daphne may serve everything."""
    message = legacy.message("tools/call", {"name": "get_me", "arguments": {}})
    answer = async_to_sync(AsyncClient().post)(
        PATH,
        json.dumps(message),
        content_type="application/json",
        headers={
            "Authorization": f"Bearer {legacy.token}",
            "MCP-Protocol-Version": LEGACY,
        },
    )
    assert answer.status_code == 200
    assert "handle" in answer.json()["result"]["structuredContent"]["actor"]


def test_an_id_comes_back_as_it_was(legacy):
    for number in (1, "a", "", -5, "é😀"):
        message = {"jsonrpc": "2.0", "id": number, "method": "ping"}
        assert legacy.post(message).json()["id"] == number


def test_bytes_of_all_kinds_break_nothing(door, legacy):
    text = json.dumps(door.message("tools/call", {"name": "get_me", "arguments": {}}))
    raw = text.encode()
    for cut in range(1, len(raw), 7):
        for broken in (raw[:cut], raw[:cut] + b"\x00" + raw[cut:], raw[cut:]):
            assert door.post(broken).status_code in (200, 400)
            assert legacy.post(broken).status_code in (200, 400)
