"""Waits: jittered, longer with each failure, never shorter than the server asks."""

import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from novum_client import Client, Refused, worker
from novum_client.pausing import Backoff, later, sooner

EMPTY = {"card": None, "server_time": "2026-01-01T00:00:00Z", "reason": "drained"}


def test_each_failure_waits_longer_up_to_the_most():
    backoff = Backoff(first=1, most=10)
    pauses = [backoff.next() for _ in range(100)]
    for pause, most in zip(pauses, [1, 2, 4, 8, *[10] * 96], strict=True):
        assert most / 2 <= pause <= most
    assert len(set(pauses)) > 50
    backoff.reset()
    assert backoff.next() <= 1


def test_what_the_server_asks_for_is_kept():
    assert all(Backoff().next(asked=30) >= 30 for _ in range(100))
    assert all(30 <= later(30) <= 37.5 for _ in range(100))
    assert all(24 <= sooner(30) <= 30 for _ in range(100))


@pytest.fixture
def scripted():
    """A server that answers what it's told, in turn, and notes when and what it was
    asked; at the end of its script it refuses the token."""
    asked, script = [], []

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self):
            self.rfile.read(int(self.headers["Content-Length"]))
            asked.append((time.monotonic(), self.headers["Idempotency-Key"]))
            status, value, headers = script.pop(0) if script else (401, {}, {})
            body = value if isinstance(value, bytes) else json.dumps(value).encode()
            self.send_response(status)
            for name, text in {"Content-Length": str(len(body)), **headers}.items():
                self.send_header(name, text)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    url = f"http://127.0.0.1:{server.server_address[1]}"
    yield url, script, asked
    server.shutdown()
    server.server_close()


@pytest.mark.parametrize(
    ("answer", "least", "same_key"),
    [
        ((429, {"code": "too_many_requests"}, {"Retry-After": "1"}), 1.0, True),
        ((503, b"<html>down</html>", {}), 0.1, True),
        ((409, {"code": "idempotency_key_in_use"}, {"Retry-After": "1"}), 1.0, True),
        ((409, {"code": "seat_at_capacity"}, {}), 0.1, False),
        ((200, {**EMPTY, "retry_after_seconds": 0.4}, {}), 0.4, False),
        ((200, {**EMPTY, "retry_after_seconds": 100}, {}), 0.7, False),
        ((200, EMPTY, {}), 0.1, False),
    ],
)
def test_after_each_answer_the_next_claim_comes_in_its_time(
    scripted, answer, least, same_key
):
    """`most_pause_seconds` is 0.7: a card that's due in 100 may have company before."""
    url, script, asked = scripted
    script.append(answer)
    client = Client(url, "token")
    made = worker(queue="any", client=client, most_pause_seconds=0.7)(print)
    with pytest.raises(Refused):
        made.run(signals=False)
    (first, key), (second, next_key) = asked[:2]
    # What it must not wait for is 30 or 100 seconds away.
    assert least <= second - first < least + 15
    assert (key == next_key) is same_key
