"""Each call has an id, which its answer tells and every line about it has.

A line for each call only where it's asked for (NOVUM_LOG_REQUESTS): it costs more than
all the rest of this. One that went wrong or took long always has one.
"""

import logging
import re
from collections.abc import Awaitable, Callable, Mapping
from time import perf_counter
from typing import Any

from django.conf import settings
from django.http import HttpRequest
from django.http.response import HttpResponseBase

from accounts.ids import new_id
from novum.logs.facts import about

type Handler = Callable[[HttpRequest], HttpResponseBase]

HEADER = "X-Request-ID"
SLOW_SECONDS = 1.0
_USABLE = re.compile(r"[\w.:/+=-]{1,128}", re.ASCII)
log = logging.getLogger("novum.calls")


def middleware(get_response: Handler) -> Handler:
    """The outermost of Django's, so that it sees what all others answer."""

    def answered(request: HttpRequest) -> HttpResponseBase:
        begun = perf_counter()
        with about(request_id=_id(request.META.get("HTTP_X_REQUEST_ID"))) as facts:
            response = get_response(request)
            response.headers[HEADER] = facts["request_id"]
            _note(request, response.status_code, perf_counter() - begun, facts)
        return response

    return answered


class Called:
    """The same for an ASGI application: what waits in front of Django has an id, too."""

    def __init__(self, inner: Callable[..., Awaitable[None]]) -> None:
        self._inner = inner

    async def __call__(self, scope: Mapping[str, Any], receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            await self._inner(scope, receive, send)
            return
        given = dict(scope["headers"]).get(HEADER.lower().encode())
        with about(request_id=_id(given and given.decode("latin-1"))) as facts:
            name, value = HEADER.lower().encode(), facts["request_id"].encode()

            async def told(message: Mapping[str, Any]) -> None:
                if message["type"] == "http.response.start":
                    rest = [one for one in message["headers"] if one[0].lower() != name]
                    message = {**message, "headers": [*rest, (name, value)]}
                await send(message)

            await self._inner(scope, receive, told)


def _id(given: str | None) -> str:
    """What the caller, or a proxy, calls it; else one of ours."""
    return given if given and _USABLE.fullmatch(given) else str(new_id())


def _note(
    request: HttpRequest, status: int, seconds: float, facts: Mapping[str, Any]
) -> None:
    level = _level(status, seconds, facts)
    if level is None or not log.isEnabledFor(level):
        return
    more = {"status": status, "milliseconds": round(seconds * 1000, 1)}
    log.log(level, "%s %s", request.method, _where(request), extra={"facts": more})


def _level(status: int, seconds: float, facts: Mapping[str, Any]) -> int | None:
    if status >= 500:
        return logging.ERROR
    if seconds >= SLOW_SECONDS and not facts.get("waits"):
        return logging.WARNING
    if settings.LOG_REQUESTS:
        return logging.INFO
    return logging.DEBUG if status >= 400 else None


def _where(request: HttpRequest) -> str:
    """Without what addresses hold of people; never a query."""
    if request.path.startswith("/v1/"):
        return request.path[:200]
    match = request.resolver_match
    return f"/{match.route}" if match else "an address that isn't there"
