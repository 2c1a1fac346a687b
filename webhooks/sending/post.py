"""One POST to a checked target, with an end in sight.

A deadline over all of it (a receiver that drips bytes is cut), a bounded answer that is
never decompressed, no redirects, no proxies, no cookies. With `lines`, a connection is
used for several requests to one place.
"""

import asyncio
import ssl
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from time import monotonic

import h11

from webhooks import conf
from webhooks.sending import resolving
from webhooks.sending.lines import Line, Lines
from webhooks.sending.resolving import Unknown
from webhooks.sending.targets import Refused, Target, target_of

CHUNK_BYTES = 16 * 1024
Resolve = Callable[[Target], list[str]]


@dataclass(frozen=True)
class Answer:
    """What came of it: a `status`, or a `problem` (a stable word) where none came."""

    status: int | None = None
    problem: str = ""
    text: str = ""
    retry_after: str = ""
    seconds: float = 0.0


class _Failed(Exception):
    def __init__(self, problem: str) -> None:
        super().__init__(problem)
        self.problem = problem


class _Stale(Exception):
    """A connection that was kept may have been hung up meanwhile."""

    def __init__(self, cause: Exception) -> None:
        super().__init__()
        self.cause = cause


async def post(
    url: str,
    headers: list[tuple[str, str]],
    body: bytes,
    *,
    resolve: Resolve | None = None,
    lines: Lines | None = None,
) -> Answer:
    """Never raises, but for being cancelled. Takes at most `conf.TOTAL_SECONDS`."""
    started = monotonic()
    try:
        async with asyncio.timeout(conf.TOTAL_SECONDS):
            resolve = resolve or resolving.addresses
            answer = await _posted(url, headers, body, resolve, lines)
    except _Failed as error:
        answer = Answer(problem=error.problem)
    except TimeoutError:
        answer = Answer(problem="timeout")
    except Refused as error:
        answer = Answer(problem=error.code)
    except (h11.ProtocolError, ssl.SSLError, OSError, EOFError) as error:
        answer = Answer(problem=_named(error))
    took = monotonic() - started
    return Answer(answer.status, answer.problem, answer.text, answer.retry_after, took)


async def _posted(
    url: str,
    headers: list[tuple[str, str]],
    body: bytes,
    resolve: Resolve,
    lines: Lines | None,
) -> Answer:
    target = target_of(url)
    request = h11.Request(
        method="POST",
        target=target.path,
        headers=[
            ("Host", target.header),
            ("Content-Length", str(len(body))),
            ("Accept-Encoding", "identity"),
            *([] if lines else [("Connection", "close")]),
            *headers,
        ],
    )
    if lines and (line := lines.take(target)):
        with suppress(_Stale):
            return await _exchange(target, request, body, line, lines)
    reader, writer = await _connected(target, resolve)
    talk = h11.Connection(h11.CLIENT, max_incomplete_event_size=CHUNK_BYTES)
    line = Line(reader, writer, talk)
    try:
        return await _exchange(target, request, body, line, lines)
    except _Stale as error:
        raise error.cause from None


async def _connected(
    target: Target, resolve: Resolve
) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """To the first checked address that takes us, by the name that was asked for."""
    loop = asyncio.get_running_loop()
    try:
        async with asyncio.timeout(conf.CONNECT_SECONDS):
            several = await loop.run_in_executor(resolving.lookups, resolve, target)
            return await _first(target, several)
    except TimeoutError:
        raise _Failed("connect_timeout") from None
    except Unknown:
        raise _Failed("unknown_host") from None


async def _first(
    target: Target, several: list[str]
) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    last: OSError = ConnectionRefusedError()
    for address in several:
        try:
            return await asyncio.open_connection(
                address,
                target.port,
                limit=CHUNK_BYTES,
                ssl=tls() if target.is_secure else None,
                server_hostname=target.host if target.is_secure else None,
            )
        except ssl.SSLError:
            raise
        except OSError as error:
            last = error
    raise last


@cache
def tls() -> ssl.SSLContext:
    return ssl.create_default_context()


async def _exchange(
    target: Target, request: h11.Request, body: bytes, line: Line, lines: Lines | None
) -> Answer:
    """Raises _Stale when the connection ended before a word of an answer."""
    is_free = False
    try:
        sent = [
            line.talk.send(request),
            line.talk.send(h11.Data(body)),
            line.talk.send(h11.EndOfMessage()),
        ]
        line.writer.write(b"".join(part for part in sent if part))
        # Not drained: a receiver may answer before it has read everything, or hang up.
        answer = await _answered(line)
        is_free = lines is not None
        return answer
    except (_Failed, h11.ProtocolError, OSError, EOFError) as error:
        if line.has_answered or isinstance(error, TimeoutError):
            raise
        raise _Stale(error) from None
    finally:
        if is_free and lines:
            lines.give_back(target, line)
        else:
            line.drop()


async def _answered(line: Line) -> Answer:
    got, talk = _Got(), line.talk
    try:
        while got.room > 0:
            event = talk.next_event()
            if event is h11.NEED_DATA:
                data = await line.reader.read(CHUNK_BYTES)
                line.has_answered = line.has_answered or bool(data)
                got.room -= len(data)
                talk.receive_data(data)
            elif not got.goes_on(event):
                break
    except (h11.ProtocolError, OSError):
        # A status that has come counts, whatever becomes of the rest.
        if got.head is None:
            raise
    if got.head is None:
        raise _Failed("no_answer")
    text = _readable(bytes(got.text))
    return Answer(got.head.status_code, "", text, _retry_after(got.head))


@dataclass
class _Got:
    """Of an answer, until now; `room` is how many bytes more are read."""

    head: h11.Response | None = None
    text: bytearray = field(default_factory=bytearray)
    room: int = conf.MAX_ANSWER_BYTES

    def goes_on(self, event: object) -> bool:
        if isinstance(event, h11.Response):
            self.head = event
        elif isinstance(event, h11.Data):
            self.text += event.data[: conf.KEPT_ANSWER_BYTES - len(self.text)]
        else:
            return isinstance(event, h11.InformationalResponse)
        return True


def _readable(text: bytes) -> str:
    """The first KB as text that can be stored and shown."""
    return text.decode("utf-8", "replace").replace("\x00", "\ufffd")


def _retry_after(head: h11.Response) -> str:
    found = [value for name, value in head.headers if name == b"retry-after"]
    return found[0].decode("ascii", "replace")[:40] if found else ""


def _named(error: Exception) -> str:
    if isinstance(error, ssl.SSLError):
        return "tls"
    if isinstance(error, ConnectionRefusedError):
        return "connection_refused"
    if isinstance(error, h11.ProtocolError):
        return "bad_answer"
    return "connection_lost"
