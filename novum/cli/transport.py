"""HTTP to one server: one connection, and calls that may be sent again.

A call is repeated after a cut only where that is safe: it changes nothing, it carries an
Idempotency-Key, it goes to a lease, or it never left this machine.
"""

import http.client
import json
import random
import socket
import time
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from novum.cli.errors import Failure, Refused, Unreached
from novum.cli.places import Server

TRIES = 5
FIRST_PAUSE_SECONDS, MOST_PAUSE_SECONDS = 0.2, 5.0
# Asked to wait longer than this, the command says so instead.
MOST_PATIENCE_SECONDS = 10.0
TIMEOUT_SECONDS = 30.0
# Nothing was done (429: too many requests), or it may have been (the others).
NOT_NOW = {429, 502, 503, 504}


class Request(NamedTuple):
    method: str
    path: str
    body: bytes | None = None
    headers: dict[str, str] = {}
    may_repeat: bool = False
    extra_seconds: float = 0.0


class Answer(NamedTuple):
    status: int
    headers: Any
    body: bytes

    def value(self) -> Any:
        return json.loads(self.body) if self.body else None


class Transport:
    """Not for several threads at once: each takes its own."""

    def __init__(self, server: Server, timeout: float = TIMEOUT_SECONDS) -> None:
        self.server, self.timeout = server, timeout
        self._base = urlsplit(server.url).path.rstrip("/")
        self._connection: http.client.HTTPConnection | None = None

    def twin(self) -> "Transport":
        return Transport(self.server, self.timeout)

    def ask(self, request: Request, tries: int = TRIES) -> Answer:
        """The answer, good or a problem. Raises Unreached."""
        for number in range(1, tries + 1):
            last = number == tries
            try:
                answer = self._send(request)
            except Unreached as error:
                if last or (error.sent and not request.may_repeat):
                    raise
                longer = FIRST_PAUSE_SECONDS * 2 ** (number - 1)
                pause = min(longer, MOST_PAUSE_SECONDS)
            else:
                asked = None if last else _pause_asked_for(request, answer)
                if asked is None:
                    return answer
                pause = asked
            time.sleep(pause * random.uniform(0.75, 1.25))
        raise AssertionError("the last try returns or raises")

    def get_done(self, request: Request, tries: int = TRIES) -> Answer:
        """The good answer. Raises Refused, Unreached, Failure."""
        answer = self.ask(request, tries)
        if answer.status >= 300 and answer.status != 304:
            raise refusal(self.server, answer)
        if answer.body and "json" not in answer.headers.get("Content-Type", ""):
            raise Failure(f"{self.server.url} answered with something else than JSON.")
        return answer

    def _send(self, request: Request) -> Answer:
        connection = self._connection or self.connect()
        seconds = self.timeout + request.extra_seconds
        connection.timeout = seconds
        try:
            if connection.sock:
                connection.sock.settimeout(seconds)
            connection.request(
                request.method,
                self._base + request.path,
                request.body,
                self._headers(request),
            )
            reply = connection.getresponse()
            return Answer(reply.status, reply.headers, reply.read())
        except (OSError, http.client.HTTPException) as error:
            self.close()
            raise self._unreached(error, sent=True) from None

    def connect(self) -> http.client.HTTPConnection:
        """Raises Unreached."""
        parts = urlsplit(self.server.url)
        kind: type[http.client.HTTPConnection] = http.client.HTTPConnection
        if parts.scheme == "https":
            kind = http.client.HTTPSConnection
        assert parts.hostname
        connection = kind(parts.hostname, parts.port, timeout=self.timeout)
        try:
            connection.connect()
        except OSError as error:
            raise self._unreached(error, sent=False) from None
        self._connection = connection
        return connection

    def close(self) -> None:
        if self._connection:
            self._connection.close()
            self._connection = None

    def _headers(self, request: Request) -> dict[str, str]:
        headers = {"Accept": "application/json", "User-Agent": "novum-cli"}
        if self.server.token:
            headers["Authorization"] = f"Bearer {self.server.token}"
        if request.body is not None:
            headers["Content-Type"] = "application/json"
        return headers | request.headers

    def _unreached(self, error: Exception, *, sent: bool) -> Unreached:
        why = str(error) or type(error).__name__
        if isinstance(error, socket.gaierror):
            why = "there is no such host"
        text = f"No answer from {self.server.url}: {why}."
        if sent:
            text += " It may have been done or not."
        return Unreached(text, sent=sent)


def _pause_asked_for(request: Request, answer: Answer) -> float | None:
    """Seconds until the same call is worth another try; None if it isn't."""
    again = answer.status == 429 or (request.may_repeat and answer.status in NOT_NOW)
    if answer.status == 409 and b'"idempotency_key_in_use"' in answer.body:
        again = True  # our own first try, still running
    if not again:
        return None
    try:
        seconds = float(answer.headers.get("Retry-After", 1))
    except ValueError:
        return None
    return seconds if seconds <= MOST_PATIENCE_SECONDS else None


def refusal(server: Server, answer: Answer) -> Failure:
    try:
        problem = answer.value()
    except ValueError:
        problem = None
    if isinstance(problem, dict) and "code" in problem:
        return Refused(answer.status, problem, answer.body)
    if 300 <= answer.status < 400:
        where = answer.headers.get("Location", "elsewhere")
        return Failure(f"{server.url} sends to {where}: set NOVUM_URL to the server.")
    return Failure(f"{server.url} answered {answer.status}, not as Novum does.")
