"""What a claim and a heartbeat answer, read once."""

import math
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

# The server puts nothing off for longer; our clock may differ a little from its own.
MOST_WAIT, A_MINUTE = timedelta(days=7), timedelta(minutes=1)


@dataclass(frozen=True)
class Lease:
    """The right to work on one card for a while. `until` is on the clock of
    `time.monotonic`, `seconds` how long a heartbeat extends it by; both are infinite
    where it never lapses. `card` is the card (or task) as the server tells it.
    `is_replayed` when it was made by an earlier call with the same key."""

    id: str
    token: str
    card: dict[str, Any]
    attempt: int
    until: float
    seconds: float
    is_replayed: bool = False


@dataclass(frozen=True)
class Empty:
    """Nothing to claim now, and why: drained, waiting, at_capacity or paused."""

    reason: str
    retry_after_seconds: float | None


@dataclass(frozen=True)
class Comment:
    """A remark on the card that came while it was worked on."""

    author: str
    text: str
    at: datetime


@dataclass(frozen=True)
class Renewed:
    """`cancel` is who has called the card off, and why; None while nobody has."""

    until: float
    cancel: str | None
    comments: list[Comment]


def until_of(expires_at: str | None, server_time: str, sent_at: float) -> float:
    """The end of a lease on our own clock, which need not agree with the server's. It
    counts from when the call was sent: rather too early than too late."""
    if expires_at is None:
        return math.inf
    ends, now = map(datetime.fromisoformat, (expires_at, server_time))
    return sent_at + (ends - now).total_seconds()


def claimed_of(value: dict[str, Any], sent_at: float) -> Lease | Empty:
    """Of a claim's answer, by queue (a task) or by column (a card). A repeated claim
    whose lease is over by now counts as an empty one."""
    card = value.get("task") or value.get("card")
    lease = (value.get("lease") or card.get("lease")) if card else None
    token = value.get("lease_token")
    if not card or not lease or not token or lease.get("ended_at"):
        return Empty(value.get("reason") or "", value.get("retry_after_seconds"))
    until = until_of(lease["expires_at"], value["server_time"], sent_at)
    return Lease(
        id=lease["id"],
        token=token,
        card=card,
        attempt=lease.get("attempt") or card["attempts"],
        until=until,
        seconds=lease.get("seconds") or until - sent_at,
        is_replayed=bool(value.get("replayed")),
    )


def renewed_of(value: dict[str, Any], sent_at: float) -> Renewed:
    cancel = None
    if value.get("cancel_requested"):
        told = value.get("cancel") or {}
        by, reason = told.get("by") or "somebody", told.get("reason") or ""
        cancel = f"Called off by {by}{': ' if reason else '.'}{reason}"
    return Renewed(
        until=until_of(value["expires_at"], value["server_time"], sent_at),
        cancel=cancel,
        comments=[
            Comment(one["author"], one["text"], datetime.fromisoformat(one["at"]))
            for one in value.get("comments") or []
        ],
    )


@dataclass(frozen=True)
class Failure:
    """How an attempt ended without a result. `kind` is retry, wait_until or fatal."""

    reason: str
    kind: str = "retry"
    after_seconds: float | None = None
    until: datetime | None = None

    def body(self) -> dict[str, Any]:
        body: dict[str, Any] = {"reason": self.reason, "kind": self.kind}
        if self.after_seconds is not None:
            seconds = min(max(self.after_seconds, 0.0), MOST_WAIT.total_seconds())
            body["retry_after_seconds"] = seconds
        if self.until is not None:
            latest = datetime.now(UTC) + MOST_WAIT - A_MINUTE
            body["until"] = min(self.until, latest).isoformat()
        return body
