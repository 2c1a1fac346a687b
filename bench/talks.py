"""What is said to the product: claim and complete, one by one or several in a call."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from time import perf_counter
from typing import ClassVar
from uuid import UUID

from bench.load import LoadError, Talk

OUTPUT = b'{"ok":true,"words":120}'
_LEASE = re.compile(rb'"lease":\{"id":"([^"]+)"')
_RECEIPT = re.compile(rb'"lease_token":"([^"]+)"')


@dataclass(frozen=True)
class Queue:
    """A column as the load sees it."""

    board_id: UUID
    column_id: UUID
    token: str

    def claim(self, count: int | None = None) -> bytes:
        path = f"/v1/boards/{self.board_id}/columns/{self.column_id}:claim-next"
        body = b"{}" if count is None else b'{"count":%d}' % count
        return _post(path.encode(), self.token, body)

    def complete(self, lease: bytes, receipt: bytes) -> bytes:
        body = b'{"lease_token":"%b","output":%b}' % (receipt, OUTPUT)
        return _post(b"/v1/leases/%b:complete" % lease, self.token, body)

    def complete_all(self, leases: list[bytes], receipts: list[bytes]) -> bytes:
        results = [
            b'{"lease_id":"%b","lease_token":"%b","output":%b}' % (*pair, OUTPUT)
            for pair in zip(leases, receipts, strict=True)
        ]
        body = b'{"leases":[%b]}' % b",".join(results)
        return _post(b"/v1/leases:complete", self.token, body)


@dataclass(frozen=True)
class NamedQueue(Queue):
    """The same column, addressed as a task's queue."""

    name: ClassVar[str] = "by-name"

    def claim(self, count: int | None = None) -> bytes:
        return _post(b"/v1/tasks:claim", self.token, b'{"queue":"by-name"}')


@dataclass
class Tally:
    """What came of it: completed cards, empty claims, the seconds each claim took."""

    cards: int = 0
    empty: int = 0
    claim_seconds: list[float] = field(default_factory=list)


def one_by_one(queue: Queue, tally: Tally, goes_on: Callable[[], bool]) -> Talk:
    """Cycles of a claim and a complete while `goes_on`; nothing stays held."""
    claim = queue.claim()
    while goes_on():
        asked = perf_counter()
        body = _good((yield claim))
        tally.claim_seconds.append(perf_counter() - asked)
        lease, receipt = _LEASE.search(body), _RECEIPT.search(body)
        if lease is None or receipt is None:
            tally.empty += 1
            continue
        _good((yield queue.complete(lease[1], receipt[1])))
        tally.cards += 1


def many_at_once(
    queue: Queue, tally: Tally, goes_on: Callable[[], bool], count: int
) -> Talk:
    """The same with `count` cards in each call."""
    claim = queue.claim(count)
    while goes_on():
        asked = perf_counter()
        body = _good((yield claim))
        tally.claim_seconds.append(perf_counter() - asked)
        leases, receipts = _LEASE.findall(body), _RECEIPT.findall(body)
        if not leases:
            tally.empty += 1
            continue
        body = _good((yield queue.complete_all(leases, receipts)))
        if body.count(b'"state":"completed"') != len(leases):
            raise LoadError(f"Not all were completed: {body[:300]!r}")
        tally.cards += len(leases)


def _post(path: bytes, token: str, body: bytes) -> bytes:
    return (
        b"POST %b HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer %b\r\n"
        b"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n%b"
    ) % (path, token.encode(), len(body), body)


def _good(answer: tuple[int, bytes]) -> bytes:
    status, body = answer
    if status != 200:
        raise LoadError(f"The server answered {status}: {body[:300]!r}")
    return body
