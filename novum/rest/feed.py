"""`GET /v1/events` for those who wait: `wait_seconds`, or a stream of events
(`Accept: text/event-stream`; WHATWG HTML, 9.2).

Stands in front of Django on ASGI: inside, our middleware would hold a thread for as
long as somebody waits. Whoever comes without a bearer token goes on to Django.
"""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from io import BytesIO
from time import monotonic
from typing import Any
from uuid import UUID

import msgspec
from django.core.handlers.asgi import ASGIRequest
from django.http import HttpResponse

from accounts.callers import Caller
from accounts.errors import Policy, TooManyRequests
from boards import news, reads
from boards.shapes import EventShape
from novum import limits, problems
from novum.cleaning import clean
from novum.incoming import caller_by_bearer, read_as_utf8
from novum.operations import events
from novum.operations.events import ListEvents
from novum.operations.perform import converted
from novum.rest.bell import Bell

type Scope = Mapping[str, Any]
type Receive = Callable[[], Awaitable[dict[str, Any]]]
type Send = Callable[[dict[str, Any]], Awaitable[None]]

PATH = "/v1/events"
STREAM = "text/event-stream"
# A comment now and then, so that nobody on the way takes the stream for dead; and a
# look whether its reader still may.
ALIVE_SECONDS = 10.0
# Then a reader comes again with its Last-Event-ID, perhaps to another process.
STREAM_SECONDS = 3600.0
RETRY_MILLISECONDS = 1000
MOST_PER_CREDENTIAL = 50
BUCKET, AT_ONCE = "feeds", "concurrent-requests"
(_OPERATION,) = (one for one in events.OPERATIONS if one.name == "list_events")


@dataclass(eq=False)
class Feed:
    """The ASGI application `inner`, and this in front of it."""

    inner: Callable[..., Awaitable[None]]
    bell: Bell = field(default_factory=Bell)
    open: Counter[UUID] = field(default_factory=Counter)

    async def __call__(self, scope: Any, receive: Receive, send: Send) -> None:
        if not _waits(scope):
            await self.inner(scope, receive, send)
            return
        request = ASGIRequest(scope, BytesIO())
        read_as_utf8(request)
        call = Call(self, request, send)
        gone = asyncio.ensure_future(_gone(receive))
        work = asyncio.ensure_future(call.answer())
        try:
            await asyncio.wait({gone, work}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            gone.cancel()
            work.cancel()
            with suppress(asyncio.CancelledError):
                await work


def _waits(scope: Scope) -> bool:
    if scope["type"] != "http" or scope["method"] != "GET" or scope["path"] != PATH:
        return False
    headers = dict(scope["headers"])
    if b"authorization" not in headers:
        return False
    return (
        STREAM in headers.get(b"accept", b"").decode("latin-1")
        or b"wait_seconds=" in scope["query_string"]
    )


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


@dataclass(eq=False)
class Call:
    """One reader, from its request to its end."""

    feed: Feed
    request: ASGIRequest
    send: Send
    _started: bool = False

    async def answer(self) -> None:
        counted: UUID | None = None
        try:
            caller, given = await self.feed.bell.work(self._enter)
            if self.feed.open[caller.credential_id] >= MOST_PER_CREDENTIAL:
                policy = Policy(BUCKET, MOST_PER_CREDENTIAL, unit=AT_ONCE)
                raise TooManyRequests(policy, retry_after_seconds=1)
            counted = caller.credential_id
            self.feed.open[counted] += 1
            if STREAM in self.request.headers.get("Accept", ""):
                await self._stream(caller, given)
            else:
                await self._page(caller, given)
        except Exception as error:
            await self._refuse(error)
        finally:
            if counted:
                self.feed.open[counted] -= 1
                self.feed.open += Counter()

    def _enter(self) -> tuple[Caller, ListEvents]:
        caller = caller_by_bearer(self.request)
        caller.require_scope(_OPERATION.scope)
        limits.check(caller, _OPERATION.bucket)
        arguments: dict[str, Any] = dict(self.request.GET.items())
        clean(arguments)
        return caller, converted(_OPERATION, arguments, strict=False)

    async def _page(self, caller: Caller, given: ListEvents) -> None:
        until = monotonic() + given.wait_seconds
        wanted = events.wanted(given)
        async with self.feed.bell.waiting(caller.workspace_id, wanted) as waiter:
            page = await self._look(_read_page, given)
            while not page.items and await waiter.wait(until - monotonic()):
                page = await self._look(_read_page, given)
        response = HttpResponse(
            msgspec.json.encode(page), content_type="application/json"
        )
        await self._whole(response)

    async def _stream(self, caller: Caller, given: ListEvents) -> None:
        after = self.request.headers.get("Last-Event-ID") or given.after
        until = monotonic() + STREAM_SECONDS
        wanted = events.wanted(given)
        async with self.feed.bell.waiting(caller.workspace_id, wanted) as waiter:
            if not after:
                after = (await self.feed.bell.work(news.end)).cursor
            # Before the head is out, a wrong cursor can still be told as one.
            found = await self._look(_read_events, given, after)
            await self._head()
            while monotonic() < until:
                for after, event in found:
                    await self._write(_framed(after, event))
                if len(found) < given.limit and not await waiter.wait(ALIVE_SECONDS):
                    await self._write(": alive\n\n")
                found = await self._look(_read_events, given, after)
        await self.send({"type": "http.response.body", "body": b""})

    async def _look(self, read: Callable[..., Any], *arguments: Any) -> Any:
        """As the caller is now: a token revoked meanwhile sees nothing more."""

        def look() -> Any:
            caller = caller_by_bearer(self.request)
            caller.require_scope(_OPERATION.scope)
            return read(caller, *arguments)

        return await self.feed.bell.work(look)

    async def _head(self) -> None:
        self._started = True
        headers = {
            "Content-Type": STREAM,
            "Cache-Control": "no-store",
            "X-Accel-Buffering": "no",
            "X-Content-Type-Options": "nosniff",
        }
        await self._begin(200, headers)
        await self._write(f"retry: {RETRY_MILLISECONDS}\n\n")

    async def _begin(self, status: int, headers: Mapping[str, str]) -> None:
        pairs = [(k.lower().encode(), str(v).encode()) for k, v in headers.items()]
        start = {"type": "http.response.start", "status": status, "headers": pairs}
        await self.send(start)

    async def _write(self, text: str) -> None:
        body = {"type": "http.response.body", "body": text.encode(), "more_body": True}
        await self.send(body)

    async def _refuse(self, error: Exception) -> None:
        if self._started:
            # The reader comes again and is told then.
            await self.send({"type": "http.response.body", "body": b""})
        else:
            await self._whole(problems.plain(self.request, error))

    async def _whole(self, response: HttpResponse) -> None:
        headers = {
            **dict(response.items()),
            "Content-Length": str(len(response.content)),
            "X-Content-Type-Options": "nosniff",
        }
        await self._begin(response.status_code, headers)
        await self.send({"type": "http.response.body", "body": response.content})


def _read_page(caller: Caller, given: ListEvents) -> reads.EventPage:
    return events.list_events(caller, given)


def _read_events(
    caller: Caller, given: ListEvents, after: str
) -> list[tuple[str, EventShape]]:
    wanted = events.wanted(given)
    return reads.events_with_cursors(caller, wanted, after=after, limit=given.limit)


def _framed(cursor: str, event: EventShape) -> str:
    """JSON has no line breaks of its own, so one `data` line is enough."""
    text = msgspec.json.encode(event).decode()
    return f"id: {cursor}\nevent: {event.type}\ndata: {text}\n\n"
