"""What only a real server and real bytes show."""

from http.client import HTTPConnection
from itertools import batched

from tests.doors.http import token_of
from tests.mcp.door import LEGACY

PING = b'{"jsonrpc":"2.0","id":7,"method":"ping"}'


def post(server, token, body, *, chunked):
    connection = HTTPConnection(*server.address, timeout=60)
    headers = {
        "Authorization": f"Bearer {token}",
        "Content-Type": "application/json",
        "MCP-Protocol-Version": LEGACY,
    }
    connection.request("POST", "/v1/mcp", body, headers, encode_chunked=chunked)
    answer = connection.getresponse()
    told = answer.status, answer.read()
    connection.close()
    return told


def test_a_body_of_unknown_length_is_read(server, world):
    parts = (bytes(part) for part in batched(PING, 10))
    status, body = post(server, token_of(world.worker), parts, chunked=True)
    assert (status, body) == (200, b'{"jsonrpc":"2.0","id":7,"result":{}}')


def test_a_body_of_unknown_length_has_an_end(server, world):
    parts = (b" " * 65_536 for _ in range(40))
    status, _ = post(server, token_of(world.worker), parts, chunked=True)
    assert status == 413


def test_a_connection_serves_many_calls(server, world):
    connection = HTTPConnection(*server.address, timeout=60)
    headers = {
        "Authorization": f"Bearer {token_of(world.worker)}",
        "Content-Type": "application/json",
    }
    for _ in range(20):
        connection.request("POST", "/v1/mcp", PING, headers)
        answer = connection.getresponse()
        assert (answer.status, answer.read()[-3:]) == (200, b"{}}")
    connection.close()
