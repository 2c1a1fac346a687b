"""A person's socket, at /live/me: that something changed, and how many messages wait.

It carries no content: pages that show tasks ask anew, and see there what they may. One
loop per process asks for all who listen.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from time import monotonic
from typing import Any
from urllib.parse import parse_qs
from uuid import UUID

import msgspec
from asgiref.sync import sync_to_async
from channels.db import database_sync_to_async
from channels.generic.websocket import AsyncWebsocketConsumer
from django.db import DataError, close_old_connections

from accounts.callers import Caller
from accounts.credentials import caller_of_user
from accounts.errors import DomainError
from boards import access
from leases import changes
from novum.web.live import NO_LONGER_MEMBER, NO_SESSION, sessions_now
from novum.web.pages import WORKSPACE_KEY
from tasks_people import inbox
from tasks_people.verbs.gather import gather

logger = logging.getLogger(__name__)

LOOK_SECONDS = 0.25
COUNT_SECONDS = 1.0
CHECK_SECONDS = 1.2
BOARDS_SECONDS = 2.0
ALIVE_SECONDS = 10.0
REST_SECONDS = 1.0
# Of more than these a page had better be read anew.
MOST_CARDS = 200


class News(msgspec.Struct, frozen=True, omit_defaults=True):
    """`cards` changed; `many`: more than are named. `unread` when it's another number
    than before."""

    cursor: str
    cards: list[UUID] = []
    many: bool = False
    unread: int | None = None


@dataclass(eq=False)
class Listener:
    """One open page. `boards` are those that its person sees; `others` when these are
    not the same as before, so that something may have been missed."""

    user: Any
    caller: Caller
    session_key: str
    boards: frozenset[UUID]
    send: Callable[[str], Awaitable[None]]
    close: Callable[[int], Awaitable[None]]
    unread: int | None = None
    others: bool = False


@dataclass(eq=False)
class Herald:
    listeners: set[Listener] = field(default_factory=set)
    cursor: str = ""
    _task: asyncio.Task[None] | None = None
    _thread: ThreadPoolExecutor = field(
        default_factory=lambda: ThreadPoolExecutor(1, "herald")
    )
    _last: dict[str, float] = field(default_factory=dict)
    _stirred: set[UUID] = field(default_factory=set)

    async def join(self, listener: Listener, since: str) -> None:
        """From now on it hears of every change; first of those after `since`."""
        self.listeners.add(listener)
        if self._task is None or self._task.done():
            moment = await self.work(changes.moment)
            if self._task is None or self._task.done():
                self.cursor = moment.snapshot
                self._task = asyncio.get_running_loop().create_task(self._run())
        await self._tell(listener, await self.work(_missed, listener, since))

    async def work(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Runs what asks the database, in a thread of its own."""

        def run() -> Any:
            close_old_connections()
            try:
                return function(*arguments)
            finally:
                close_old_connections()

        return await sync_to_async(run, thread_sensitive=False, executor=self._thread)()

    async def _run(self) -> None:
        while self.listeners:
            try:
                await self._look()
            except Exception:
                # The cursor stands where it stood: nothing is missed, only late.
                logger.exception("The loop of people's news goes on after an error")
                await asyncio.sleep(REST_SECONDS)
            await asyncio.sleep(LOOK_SECONDS)

    async def _look(self) -> None:
        if self._is_time("check", CHECK_SECONDS):
            await self._close_ended()
        if self._is_time("boards", BOARDS_SECONDS):
            await self.work(_look_again, list(self.listeners))
        everybody = list(self.listeners)
        found, moment = await self.work(_since, self.cursor, everybody)
        self.cursor = moment.snapshot
        boards: dict[UUID, dict[UUID, None]] = {}
        for change in found:
            cards = boards.setdefault(change.board_id, {})
            if change.card_id:
                cards[change.card_id] = None
        counts = await self._counted(everybody, boards.keys())
        alive = self._is_time("alive", ALIVE_SECONDS)
        for one in everybody:
            news = _news(one, boards, self.cursor, counts.get(one.caller.actor_id))
            if alive or news.cards or news.many or news.unread is not None:
                await self._tell(one, news)

    async def _counted(
        self, everybody: list[Listener], changed: Any
    ) -> dict[UUID, int]:
        """Also what was read in another window, of which no event tells."""
        self._stirred |= {
            one.caller.workspace_id
            for one in everybody
            if one.others or one.boards & set(changed)
        }
        if not self._is_time("count", COUNT_SECONDS):
            return {}
        stirred, self._stirred = self._stirred, set()
        found: dict[UUID, int] = await self.work(_counts, everybody, stirred)
        return found

    async def _close_ended(self) -> None:
        everybody = list(self.listeners)
        keys = {one.session_key for one in everybody}
        present = await self.work(sessions_now, keys)
        for one in everybody:
            if one.session_key not in present:
                self.listeners.discard(one)
                with suppress(Exception):
                    await one.close(NO_SESSION)

    async def _tell(self, listener: Listener, news: News) -> None:
        if news.unread is not None:
            listener.unread = news.unread
        try:
            await listener.send(msgspec.json.encode(news).decode())
        except Exception:
            self.listeners.discard(listener)

    def _is_time(self, what: str, every_seconds: float) -> bool:
        now = monotonic()
        if now - self._last.get(what, 0.0) < every_seconds:
            return False
        self._last[what] = now
        return True


def _since(
    cursor: str, everybody: list[Listener]
) -> tuple[list[changes.Change], changes.Moment]:
    return changes.since(
        cursor,
        workspaces={one.caller.workspace_id for one in everybody},
        boards={board for one in everybody for board in one.boards},
    )


def _missed(listener: Listener, since: str) -> News:
    unread = inbox.unread(listener.caller)
    if not since:
        return News("", unread=unread)
    try:
        found, moment = _since(since, [listener])
    except DataError:
        return News("", many=True, unread=unread)
    cards = list(dict.fromkeys(one.card_id for one in found if one.card_id))
    many = len(cards) > MOST_CARDS
    return News(moment.snapshot, cards[:MOST_CARDS], many, unread)


def _news(
    one: Listener,
    boards: dict[UUID, dict[UUID, None]],
    cursor: str,
    unread: int | None,
) -> News:
    seen = [cards for board, cards in boards.items() if board in one.boards]
    cards = [card for some in seen for card in some]
    # A board without a card: its columns are others, so perhaps its queues.
    many = len(cards) > MOST_CARDS or one.others or any(not some for some in seen)
    one.others = False
    told = unread if unread != one.unread else None
    return News(cursor, cards[:MOST_CARDS], many, told)


def _counts(everybody: list[Listener], stirred: set[UUID]) -> dict[UUID, int]:
    for workspace_id in stirred:
        gather(workspace_id)
    return inbox.unread_of({one.caller.actor_id for one in everybody})


def _look_again(everybody: list[Listener]) -> None:
    """Whom they are now, and which boards they see: nothing for those who are out."""
    known: dict[UUID, frozenset[UUID]] = {}
    for one in everybody:
        if (actor := one.caller.actor_id) not in known:
            known[actor] = _boards(one)
        one.others |= one.boards != known[actor]
        one.boards = known[actor]


def _boards(one: Listener) -> frozenset[UUID]:
    try:
        one.caller = caller_of_user(one.user, one.caller.workspace_id)
    except DomainError:
        return frozenset()
    return frozenset(access.visible_board_ids(one.caller))


class PersonSocket(AsyncWebsocketConsumer):  # type: ignore[misc]
    """Sends news, reads nothing."""

    listener: Listener | None = None

    async def connect(self) -> None:
        # Accepted before it is refused: only so does the page get to see the code.
        await self.accept()
        found = await database_sync_to_async(self._listener)()
        if isinstance(found, int):
            await self.close(found)
            return
        self.listener = found
        query = parse_qs(self.scope["query_string"].decode("ascii", "replace"))
        await herald.join(found, query.get("since", [""])[0])

    async def disconnect(self, code: int) -> None:
        if self.listener:
            herald.listeners.discard(self.listener)

    async def receive(self, text_data: Any = None, bytes_data: Any = None) -> None:
        """Whatever a page says here, it's nothing that we listen to."""

    def _listener(self) -> Listener | int:
        """Or the code to close with."""
        session, user = self.scope["session"], self.scope["user"]
        if not user.is_authenticated:
            return NO_SESSION
        chosen = session.get(WORKSPACE_KEY)
        try:
            caller = caller_of_user(user, UUID(chosen) if chosen else None)
        except DomainError:
            return NO_LONGER_MEMBER
        return Listener(
            user=user,
            caller=caller,
            session_key=session.session_key,
            boards=frozenset(access.visible_board_ids(caller)),
            send=self._send,
            close=self.close,
        )

    async def _send(self, text: str) -> None:
        await self.send(text_data=text)


herald = Herald()
