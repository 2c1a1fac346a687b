"""Claiming work and ending it: by a queue's name (tasks) or by its column (cards).

Both are the same leases on the same cards; only the names of the operations and of
their fields differ.
"""

import json
import math
import time
from abc import ABC, abstractmethod
from datetime import datetime
from typing import Any, NamedTuple

from novum.cli.calling import request_of
from novum.cli.catalog import Operation
from novum.cli.errors import Refused, Unreached
from novum.cli.session import Session
from novum.cli.transport import Answer, Request, Transport

# A result is worth some patience: twenty seconds.
TRIES_TO_END = 9
# Short, because a worker that's told to end hears it only afterwards. After less it was
# no wait: too many did so already.
WAIT_SECONDS, WAITED_SECONDS = 5.0, 0.5
SECONDS_FOR_A_LOOK = 5.0


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
    has_waited: bool = False


class Jobs(ABC):
    """One worker's way to the queue; not for several threads."""

    claim_name = heartbeat_name = complete_name = fail_name = give_back_name = ""

    def __init__(self, session: Session, values: dict[str, Any]) -> None:
        self._session, self._values = session, values
        self._transport = session.transport.twin()
        names = [self.claim_name, self.heartbeat_name, self.complete_name]
        names += [self.fail_name, self.give_back_name]
        self._operations = {name: session.catalog.operation(name) for name in names}
        self._claim: Request | None = None
        self._door: Transport | None = None
        self._is_lull = False

    def claim(self, *, may_wait: bool = False) -> Job | Empty:
        """With `may_wait`, after an empty answer, it waits at the server where that can
        be. Raises Refused, Unreached. After a cut the next call asks for the same claim
        again, so that none is made that nobody knows of."""
        if self._claim is None:
            self._claim = request_of(self._operations[self.claim_name], self._values)
        waits = may_wait and self._is_lull and self._finds_door()
        self._is_lull = False
        sent_at = time.monotonic()
        answer = self._waited(self._claim) if waits else self._asked(self._claim)
        value = answer.value()
        job = self.job_of(value, sent_at)
        has_waited = waits and time.monotonic() - sent_at >= WAITED_SECONDS
        if job and has_waited:
            job = self._still_held(job)
        self._claim = None
        if job is None:
            self._is_lull = True
            seconds = 0.0 if has_waited else value.get("retry_after_seconds")
            return Empty(value.get("reason", ""), seconds, has_waited)
        return job

    def _asked(self, request: Request) -> Answer:
        return self._transport.get_done(request, tries=1)

    def _finds_door(self) -> bool:
        if self._operations[self.claim_name].field("wait_seconds") is None:
            return False
        self._door = self._door or self._session.waiting_door()
        return self._door is not None

    def _waited(self, request: Request) -> Answer:
        """The same claim, by the same key: for how long it waits doesn't count."""
        assert self._door
        body = {**json.loads(request.body or b"{}"), "wait_seconds": WAIT_SECONDS}
        asked = request._replace(
            body=json.dumps(body, ensure_ascii=False).encode(),
            extra_seconds=WAIT_SECONDS,
        )
        try:
            return self._door.get_done(asked, tries=1)
        except Unreached:
            self._door = None
            self._session.forget_door()
            raise

    def _still_held(self, job: Job) -> Job | None:
        """When within the wait it was claimed can't be told: a heartbeat says until
        when."""
        try:
            until, _ = self.heartbeat(job, SECONDS_FOR_A_LOOK)
        except Refused:
            return None
        return job._replace(until=until)

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

    @abstractmethod
    def complete(self, job: Job, result: Any) -> None: ...

    @abstractmethod
    def fail(self, job: Job, error: str, *, retry: bool) -> None: ...

    def give_back(self, job: Job, note: str) -> None:
        self._send(self.give_back_name, job, {"note": note})

    @abstractmethod
    def job_of(self, value: dict[str, Any], sent_at: float) -> Job | None: ...

    def close(self) -> None:
        self._transport.close()
        if self._door:
            self._door.close()

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
