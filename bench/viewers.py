"""Many open pages of one board, as the server sees them: sockets and their pictures."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from time import monotonic
from urllib.parse import quote
from uuid import UUID

from bench.boards import page_request
from bench.load import LoadError, Talk, drive
from bench.pictures import Picture, Pushed, picture_of, pushed
from bench.steering import Change
from bench.websocket import Socket, connect

RECONNECT_SECONDS = 2.0
RETRY_SECONDS = 1.0
RECONNECTING = 10  # one of so many, each time
_AT_ONCE = 20


@dataclass
class Viewer:
    """One page: its picture, and what it heard when (monotonic seconds)."""

    pages: "Pages"
    cookie: str
    picture: Picture
    doors: asyncio.Semaphore
    heard: list[tuple[float, Pushed]] = field(default_factory=list)
    connections: int = 0
    refusals: int = 0
    resyncs: int = 0
    is_told: asyncio.Event = field(default_factory=asyncio.Event)
    _socket: Socket | None = None

    async def watch(self) -> None:
        """Connects, again and again, and keeps the picture right."""
        while True:
            path = f"/live/boards/{self.pages.board_id}"
            query = f"?since={quote(self.picture.cursor)}"
            async with self.doors:
                self._socket = await connect(self.pages.live, path + query, self.cookie)
            self.connections += 1
            while (text := await self._socket.hear()) is not None:
                frame = pushed(text)
                if frame.resync:
                    self.resyncs += 1
                    page = await asyncio.to_thread(self.pages.read, self.cookie)
                    self.picture = picture_of(page)
                    whole = tuple(self.picture.cards.items())
                    frame = Pushed("", True, whole, self.picture.counts, ())
                else:
                    self.picture.apply(frame)
                self.heard.append((monotonic(), frame))
                self.is_told.set()

    def drop(self) -> None:
        if self._socket:
            self._socket.drop()

    def delays(self, changes: list[Change]) -> list[float]:
        """Seconds from each change to the frame that told of it; endless if none."""
        first: dict[tuple[str, int], float] = {}
        latest: dict[str, int] = {}
        for at, frame in self.heard:
            for card, shown in frame.cards:
                if shown and shown.version > latest.get(card, 0):
                    for version in range(latest.get(card, 0) + 1, shown.version + 1):
                        first[card, version] = at
                    latest[card] = shown.version
        never = float("inf")
        return [first.get((one.card, one.version), never) - one.at for one in changes]


@dataclass(frozen=True)
class Pages:
    """Where pages of a board come from: the web and the live process."""

    web: tuple[str, int]
    live: tuple[str, int]
    board_id: UUID
    doors: asyncio.Semaphore = field(
        default_factory=lambda: asyncio.Semaphore(_AT_ONCE)
    )

    def read(self, cookie: str, query: str = "") -> str:
        """The page now. Raises LoadError."""
        found: list[str] = []

        def talk() -> Talk:
            status, body = yield page_request(f"/boards/{self.board_id}{query}", cookie)
            if status != 200:
                raise LoadError(f"The page answered {status}.")
            found.append(body.decode())

        drive(self.web, [talk()])
        return found[0]

    @asynccontextmanager
    async def watched(self, cookies: list[str]) -> AsyncIterator[list[Viewer]]:
        """A viewer for each cookie, all of whom have heard something."""
        picture, doors = picture_of(self.read(cookies[0])), asyncio.Semaphore(_AT_ONCE)
        viewers = [Viewer(self, cookie, picture.copy(), doors) for cookie in cookies]
        async with asyncio.TaskGroup() as group:
            watching = [group.create_task(viewer.watch()) for viewer in viewers]
            for viewer in viewers:
                await viewer.is_told.wait()
            yield viewers
            for one, viewer in zip(watching, viewers, strict=True):
                one.cancel()
                viewer.drop()


async def reconnect(viewers: list[Viewer]) -> None:
    """Each two seconds another tenth of them loses its connection."""
    turn = 0
    while True:
        await asyncio.sleep(RECONNECT_SECONDS)
        for viewer in viewers[turn % RECONNECTING :: RECONNECTING]:
            viewer.drop()
        turn += 1
