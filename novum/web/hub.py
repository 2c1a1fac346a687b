"""One loop per process: what changed is read and rendered once, for all who watch.

Rows are the truth. While somebody watches, the loop asks the feed of events about five
times a second; nothing has to nudge it, and nothing but PostgreSQL can stop it.
"""

import asyncio
import logging
from collections import defaultdict
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from time import monotonic
from typing import Any
from uuid import UUID

import msgspec
from asgiref.sync import sync_to_async
from django.db import close_old_connections

from leases import changes
from novum.web.frames import BoardFrames, Frame, resync

logger = logging.getLogger(__name__)

LOOK_SECONDS = 0.2
# Leases that were renewed, cards that turned out not to fit.
QUIET_SECONDS = 3.0
CHECK_SECONDS = 1.2
ALIVE_SECONDS = 10.0
# How long the loop rests after an error, so that a dead database isn't hammered.
REST_SECONDS = 1.0
# Pages that are to read the board anew do so one after the other, roughly.
MS_PER_PAGE = 15
MOST_MS = 2_500
Send = Callable[[str], Awaitable[None]]
Close = Callable[[int], Awaitable[None]]


@dataclass(eq=False)
class Viewer:
    """One open page: whose, of which board, by which session. `role` is the one on the
    board that the page was made for, empty if it doesn't say."""

    board_id: UUID
    workspace_id: UUID
    workspace_key: str
    actor_id: UUID
    session_key: str
    send: Send
    close: Close
    role: str = ""


@dataclass(eq=False)
class Hub:
    """`check` says of some viewers with which code their sockets are to be closed."""

    check: Callable[[list[Viewer]], dict[Viewer, int]]
    viewers: dict[UUID, set[Viewer]] = field(default_factory=dict)
    frames: dict[UUID, BoardFrames] = field(default_factory=dict)
    cursor: str = ""
    _task: asyncio.Task[None] | None = None
    _thread: ThreadPoolExecutor = field(
        default_factory=lambda: ThreadPoolExecutor(1, "hub")
    )
    _catching: dict[tuple[UUID, str], asyncio.Future[str]] = field(default_factory=dict)
    _last: dict[str, float] = field(default_factory=lambda: defaultdict(float))

    async def join(self, viewer: Viewer) -> None:
        """From now on the viewer gets every frame of its board."""
        if viewer.board_id not in self.viewers:
            self.viewers[viewer.board_id] = set()
            self.frames[viewer.board_id] = BoardFrames(
                viewer.board_id, viewer.workspace_id, viewer.workspace_key
            )
        self.viewers[viewer.board_id].add(viewer)
        if self._is_running():
            return
        moment = await self.work(changes.moment)
        if not self._is_running():
            self.cursor = moment.snapshot
            self._task = asyncio.get_running_loop().create_task(self._run())

    def _is_running(self) -> bool:
        return self._task is not None and not self._task.done()

    def leave(self, viewer: Viewer) -> None:
        """The last one to leave a board ends the work for it."""
        watching = self.viewers.get(viewer.board_id, set())
        watching.discard(viewer)
        if not watching:
            self.viewers.pop(viewer.board_id, None)
            self.frames.pop(viewer.board_id, None)

    async def catch_up(self, viewer: Viewer, since: str) -> None:
        """What changed between the page's reading and `join`, for this viewer; the same
        for all who wait for it, as after a network was gone."""
        key = (viewer.board_id, since)
        catching = self._catching.get(key)
        if catching is None:
            catching = asyncio.ensure_future(self.work(self._caught_up, viewer, since))
            self._catching[key] = catching
        text = await asyncio.shield(catching)
        with suppress(Exception):
            await viewer.send(text)

    def _caught_up(self, viewer: Viewer, since: str) -> str:
        # Who comes from here on may have missed more than this will see.
        self._catching.pop((viewer.board_id, since), None)
        frames = BoardFrames(viewer.board_id, viewer.workspace_id, viewer.workspace_key)
        return encode(self._spread(frames.catch_up(since), viewer.board_id))

    async def work(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Runs what asks the database, in the hub's own thread."""

        def run() -> Any:
            close_old_connections()
            try:
                return function(*arguments)
            finally:
                close_old_connections()

        return await sync_to_async(run, thread_sensitive=False, executor=self._thread)()

    async def _run(self) -> None:
        while self.viewers:
            started = monotonic()
            try:
                await self._look()
            except Exception:
                # The cursor stands where it stood: nothing is missed, only late.
                logger.exception("The live loop goes on after an error")
                await asyncio.sleep(REST_SECONDS)
            await asyncio.sleep(max(0.01, LOOK_SECONDS - (monotonic() - started)))

    async def _look(self) -> None:
        if self._is_time("check", CHECK_SECONDS):
            everybody = [one for some in self.viewers.values() for one in some]
            for viewer, code in (await self.work(self.check, everybody)).items():
                self.leave(viewer)
                with suppress(Exception):
                    await viewer.close(code)
        await self._gather()
        quiet = self._is_time("quiet", QUIET_SECONDS)
        alive = self._is_time("alive", ALIVE_SECONDS)
        for board_id, frames in list(self.frames.items()):
            try:
                frame = await self.work(frames.next_frame, self.cursor, quiet, alive)
            except Exception:
                logger.exception("A board's changes could not be shown")
                frame = resync(self.cursor)
            if frame:
                await self._send(board_id, encode(self._spread(frame, board_id)))

    def _spread(self, frame: Frame, board_id: UUID) -> Frame:
        """Not all pages at once, where they are to come for the whole board."""
        if not frame.resync:
            return frame
        pages = len(self.viewers.get(board_id, ()))
        within_ms = min(MOST_MS, (pages - 1) * MS_PER_PAGE)
        return msgspec.structs.replace(frame, within_ms=max(0, within_ms))

    async def _gather(self) -> None:
        frames = dict(self.frames)
        workspaces = {one.workspace_id for one in frames.values()}
        found, moment = await self.work(_since, self.cursor, workspaces, set(frames))
        for change in found:
            frames[change.board_id].add(change)
        if len(found) > changes.MOST_CHANGES:
            for one in frames.values():
                one.add_everything()
        self.cursor = moment.snapshot
        for one in frames.values():
            one.now = moment.at

    async def _send(self, board_id: UUID, text: str) -> None:
        for viewer in list(self.viewers.get(board_id, ())):
            try:
                await viewer.send(text)
            except Exception:
                self.leave(viewer)

    def _is_time(self, what: str, every_seconds: float) -> bool:
        now = monotonic()
        if now - self._last[what] < every_seconds:
            return False
        self._last[what] = now
        return True


def _since(
    cursor: str, workspaces: set[UUID], boards: set[UUID]
) -> tuple[list[changes.Change], changes.Moment]:
    return changes.since(cursor, workspaces=workspaces, boards=boards)


def encode(frame: Frame) -> str:
    return msgspec.json.encode(frame).decode()
