"""One loop per process that looks whether there's news, for all who wait for it.

It runs only while somebody waits, and each of them costs neither a thread nor a
connection: an entry in a dict. It looks when a nudge says that something happened, then
some times more (the feed tells nothing while an older transaction is under way), and now
and then anyway.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from time import monotonic
from typing import Any
from uuid import UUID

from asgiref.sync import sync_to_async
from django.db import close_old_connections

from boards import news
from boards.hearing import EAR, Listener
from boards.news import News, Position
from boards.nudges import Nudge
from boards.reads import EventFilter

log = logging.getLogger(__name__)

LOOK_SECONDS = 0.2
# So long it looks on after a nudge; else so often.
SOON_SECONDS = 2.0
SAFETY_SECONDS = 1.8
REST_SECONDS = 1.0
THREADS = 2


@dataclass(eq=False)
class Waiter:
    workspace_id: UUID
    wanted: EventFilter
    rung: asyncio.Event = field(default_factory=asyncio.Event)

    async def wait(self, seconds: float) -> bool:
        """Whether it rang; it may ring for what the waiter can't see."""
        try:
            await asyncio.wait_for(self.rung.wait(), max(0.0, seconds))
        except TimeoutError:
            return False
        self.rung.clear()
        return True


@dataclass(eq=False)
class Bell:
    waiters: dict[UUID, set[Waiter]] = field(default_factory=dict)
    seen: dict[UUID, Position] = field(default_factory=dict)
    _nudged: asyncio.Event = field(default_factory=asyncio.Event)
    _soon_until: float = 0.0
    _task: asyncio.Task[None] | None = None
    _threads: ThreadPoolExecutor = field(
        default_factory=lambda: ThreadPoolExecutor(THREADS, "feed")
    )

    @asynccontextmanager
    async def waiting(
        self, workspace_id: UUID, wanted: EventFilter
    ) -> AsyncIterator[Waiter]:
        """From here on nothing is missed: look at the feed after this, then wait."""
        waiter = Waiter(workspace_id, wanted)
        if workspace_id not in self.seen:
            position = await self.work(news.end)
            self.seen.setdefault(workspace_id, position)
        self.waiters.setdefault(workspace_id, set()).add(waiter)
        if self._task is None or self._task.done():
            self._task = asyncio.get_running_loop().create_task(self._run())
        try:
            yield waiter
        finally:
            self._leave(waiter)

    def _leave(self, waiter: Waiter) -> None:
        others = self.waiters[waiter.workspace_id]
        others.discard(waiter)
        if not others:
            del self.waiters[waiter.workspace_id]
            self.seen.pop(waiter.workspace_id, None)

    async def _run(self) -> None:
        heard = self._listener(asyncio.get_running_loop())
        EAR.listen(heard)
        try:
            while self.waiters:
                await self._look_or_ring()
                await asyncio.sleep(LOOK_SECONDS)
                if monotonic() > self._soon_until:
                    with suppress(TimeoutError):
                        await asyncio.wait_for(self._nudged.wait(), SAFETY_SECONDS)
        finally:
            EAR.ignore(heard)

    def _listener(self, loop: asyncio.AbstractEventLoop) -> Listener:
        def note() -> None:
            self._soon_until = monotonic() + SOON_SECONDS
            self._nudged.set()

        def heard(nudges: Sequence[Nudge] | None) -> None:
            if nudges is None or any(one.workspace_id in self.seen for one in nudges):
                # The loop may have ended with its process.
                with suppress(RuntimeError):
                    loop.call_soon_threadsafe(note)

        return heard

    async def _look_or_ring(self) -> None:
        self._nudged.clear()
        try:
            await self._look()
        except Exception:
            # Everybody looks for themselves, rather than to miss something.
            log.exception("The feed's loop goes on after an error")
            self._ring_all()
            await asyncio.sleep(REST_SECONDS)

    async def _look(self) -> None:
        found: list[News] = await self.work(news.news, dict(self.seen))
        for one in found:
            if one.workspace_id in self.seen:
                self.seen[one.workspace_id] = one.at
            for waiter in self.waiters.get(one.workspace_id, ()):
                if one.concerns(waiter.wanted):
                    waiter.rung.set()

    def _ring_all(self) -> None:
        for several in self.waiters.values():
            for waiter in several:
                waiter.rung.set()

    async def work(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Runs what asks the database; the connection goes back afterwards."""

        def run() -> Any:
            close_old_connections()
            try:
                return function(*arguments)
            finally:
                close_old_connections()

        look = sync_to_async(run, thread_sensitive=False, executor=self._threads)
        return await look()
