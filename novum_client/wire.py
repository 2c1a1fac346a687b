"""HTTP to one server: JSON over connections that are kept, for several threads."""

import http.client
import json
import socket
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from novum_client.errors import Refused, Unreached

# A connection that was idle for longer may have been closed at the other end.
IDLE_SECONDS = 10.0


class Answer(NamedTuple):
    status: int
    headers: Mapping[str, str]
    body: bytes


class Wire:
    """One call takes one connection for its time."""

    def __init__(self, url: str, token: str) -> None:
        parts = urlsplit(url if "://" in url else f"http://{url}")
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(f"{url!r} is not the address of a server.")
        self.url = url
        self._host, self._port, self._scheme = parts.hostname, parts.port, parts.scheme
        self._base = parts.path.rstrip("/").removesuffix("/v1")
        self._headers = {
            "Accept": "application/json",
            "Authorization": f"Bearer {token}",
            "User-Agent": "novum-client",
        }
        # Idle ones, with when they became so. A list's append and pop are atomic.
        self._idle: list[tuple[float, http.client.HTTPConnection]] = []
        self._busy: set[http.client.HTTPConnection] = set()
        self._is_over = False

    def ask(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        headers: Mapping[str, str] | None = None,
        timeout: float,
    ) -> Any:
        """The value of a good answer. `path` goes on from /v1, `timeout` is in seconds.
        Raises Refused, Unreached; ValueError or TypeError for a body that is no JSON."""
        raw = None if body is None else _encoded(body)
        given = {**self._headers, **(headers or {})}
        if raw is not None:
            given["Content-Type"] = "application/json"
        answer = self._send(method, f"{self._base}/v1{path}", raw, given, timeout)
        return _value(answer)

    def close(self) -> None:
        while taken := self._taken():
            taken[1].close()

    def interrupt(self) -> None:
        """Calls under way end with Unreached, and so do all others from now on."""
        self._is_over = True
        for connection in tuple(self._busy):
            if connection.sock:
                with suppress(OSError):
                    connection.sock.shutdown(socket.SHUT_RDWR)

    def _send(
        self,
        method: str,
        path: str,
        raw: bytes | None,
        headers: dict[str, str],
        timeout: float,
    ) -> Answer:
        connection = self._connected(timeout)
        # Before the look at `_is_over`: `interrupt` sets it and then looks here.
        self._busy.add(connection)
        try:
            if self._is_over:
                raise OSError("interrupted")
            connection.request(method, path, raw, headers)
            reply = connection.getresponse()
            answer = Answer(reply.status, dict(reply.headers), reply.read())
        except (OSError, http.client.HTTPException) as error:
            connection.close()
            # What has cut this one has cut the others.
            self.close()
            raise self._unreached(error, sent=True) from None
        except BaseException:
            connection.close()
            raise
        finally:
            self._busy.discard(connection)
        self._idle.append((time.monotonic(), connection))
        return answer

    def _connected(self, timeout: float) -> http.client.HTTPConnection:
        while taken := self._taken():
            since, connection = taken
            if connection.sock and time.monotonic() - since < IDLE_SECONDS:
                connection.sock.settimeout(timeout)
                return connection
            connection.close()
        secure = self._scheme == "https"
        kind = http.client.HTTPSConnection if secure else http.client.HTTPConnection
        connection = kind(self._host, self._port, timeout=timeout)
        try:
            connection.connect()
        except OSError as error:
            raise self._unreached(error, sent=False) from None
        return connection

    def _taken(self) -> tuple[float, http.client.HTTPConnection] | None:
        try:
            return self._idle.pop()
        except IndexError:
            return None

    def _unreached(self, error: Exception, *, sent: bool) -> Unreached:
        why = str(error) or type(error).__name__
        return Unreached(f"No answer from {self.url}: {why}.", sent=sent)


def _encoded(body: Any) -> bytes:
    return json.dumps(body, ensure_ascii=False, allow_nan=False).encode()


def _value(answer: Answer) -> Any:
    try:
        value = json.loads(answer.body) if answer.body else None
    except ValueError:
        value = None
    if 200 <= answer.status < 300:
        return value
    problem = value if isinstance(value, dict) else {}
    raise Refused(answer.status, problem, _retry_after(answer))


def _retry_after(answer: Answer) -> float | None:
    named = {name.lower(): value for name, value in answer.headers.items()}
    try:
        return float(named["retry-after"]) if "retry-after" in named else None
    except ValueError:
        return None
