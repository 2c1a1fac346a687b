"""Rate limits that count exactly over all processes, and cost next to nothing.

A process takes its requests from Redis in small grants: one atomic increment for each
grant, none for most requests. So the sum of all grants never exceeds the limit, and a
busy fleet asks Redis a few times a second at most. Redis gone: each process counts for
itself for a while, and nobody waits (a verb never depends on Redis).

Refusals follow draft-ietf-httpapi-ratelimit-headers: 429, `Retry-After`, `RateLimit` and
`RateLimit-Policy`, and the problem type `quota-exceeded` with its `violated-policies`
(novum.problems). What succeeds tells nothing: a process knows only what is left of its
own grant, and to ask Redis for the whole would cost each claim a round trip.
"""

import logging
import threading
from contextvars import ContextVar
from dataclasses import dataclass
from time import monotonic, time

import redis
from django.conf import settings
from django.http import HttpRequest

from accounts.callers import Caller
from accounts.errors import Policy, TooManyRequests

WINDOW_SECONDS = 60
# A grant is this part of the limit: the price is that up to one grant per process
# stays unused at the end of a window.
GRANTS_PER_WINDOW = 100
REDIS_TIMEOUT_SECONDS = 0.05
REDIS_REST_SECONDS = 5.0
MAX_TRACKED = 20_000

log = logging.getLogger(__name__)


@dataclass
class _Grant:
    window: int
    left: int = 0
    used_up: bool = False
    counted_here: int = 0


_grants: dict[str, _Grant] = {}
_lock = threading.Lock()
_redis: redis.Redis | None = None
_redis_rests_until = 0.0


# A call that waits is tried several times and counts once.
is_counted: ContextVar[bool] = ContextVar("is_counted", default=False)


def check(caller: Caller, bucket: str) -> None:
    """Count one request. Raises TooManyRequests."""
    if is_counted.get():
        return
    count(str(caller.credential_id), bucket, settings.RATE_LIMITS[bucket])


def guessed(request: HttpRequest) -> None:
    """Count a wrong token against the address it came from. Raises TooManyRequests."""
    count(address_of(request), "guess", settings.RATE_LIMITS["guess"])


def address_of(request: HttpRequest) -> str:
    """The peer, or what the trusted proxies in front say of it: nobody else's
    X-Forwarded-For counts."""
    peer: str = request.META.get("REMOTE_ADDR", "")
    trusted = settings.TRUSTED_PROXIES
    if not trusted:
        return peer
    hops = [
        hop.strip() for hop in request.META.get("HTTP_X_FORWARDED_FOR", "").split(",")
    ]
    return hops[-trusted] if len(hops) >= trusted else peer


def count(who: str, bucket: str, limit: int) -> None:
    """Count one of at most `limit` a minute of theirs in this bucket (0 = no limit), over
    all processes. Raises TooManyRequests, with a policy by the bucket's name."""
    if not limit:
        return
    key = f"{who}:{bucket}"
    window = int(time()) // WINDOW_SECONDS
    with _lock:
        grant = _grants.get(key)
        if grant is None or grant.window != window:
            if len(_grants) >= MAX_TRACKED:
                _grants.clear()
            grant = _grants[key] = _Grant(window)
        if grant.left:
            grant.left -= 1
            return
        if not grant.used_up:
            grant.left = _ask(key, grant, limit)
        if not grant.left:
            grant.used_up = True
            raise _refusal(bucket, limit, window)
        grant.left -= 1


def _refusal(bucket: str, limit: int, window: int) -> TooManyRequests:
    seconds = max(1, (window + 1) * WINDOW_SECONDS - int(time()))
    policy = Policy(bucket, limit, WINDOW_SECONDS)
    return TooManyRequests(policy, retry_after_seconds=seconds)


def _ask(key: str, grant: _Grant, limit: int) -> int:
    """More requests to hand out in this window; 0 = none are left."""
    size = max(1, limit // GRANTS_PER_WINDOW)
    total = _incremented(f"novum:limit:{key}:{grant.window}", size)
    if total is None:
        grant.counted_here += size
        total = grant.counted_here
    return max(0, min(size, limit - (total - size)))


def _incremented(key: str, by: int) -> int | None:
    """Atomically; None when Redis doesn't answer at once."""
    global _redis, _redis_rests_until
    if not settings.REDIS_URL or monotonic() < _redis_rests_until:
        return None
    try:
        if _redis is None:
            _redis = redis.Redis.from_url(
                settings.REDIS_URL,
                socket_timeout=REDIS_TIMEOUT_SECONDS,
                socket_connect_timeout=REDIS_TIMEOUT_SECONDS,
            )
        pipeline = _redis.pipeline()
        pipeline.incrby(key, by)
        pipeline.expire(key, 2 * WINDOW_SECONDS)
        return int(pipeline.execute()[0])
    except redis.RedisError as error:
        _redis_rests_until = monotonic() + REDIS_REST_SECONDS
        log.warning("Redis doesn't answer, rate limits count per process: %s", error)
        return None
