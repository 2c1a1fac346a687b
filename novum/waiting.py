"""Claims that wait, on ASGI: a call that waits holds neither a thread nor a connection.

Stands in front of Django, whose middleware would hold a thread for as long as somebody
waits. A claim with `wait_seconds`, by REST or MCP, goes through all of Django as any
call does, but answers at once; if it has got nothing, the answer is kept back, and the
call is made once more when there is something for it (leases.lookout).
"""

import asyncio
import contextvars
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from io import BytesIO
from time import monotonic
from typing import Any

from django.core.handlers.asgi import ASGIRequest
from django.core.handlers.base import BaseHandler
from django.db import close_old_connections
from django.http.response import HttpResponseBase

from leases.lookout import LOOKOUT, Waiter
from novum.cleaning import MAX_BODY_BYTES
from novum.limits import is_counted
from novum.operations.registry import OPERATIONS
from novum.operations.waiting import Desk, at_desk

type Scope = Mapping[str, Any]
type Message = dict[str, Any]
type Receive = Callable[[], Awaitable[Message]]
type Send = Callable[[Message], Awaitable[None]]

MCP = "/v1/mcp"
WORD = b"wait_seconds"
# Beyond it calls answer at once, as they do without `wait_seconds`.
MOST_WAITING = 5_000
THREADS = 4
_VERBS = {
    path.rpartition(":")[2]
    for one in OPERATIONS
    if one.waits
    for path in (one.path, *one.aliases)
}


@dataclass(eq=False)
class Waiting:
    """The ASGI application `inner`, and this in front of it."""

    inner: Callable[..., Awaitable[None]]
    waiting: int = 0
    _handler: BaseHandler = field(default_factory=BaseHandler)
    _threads: ThreadPoolExecutor = field(
        default_factory=lambda: ThreadPoolExecutor(THREADS, "claims")
    )

    def __post_init__(self) -> None:
        self._handler.load_middleware()

    async def __call__(self, scope: Any, receive: Receive, send: Send) -> None:
        if not _may_wait(scope) or self.waiting >= MOST_WAITING:
            await self.inner(scope, receive, send)
            return
        read = await _read(receive)
        if read is None:
            return
        body, is_whole = read
        if not is_whole or not (WORD in body or WORD in scope["query_string"]):
            await self.inner(scope, _again(body, is_whole, receive), send)
            return
        self.waiting += 1
        gone = asyncio.ensure_future(_gone(receive))
        call = _Call(self, scope, body, gone)
        work = asyncio.ensure_future(call.answer(send))
        try:
            await asyncio.wait({gone, work}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            self.waiting -= 1
            gone.cancel()
            work.cancel()
            with suppress(asyncio.CancelledError):
                await work

    async def work(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """In a thread; one that is cancelled before its turn is never run."""
        context = contextvars.copy_context()
        loop = asyncio.get_running_loop()
        run = context.run
        return await loop.run_in_executor(self._threads, run, function, *arguments)

    def attempt(
        self, scope: Scope, body: bytes, is_first: bool
    ) -> tuple[HttpResponseBase, Desk]:
        """The whole call, once."""
        close_old_connections()
        request = ASGIRequest(dict(scope), BytesIO(body))
        is_counted.set(not is_first)
        try:
            with at_desk() as desk:
                response = self._handler.get_response(request)
            return response, desk
        finally:
            close_old_connections()


@dataclass(eq=False)
class _Call:
    """One call, from its request to its answer."""

    front: Waiting
    scope: Scope
    body: bytes
    gone: asyncio.Future[None]
    rung: asyncio.Event = field(default_factory=asyncio.Event)
    waiter: Waiter | None = None
    leave: Callable[[], None] | None = None

    async def answer(self, send: Send) -> None:
        response, desk = await self._attempt(is_first=True)
        if desk.seconds:
            found = await self._wait(response, desk)
            if found is None:
                return
            response = found
        await _send(response, send)

    async def _wait(
        self, response: HttpResponseBase, desk: Desk
    ) -> HttpResponseBase | None:
        """The answer in the end; None when nobody is there any more to hear it."""
        until = monotonic() + desk.seconds
        has_claimed = False
        try:
            while await self._is_rung(desk, until - monotonic()):
                # Whoever has gone away claims nothing.
                await asyncio.sleep(0)
                if self.gone.done():
                    return None
                response, desk = await self._attempt(is_first=False)
                has_claimed = not desk.seconds
                if has_claimed:
                    return response
                if self.waiter:
                    LOOKOUT.tried(self.waiter)
        finally:
            if self.waiter:
                LOOKOUT.leave(self.waiter, has_claimed=has_claimed)
            if self.leave:
                self.leave()
        if desk.has_due and not self.gone.done():
            # By now it's due sooner, or there.
            response, _ = await self._attempt(is_first=False)
        return response

    async def _is_rung(self, desk: Desk, seconds: float) -> bool:
        if seconds <= 0:
            return False
        if desk.wanted and self.waiter is None:
            self.waiter = Waiter(desk.wanted, self._waker())
            LOOKOUT.join(self.waiter)
        elif desk.ring and self.leave is None:
            self.leave = desk.ring(self._waker())
        try:
            await asyncio.wait_for(self.rung.wait(), seconds)
        except TimeoutError:
            return False
        self.rung.clear()
        return True

    def _waker(self) -> Callable[[], None]:
        loop = asyncio.get_running_loop()

        def wake() -> None:
            # The loop may have ended with its process.
            with suppress(RuntimeError):
                loop.call_soon_threadsafe(self.rung.set)

        return wake

    async def _attempt(self, *, is_first: bool) -> tuple[HttpResponseBase, Desk]:
        front = self.front
        found: tuple[HttpResponseBase, Desk] = await front.work(
            front.attempt, self.scope, self.body, is_first
        )
        return found


def _may_wait(scope: Scope) -> bool:
    if scope["type"] != "http" or scope["method"] != "POST":
        return False
    path = scope["path"].rstrip("/")
    return path == MCP or path.rpartition(":")[2] in _VERBS


async def _read(receive: Receive) -> tuple[bytes, bool] | None:
    """The body, and whether that's all of it: it isn't where it's too large for us.
    None when the caller went away before its end."""
    body = b""
    while len(body) <= MAX_BODY_BYTES:
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        body += message.get("body", b"")
        if not message.get("more_body"):
            return body, True
    return body, False


def _again(body: bytes, is_whole: bool, receive: Receive) -> Receive:
    """What was read, and then what comes."""
    told = False

    async def receive_again() -> Message:
        nonlocal told
        if told:
            return await receive()
        told = True
        return {"type": "http.request", "body": body, "more_body": not is_whole}

    return receive_again


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def _send(response: HttpResponseBase, send: Send) -> None:
    content: bytes = getattr(response, "content", b"")
    headers = {**dict(response.items()), "Content-Length": str(len(content))}
    cookies = [("Set-Cookie", one.OutputString()) for one in response.cookies.values()]
    told = [*headers.items(), *cookies]
    pairs = [(name.lower().encode(), value.encode("latin-1")) for name, value in told]
    status = response.status_code
    await send({"type": "http.response.start", "status": status, "headers": pairs})
    await send({"type": "http.response.body", "body": content})
    response.close()
