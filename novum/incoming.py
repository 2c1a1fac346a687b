"""What every door for machines takes from a request: who calls, and the body's bytes;
and for every door, that what it reads is UTF-8."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils.http import parse_header_parameters

from accounts.callers import Caller
from accounts.credentials import caller_of_token
from accounts.errors import Unauthenticated
from novum.cleaning import MAX_BODY_BYTES
from novum.limits import guessed

type Handler = Callable[[HttpRequest], HttpResponseBase]


def read_as_utf8(request: HttpRequest) -> None:
    """Whatever encoding its Content-Type names: Django would decode queries by it, and
    some that Python knows make halves of surrogate pairs out of plain letters."""
    if request.encoding is not None:
        request.encoding = "utf-8"


def utf8(get_response: Handler) -> Handler:
    """Middleware, in front of all that reads a query or a form."""

    def middleware(request: HttpRequest) -> HttpResponseBase:
        read_as_utf8(request)
        return get_response(request)

    return middleware


def readable_type(content_type: str) -> str:
    """A Content-Type, or nothing where Django couldn't make a request of it: too long,
    or with a charset of bytes (`hex`) or of nothing (`undefined`)."""
    try:
        _, parameters = parse_header_parameters(content_type)
        b"a".decode(parameters.get("charset", "utf-8"))
    except (LookupError, ValueError):
        return ""
    return content_type


class Readable:
    """The same for an ASGI application, in front of all that makes a request."""

    def __init__(self, inner: Callable[..., Awaitable[None]]) -> None:
        self._inner = inner

    async def __call__(self, scope: Mapping[str, Any], receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            headers = [
                (name, readable_type(value.decode("latin-1")).encode("latin-1"))
                if name == b"content-type"
                else (name, value)
                for name, value in scope["headers"]
            ]
            scope = {**scope, "headers": headers}
        await self._inner(scope, receive, send)


def caller_by_bearer(request: HttpRequest) -> Caller:
    """Raises Unauthenticated, and TooManyRequests for one who guesses."""
    kind, _, token = request.META.get("HTTP_AUTHORIZATION", "").partition(" ")
    if kind.lower() != "bearer":
        raise Unauthenticated
    try:
        return caller_of_token(token.strip())
    except Unauthenticated:
        guessed(request)
        raise


def raw_body(request: HttpRequest, limit: int = MAX_BODY_BYTES) -> bytes:
    """All of it, or more than `limit` bytes of it. Raises RequestDataTooBig."""
    # Django holds no body above its own limit, but one can be read.
    whole = request.body if limit <= MAX_BODY_BYTES else request.read(limit + 1)
    return whole or _chunked(request, limit)


def _chunked(request: HttpRequest, limit: int) -> bytes:
    """A body of unknown length, which Django takes for an empty one under WSGI
    (under ASGI it has read it)."""
    stream = getattr(request, "environ", {}).get("wsgi.input")
    if stream is None or not request.META.get("HTTP_TRANSFER_ENCODING"):
        return b""
    raw = b""
    while len(raw) <= limit and (more := stream.read(limit)):
        raw += more
    return raw
