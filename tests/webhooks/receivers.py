"""Real receivers on loopback, one for every way in which they behave."""

import gzip
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from email.message import Message
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from standardwebhooks import Webhook

HANG_SECONDS = 200
type Behaviour = Callable[["Handler"], None]


@dataclass
class Got:
    """A request, as it came."""

    path: str
    headers: Message
    body: bytes
    at: float

    @property
    def id(self) -> str:
        return str(self.headers["webhook-id"])

    def verified(self, secret: str) -> Any:
        """The body, by the public library. Raises WebhookVerificationError."""
        headers = {name.lower(): value for name, value in self.headers.items()}
        return Webhook(secret).verify(self.body, headers)


class Handler(BaseHTTPRequestHandler):
    server: "Receiver"

    def do_POST(self) -> None:
        size = int(self.headers.get("Content-Length", 0))
        got = Got(self.path, self.headers, self.rfile.read(size), time.time())
        with self.server.lock:
            self.server.got.append(got)
        with suppress(OSError):
            self.server.behaviour(self)

    do_GET = do_POST

    def answer(self, status: int = 200, body: bytes = b"ok", **headers: str) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def count(self) -> int:
        """How often this message has come by now."""
        return sum(one.id == self.headers["webhook-id"] for one in self.server.got)

    def log_message(self, format: str, *args: Any) -> None:
        pass


class Receiver(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 200

    def __init__(self, behaviour: Behaviour) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.behaviour = behaviour
        self.got: list[Got] = []
        self.lock = threading.Lock()
        self.closing = threading.Event()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/hook"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Clients that hang up are what some tests are about."""


@contextmanager
def receiving(behaviour: Behaviour | None = None) -> Iterator[Receiver]:
    receiver = Receiver(behaviour or fast)
    thread = threading.Thread(target=receiver.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield receiver
    finally:
        receiver.closing.set()
        receiver.shutdown()
        receiver.server_close()


def fast(handler: Handler) -> None:
    handler.answer()


def status(number: int, **headers: str) -> Behaviour:
    return lambda handler: handler.answer(number, **headers)


def failing_first(times: int, then: Behaviour = fast, **headers: str) -> Behaviour:
    """500 so often for each message."""

    def behave(handler: Handler) -> None:
        if handler.count() <= times:
            handler.answer(500, b"not now", **headers)
        else:
            then(handler)

    return behave


def hanging(handler: Handler) -> None:
    handler.server.closing.wait(HANG_SECONDS)


def dripping(handler: Handler) -> None:
    """An answer that never ends, a byte at a time: no single read takes long."""
    handler.send_response(200)
    handler.end_headers()
    while not handler.server.closing.wait(0.05):
        handler.wfile.write(b".")
        handler.wfile.flush()


def dripping_head(handler: Handler) -> None:
    handler.wfile.write(b"HTTP/1.1 200 OK\r\nX-Slow: ")
    while not handler.server.closing.wait(0.05):
        handler.wfile.write(b".")
        handler.wfile.flush()


def huge(handler: Handler) -> None:
    """50 MB, unless somebody hangs up."""
    size = 50 * 1024 * 1024
    handler.send_response(200)
    handler.send_header("Content-Length", str(size))
    handler.end_headers()
    sent = 0
    with suppress(OSError):
        while sent < size:
            handler.wfile.write(b"x" * 65536)
            sent += 65536
    handler.server.sent = sent  # type: ignore[attr-defined]


BOMB = gzip.compress(b"\0" * (50 * 1024 * 1024), 1)[:60_000]


def bomb(handler: Handler) -> None:
    """A gzip that would fill a lot more than it is."""
    handler.answer(200, BOMB, Content_Encoding="gzip")


def garbage(handler: Handler) -> None:
    handler.wfile.write(b"SSH-2.0-OpenSSH_9.2p1\r\n")


def cut(handler: Handler) -> None:
    handler.close_connection = True


@dataclass
class Changing:
    """Behaves as it's told at the moment."""

    now: Behaviour = field(default=fast)

    def __call__(self, handler: Handler) -> None:
        self.now(handler)
