"""Claiming work and ending it: by a queue's name (tasks) or by its column (cards).

Both are the same leases on the same cards; only the names of the operations and of
their fields differ.
"""

import math
import time
from datetime import datetime
from typing import Any, NamedTuple

from novum.cli.calling import request_of
from novum.cli.catalog import Operation
from novum.cli.session import Session
from novum.cli.transport import Answer, Request

# A result is worth some patience: twenty seconds.
TRIES_TO_END = 9


class Job(NamedTuple):
    """What was claimed. `proof` names it and its lease in further calls; `until` is on
    the clock of `time.monotonic`, `seconds` how long the lease is (both infinite where
    it never lapses)."""

    id: str
    key: str
    title: str
    attempt: int
    proof: dict[str, Any]
    content: dict[str, Any]
    until: float
    seconds: float


class Empty(NamedTuple):
    """Nothing to claim now."""

    reason: str
    retry_after_seconds: float | None


class Jobs:
    """One worker's way to the queue; not for several threads."""

    claim_name = heartbeat_name = complete_name = fail_name = give_back_name = ""

    def __init__(self, session: Session, values: dict[str, Any]) -> None:
        self._session, self._values = session, values
        self._transport = session.transport.twin()
        names = [self.claim_name, self.heartbeat_name, self.complete_name]
        names += [self.fail_name, self.give_back_name]
        self._operations = {name: session.catalog.operation(name) for name in names}
        self._claim: Request | None = None

    def claim(self) -> Job | Empty:
        """Raises Refused, Unreached. After a cut the next call asks for the same claim
        again, so that none is made that nobody knows of."""
        if self._claim is None:
            self._claim = request_of(self._operations[self.claim_name], self._values)
        sent_at = time.monotonic()
        answer = self._transport.get_done(self._claim, tries=1)
        self._claim = None
        value = answer.value()
        job = self.job_of(value, sent_at)
        if job is None:
            return Empty(value.get("reason", ""), value.get("retry_after_seconds"))
        return job

    def heartbeat(self, job: Job, seconds: float) -> tuple[float, bool]:
        """Until when it's held, and whether somebody asks to stop. Waits for at most so
        many seconds. Raises Refused, Unreached."""
        self._transport.timeout = seconds
        sent_at = time.monotonic()
        try:
            value = self._send(self.heartbeat_name, job, {}, tries=1).value()
        finally:
            self._transport.timeout = self._session.transport.timeout
        return until(value, sent_at), bool(value.get("cancel_requested"))

    def complete(self, job: Job, result: Any) -> None:
        raise NotImplementedError

    def fail(self, job: Job, error: str, *, retry: bool) -> None:
        raise NotImplementedError

    def give_back(self, job: Job, note: str) -> None:
        self._send(self.give_back_name, job, {"note": note})

    def job_of(self, value: dict[str, Any], sent_at: float) -> Job | None:
        raise NotImplementedError

    def close(self) -> None:
        self._transport.close()

    def _send(
        self, name: str, job: Job, values: dict[str, Any], tries: int = TRIES_TO_END
    ) -> Answer:
        operation = self._operations[name]
        given = {**_known(operation, job.proof), **values}
        request = request_of(operation, given)._replace(may_repeat=True)
        return self._transport.get_done(request, tries)


class Tasks(Jobs):
    """By name."""

    claim_name, heartbeat_name = "tasks.claim", "tasks.heartbeat"
    complete_name, fail_name = "tasks.complete", "tasks.fail"
    give_back_name = "tasks.give_back"

    def complete(self, job: Job, result: Any) -> None:
        self._send(self.complete_name, job, {"result": result})

    def fail(self, job: Job, error: str, *, retry: bool) -> None:
        self._send(self.fail_name, job, {"error": error, "retry": retry})

    def job_of(self, value: dict[str, Any], sent_at: float) -> Job | None:
        task = value["task"]
        if task is None:
            return None
        lease = {**task["lease"], "server_time": value["server_time"]}
        ends = until(lease, sent_at)
        proof = {"id": task["id"], "lease_token": value["lease_token"]}
        attempt = task["attempts"]
        return Job(
            task["id"],
            task["key"],
            task["title"],
            attempt,
            proof,
            task,
            ends,
            ends - sent_at,
        )


class Cards(Jobs):
    """By board and column."""

    claim_name, heartbeat_name = "claim_next_card", "renew_lease"
    complete_name, fail_name = "complete_lease", "fail_lease"
    give_back_name = "release_lease"

    def complete(self, job: Job, result: Any) -> None:
        self._send(self.complete_name, job, {"output": result})

    def fail(self, job: Job, error: str, *, retry: bool) -> None:
        self._send(self.fail_name, job, {"reason": error, "requeue": retry})

    def job_of(self, value: dict[str, Any], sent_at: float) -> Job | None:
        card, lease = value.get("card"), value.get("lease")
        if card is None or lease is None:
            return None
        ends = until({**lease, "server_time": value["server_time"]}, sent_at)
        proof = {"lease_id": lease["id"], "lease_token": value["lease_token"]}
        return Job(
            card["id"],
            card["key"],
            card["title"],
            lease["attempt"],
            proof,
            card,
            ends,
            ends - sent_at,
        )


def _known(operation: Operation, proof: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in proof.items() if operation.field(name)}


def until(lease: dict[str, Any], sent_at: float) -> float:
    """The end of a lease on our own clock, which need not agree with the server's. From
    when the call was sent: rather too early than too late."""
    if lease["expires_at"] is None:
        return math.inf
    ends, now = map(datetime.fromisoformat, (lease["expires_at"], lease["server_time"]))
    return sent_at + (ends - now).total_seconds()
