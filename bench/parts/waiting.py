"""A thousand claims that wait on one live process: what they take while nothing happens,
and how soon a card that appears is with one of them."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import monotonic

from django.db import connection

from bench.load import LoadError
from bench.processes import resident_bytes, seconds_of
from bench.report import Figure, quantile
from bench.seeding import World, a_queue
from bench.sizes import Sizes
from bench.stage import Stage
from bench.talks import Queue
from boards.verbs.cards import NewCard, create_card
from leases.verbs.claim import claim
from novum.running import processes
from novum.running.children import Child, Family

# Longer than all of it takes, so that nobody has to come again meanwhile.
WAIT_SECONDS = 50
SETTLE_SECONDS = 2.0
CARDS, PAUSE_SECONDS = 60, 0.17
# So many connect at once: no more are let in waiting.
AT_ONCE = 50
BYTES_PER_MB = 1024 * 1024


def measure(stage: Stage, world: World, sizes: Sizes) -> list[Figure]:
    queue = a_queue(world, 1, concurrency_limit=None, leaves=True)
    # The one it was filled with, so that it's empty.
    claim(world.agent, board_id=queue.board_id, column_id=queue.column_id)
    with _running_live(stage) as live:
        return asyncio.run(_measured(stage, live, world, queue, sizes))


async def _measured(
    stage: Stage, live: Child, world: World, queue: Queue, sizes: Sizes
) -> list[Figure]:
    assert live.process
    number = sizes.waiters
    pid = live.process.pid
    address = stage.settings.local_host, stage.settings.live_port
    crowd = _Crowd(address, queue)
    # Everything is loaded before it's weighed.
    await crowd.one(0.1)
    before = resident_bytes(pid)
    async with asyncio.TaskGroup() as group:
        calls = [group.create_task(crowd.one(WAIT_SECONDS)) for _ in range(number)]
        while crowd.sent < number + 1:
            await asyncio.sleep(0.05)
        await asyncio.sleep(SETTLE_SECONDS)
        megabytes = (resident_bytes(pid) - before) / BYTES_PER_MB
        used, began = seconds_of(pid), monotonic()
        await asyncio.sleep(sizes.idle_seconds)
        share = (seconds_of(pid) - used) / (monotonic() - began) * 100
        if crowd.got or any(call.done() for call in calls):
            raise LoadError("Some didn't wait.")
        delays = await _appear(world, queue, crowd)
        for call in calls:
            call.cancel()
    note = f"p50 {quantile(delays, 0.5):.0f}, slowest {max(delays):.0f} ms"
    return [
        _at_most(f"MB more for {number:,} who wait", megabytes, 100),
        _at_most("% of a core while nothing happens", share, 5),
        _at_most("ms from a card to its claim, p95", quantile(delays, 0.95), 150, note),
    ]


async def _appear(world: World, queue: Queue, crowd: "_Crowd") -> list[float]:
    """Milliseconds from when a card was there to the answer that brought it."""
    made: dict[str, float] = {}
    for number in range(min(CARDS, crowd.sent // 2)):
        title = f"Appears {number}"
        made[title] = await asyncio.to_thread(_add, world, queue, title)
        await asyncio.sleep(PAUSE_SECONDS)
    deadline = monotonic() + 10
    while len(crowd.got) < len(made) and monotonic() < deadline:
        await asyncio.sleep(0.05)
    never = float("inf")
    return [(crowd.got.get(one, never) - at) * 1000 for one, at in made.items()]


def _add(world: World, queue: Queue, title: str) -> float:
    try:
        create_card(
            world.owner,
            board_id=queue.board_id,
            column_id=queue.column_id,
            card=NewCard(title=title, payload={"url": "https://example.com"}),
        )
        return monotonic()
    finally:
        connection.close()


@dataclass(eq=False)
class _Crowd:
    """All who wait; `got` is when each card's title came, `sent` how many calls went
    out."""

    address: tuple[str, int]
    queue: Queue
    sent: int = 0
    got: dict[str, float] = field(default_factory=dict)
    doors: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(AT_ONCE))

    async def one(self, seconds: float) -> None:
        async with self.doors:
            reader, writer = await asyncio.open_connection(*self.address)
            writer.write(self._request(seconds))
            await writer.drain()
            self.sent += 1
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
            length = int(head.partition("content-length:")[2].split()[0])
            body = await reader.readexactly(length)
            if " 200 " not in head.partition("\r\n")[0]:
                raise LoadError(f"A wait ended with {head} {body.decode()}")
            _, found, rest = body.decode().partition('"title":"')
            if found:
                self.got[rest.partition('"')[0]] = monotonic()
        finally:
            writer.close()

    def _request(self, seconds: float) -> bytes:
        queue, body = self.queue, f'{{"wait_seconds":{seconds}}}'
        path = f"/v1/boards/{queue.board_id}/columns/{queue.column_id}:claim-next"
        return (
            f"POST {path} HTTP/1.1\r\nHost: {self.address[0]}\r\n"
            f"Authorization: Bearer {queue.token}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
            f"{body}"
        ).encode()


@contextmanager
def _running_live(stage: Stage) -> Iterator[Child]:
    family, live = Family(), processes.live(stage.settings)
    try:
        family.start(live)
        family.wait_until_ready(live)
        yield live
    finally:
        family.stop(live)
        family.close()


def _at_most(name: str, value: float, goal: float, note: str = "") -> Figure:
    return Figure("waiting", name, value, goal, at_most=True, note=note)
