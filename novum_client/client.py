"""The calls of a worker, one attempt each. For several threads at once."""

import asyncio
import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from novum_client.shapes import (
    Empty,
    Failure,
    Lease,
    Renewed,
    claimed_of,
    renewed_of,
)
from novum_client.wire import Wire

DEFAULT_URL = "http://127.0.0.1:8000"
TIMEOUT_SECONDS = 30.0
# How many leases one heartbeat takes (novum's `renew_leases`).
MOST_LEASES_PER_CALL = 50


@dataclass(frozen=True)
class Place:
    """Where to claim: a queue by its name (or several, the first one first), or a
    column by its board."""

    queue: str | Sequence[str] = ""
    board_id: str = ""
    column_id: str = ""

    def __post_init__(self) -> None:
        if bool(self.queue) == bool(self.board_id and self.column_id):
            raise ValueError("Give a queue, or a board_id and a column_id.")

    def claim(self, lease_seconds: int | None) -> tuple[str, dict[str, Any]]:
        """Path and body."""
        body: dict[str, Any] = {}
        if self.queue:
            body["queue"] = self.queue if isinstance(self.queue, str) else [*self.queue]
            path, name = "/tasks:claim", "lease_seconds"
        else:
            path = f"/boards/{self.board_id}/columns/{self.column_id}:claim-next"
            name = "lease_ttl_seconds"
        if lease_seconds is not None:
            body[name] = lease_seconds
        return path, body


class Client:
    """Without arguments the server is NOVUM_URL's, the token NOVUM_TOKEN's. Every call
    raises Refused and Unreached, and waits for an answer for at most `timeout` seconds
    where it isn't told otherwise."""

    def __init__(
        self,
        url: str | None = None,
        token: str | None = None,
        *,
        timeout: float = TIMEOUT_SECONDS,
    ) -> None:
        address = url or os.environ.get("NOVUM_URL") or DEFAULT_URL
        secret = (token or os.environ.get("NOVUM_TOKEN") or "").strip()
        if not secret:
            raise ValueError("No worker token: give one, or set NOVUM_TOKEN.")
        self.timeout, self._secret = timeout, secret
        self._wire = Wire(address, secret)

    def elsewhere(self, url: str) -> "Client":
        """The same server and token by another address. Raises ValueError."""
        return Client(url, self._secret, timeout=self.timeout)

    def call(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        key: str | None = None,
        timeout: float | None = None,
    ) -> Any:
        """Any operation, as the server's /v1/docs describe it; `path` goes on from /v1.
        `key` is an Idempotency-Key, with which the call may be sent again."""
        headers: Mapping[str, str] = {"Idempotency-Key": key} if key else {}
        seconds = self.timeout if timeout is None else timeout
        return self._wire.ask(method, path, body, headers=headers, timeout=seconds)

    async def call_async(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        key: str | None = None,
        timeout: float | None = None,
    ) -> Any:
        """The same without keeping an event loop from its other tasks."""
        return await asyncio.to_thread(
            self.call, method, path, body, key=key, timeout=timeout
        )

    def claim(
        self,
        place: Place,
        *,
        key: str,
        lease_seconds: int | None = None,
        wait_seconds: float = 0.0,
    ) -> Lease | Empty:
        """After Unreached the same key asks for the same claim again, whatever its
        `wait_seconds`: for so long the server waits for something to come."""
        path, body = place.claim(lease_seconds)
        if wait_seconds:
            body["wait_seconds"] = wait_seconds
        sent_at = time.monotonic()
        timeout = self.timeout + wait_seconds
        value = self.call("POST", path, body, key=key, timeout=timeout)
        return claimed_of(value, sent_at)

    def renew(
        self, leases: Mapping[str, tuple[str, str | None]], *, timeout: float
    ) -> dict[str, Renewed | str]:
        """By the ids of leases, their receipt and a line of progress. For each what it
        has become: renewed, or lost and why."""
        receipts = [
            {"lease_id": lease_id, "lease_token": token}
            | ({} if doing is None else {"doing": doing})
            for lease_id, (token, doing) in leases.items()
        ]
        sent_at = time.monotonic()
        value = self.call(
            "POST", "/leases:renew", {"leases": receipts}, timeout=timeout
        )
        return {
            one["lease_id"]: renewed_of(one["renewed"], sent_at)
            if one.get("renewed")
            else str((one.get("error") or {}).get("detail") or "The lease is lost.")
            for one in value["results"]
        }

    def complete(self, lease: Lease, output: Any, *, timeout: float) -> None:
        """Repeated it changes nothing; so do the next two."""
        self._end(lease, "complete", {"output": output}, timeout)

    def fail(self, lease: Lease, failure: Failure, *, timeout: float) -> None:
        self._end(lease, "fail", failure.body(), timeout)

    def release(self, lease: Lease, note: str, *, timeout: float) -> None:
        self._end(lease, "release", {"note": note}, timeout)

    def close(self) -> None:
        """Lets its idle connections go."""
        self._wire.close()

    def interrupt(self) -> None:
        """Its calls under way end with Unreached, and so do all others from now on.
        From any thread."""
        self._wire.interrupt()

    def _end(
        self, lease: Lease, verb: str, body: dict[str, Any], timeout: float
    ) -> None:
        path = f"/leases/{lease.id}:{verb}"
        self.call("POST", path, {"lease_token": lease.token, **body}, timeout=timeout)
