"""The delivery loop of one worker process: take up events, take what is due, send.

Rows are the truth. The loop looks when a nudge says that something happened
(boards.nudges) and every second anyway; one that is killed leaves its deliveries to the
others. Sending is asynchronous, so a
receiver that hangs costs a socket and no thread; each endpoint has a bounded number of
requests on their way, a failing one only two.
"""

import asyncio
import logging
import os
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from time import monotonic
from typing import Any
from uuid import UUID

from django.db import DataError, IntegrityError, connection

from boards.hearing import EAR, Listener
from boards.nudges import Nudge
from supervision import loops
from webhooks import conf
from webhooks.models import Endpoint
from webhooks.pace import Pace
from webhooks.payloads import as_cloudevent
from webhooks.sending.lines import Lines
from webhooks.sending.post import Answer, post
from webhooks.signing import message_id, signatures
from webhooks.verbs.fan_out import fan_out
from webhooks.verbs.finish import INTERRUPTED, Tried, finish, retry_after
from webhooks.verbs.take import Destination, Taken, destinations, take

log = logging.getLogger(__name__)

# In the timetable, and where it says that it goes.
NAME = "webhooks-deliver"
FAILING_CONCURRENCY = 2
# Of all that may be on their way, so many may be to endpoints that fail.
FAILING_SHARE = 0.5
# How long the loop rests after an error, so that a dead database isn't hammered.
REST_SECONDS = 1.0
# Claims come first where both run on one machine (see `docs/speed.md`).
NICENESS = 10
FAN_OUT_SECONDS = 0.1
USER_AGENT = "Novum-Webhooks/1"


def run(seconds: float, should_stop: Callable[[], bool] = lambda: False) -> int:
    """Deliver for so long, or until told to stop; how many tries were finished.

    In a thread of its own, so that its lower priority goes with it.
    """
    loop = Loop(should_stop, monotonic() + seconds)
    with ThreadPoolExecutor(1, "webhooks", give_way) as thread:
        return thread.submit(asyncio.run, loop.run()).result()


def give_way() -> None:
    """This thread only; where the system knows no such thing, so be it."""
    with suppress(OSError, AttributeError):
        thread = threading.get_native_id()
        now = os.getpriority(os.PRIO_PROCESS, thread)
        os.setpriority(os.PRIO_PROCESS, thread, min(19, now + NICENESS))


@dataclass(eq=False)
class Loop:
    should_stop: Callable[[], bool]
    until: float
    finished: int = 0
    _flying: dict[asyncio.Task[None], Taken] = field(default_factory=dict)
    _tried: list[Tried] = field(default_factory=list)
    # Endpoints that asked for a pause.
    _held: dict[UUID, float] = field(default_factory=dict)
    _thread: ThreadPoolExecutor = field(
        default_factory=lambda: ThreadPoolExecutor(1, "webhooks-db", give_way)
    )

    _lines: Lines = field(default_factory=Lines)
    _pace: Pace = field(default_factory=Pace)
    _rung: asyncio.Event = field(default_factory=asyncio.Event)
    _soon_until: float = 0.0
    _fan_out_at: float = 0.0

    async def run(self) -> int:
        heard = self._listener(asyncio.get_running_loop())
        EAR.listen(heard)
        try:
            while monotonic() < self.until and not self.should_stop():
                await self._round()
            await self._end()
        finally:
            EAR.ignore(heard)
            self._lines.close()
            await self._work(_drop_connection)
            self._thread.shutdown()
        return self.finished

    def _listener(self, loop: asyncio.AbstractEventLoop) -> Listener:
        def heard(nudges: Sequence[Nudge] | None) -> None:
            # The loop may have ended meanwhile.
            with suppress(RuntimeError):
                loop.call_soon_threadsafe(self._rung.set)

        return heard

    async def _round(self) -> None:
        try:
            more = await self._fan_out()
            await self._write()
            busy = await self._take() or more
            if loops.is_due(NAME):
                await self._work(loops.ran, NAME)
        except Exception as error:
            # Rows are as they were: nothing is lost, only late.
            log.exception("The delivery loop goes on after an error")
            await self._work(loops.failed, NAME, error)
            await self._work(_drop_connection)
            await asyncio.sleep(REST_SECONDS)
            return
        await self._pause(busy)

    async def _fan_out(self) -> bool:
        """Many events at once, rather than some in each of many rounds."""
        if monotonic() < self._fan_out_at:
            return True
        self._fan_out_at = monotonic() + FAN_OUT_SECONDS
        return bool(await self._work(fan_out))

    async def _pause(self, busy: bool) -> None:
        """Until something is to be written or taken up, or for a while."""
        # Neighbours that end within the same moment are written together.
        await asyncio.sleep(self._pace.round_seconds(busy=busy))
        self._lines.tidy()
        if busy or self._tried:
            self._soon_until = monotonic() + conf.SOON_SECONDS
            return
        rung = asyncio.ensure_future(self._rung.wait())
        await asyncio.wait(
            {rung, *self._flying},
            timeout=self._idle_seconds(),
            return_when=asyncio.FIRST_COMPLETED,
        )
        rung.cancel()
        if self._rung.is_set():
            self._rung.clear()
            self._soon_until = monotonic() + conf.SOON_SECONDS

    def _idle_seconds(self) -> float:
        """What just happened is told once every older transaction has ended."""
        if monotonic() < self._soon_until:
            return conf.LOOK_SECONDS
        return max(conf.LOOK_SECONDS, conf.SWEEP_SECONDS)

    async def _take(self) -> bool:
        known = await self._work(destinations)
        rooms = self._rooms(known)
        taken = await self._work(take, rooms, known)
        self._pace.took(len(taken))
        for one in taken:
            task = asyncio.create_task(self._send(one))
            self._flying[task] = one
            task.add_done_callback(lambda task: self._flying.pop(task, None))
        return bool(taken)

    def _rooms(self, known: list[Destination]) -> dict[UUID, int]:
        """How many more of each endpoint: those that work first, then the idle ones."""
        flying = Counter(one.to.id for one in self._flying.values())
        left = self._pace.room(conf.TOTAL_CONCURRENCY - len(self._flying))
        failing = int(conf.TOTAL_CONCURRENCY * FAILING_SHARE) - sum(
            one.to.is_failing for one in self._flying.values()
        )
        rooms = {}
        for one in sorted(known, key=lambda one: (one.is_failing, flying[one.id])):
            most = FAILING_CONCURRENCY if one.is_failing else conf.ENDPOINT_CONCURRENCY
            room = min(most - flying[one.id], failing if one.is_failing else left, left)
            if room > 0 and self._held.get(one.id, 0.0) <= monotonic():
                rooms[one.id] = room
                left -= room
                failing -= room if one.is_failing else 0
        return rooms

    async def _send(self, one: Taken) -> None:
        at = datetime.now(UTC)
        try:
            answer = await _sent(one, at, self._lines)
        except asyncio.CancelledError:
            answer = INTERRUPTED
        except Exception:
            log.exception("Delivery %s could not be tried", one.id)
            answer = Answer(problem="internal")
        if answer.status in (429, 503) and (wait := retry_after(answer.retry_after)):
            self._held[one.to.id] = monotonic() + wait
        self._tried.append(Tried(one, at, answer))

    async def _write(self) -> None:
        tried, self._tried = self._tried, []
        if not tried:
            return
        try:
            self.finished += await self._work(finish, tried)
        except (DataError, IntegrityError):
            # One of them can't be written, an endpoint was just deleted perhaps: it
            # must not keep back the others.
            for one in tried:
                with suppress(DataError, IntegrityError):
                    self.finished += await self._work(finish, [one])
        except Exception:
            self._tried = tried + self._tried
            raise

    async def _end(self) -> None:
        """What's on its way may still come back, unless we're in a hurry."""
        while self._flying and not self.should_stop():
            await asyncio.wait(self._flying, timeout=conf.LOOK_SECONDS)
            await self._write()
        for task in list(self._flying):
            task.cancel()
        while self._flying:
            await asyncio.wait(self._flying)
        await self._write()

    async def _work(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Whatever asks the database, in the one thread with the connection."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._thread, function, *arguments)


def _drop_connection() -> None:
    """That of the thread that this runs in."""
    with suppress(Exception):
        connection.close()


async def _sent(one: Taken, at: datetime, lines: Lines) -> Answer:
    if one.body is None:
        return Answer(problem="forgotten")
    if not one.to.keys:
        return Answer(problem="no_secret")
    webhook_id, timestamp = message_id(one.event_id), int(at.timestamp())
    body, kind = one.body.encode(), "application/json"
    if one.to.format == Endpoint.Format.CLOUDEVENTS:
        body, kind = as_cloudevent(webhook_id, one.body), "application/cloudevents+json"
    headers = [
        ("Content-Type", kind),
        ("User-Agent", USER_AGENT),
        ("webhook-id", webhook_id),
        ("webhook-timestamp", str(timestamp)),
        ("webhook-signature", signatures(one.to.keys, webhook_id, timestamp, body)),
        *one.to.headers,
    ]
    return await post(one.to.url, headers, body, lines=lines)
