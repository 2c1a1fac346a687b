"""Whether what this deployment consists of is there: database, Redis, loops."""

from collections.abc import Callable
from typing import Any

import redis
from django.conf import settings
from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor

from novum.timetable import timetable
from supervision.loops import Ran, last_runs

OK = "ok"
REDIS_SECONDS = 1.0
# A loop is late when so many of its turns have gone by, and a while: one pass may have
# much to do.
LATE_TURNS = 3
LATE_SECONDS = 30.0


def for_calls() -> dict[str, str]:
    """What claims and all other calls need: each `ok`, or a sentence."""
    return {"database": _said(_database)}


def of_all() -> dict[str, str]:
    """The same, with what the rest needs: live pages, and the loops by their names."""
    found = {**for_calls(), "redis": _said(_redis)}
    if found["database"] != OK:
        return found
    try:
        return found | loops()
    except DatabaseError as error:
        return {**found, "database": _unreachable(error)}


def loops() -> dict[str, str]:
    """Of each loop of the timetable. Raises DatabaseError."""
    found = last_runs()
    return {
        name: _loop(found.get(name), float(entry["schedule"]))
        for name, entry in timetable().items()
    }


def late_after(every_seconds: float) -> float:
    return LATE_TURNS * every_seconds + LATE_SECONDS


def _loop(ran: Ran | None, every_seconds: float) -> str:
    if ran is None:
        return "it never ran"
    if ran.seconds_ago is None:
        is_late = ran.known_seconds > late_after(every_seconds)
        return "it never ran" if is_late else OK
    if ran.seconds_ago > late_after(every_seconds):
        problem = f", then failed with {ran.problem}" if ran.problem else ""
        return f"it last ran {ran.seconds_ago:.0f} s ago{problem}"
    return OK


def _said(check: Callable[[], str]) -> str:
    try:
        return check()
    except Exception as error:
        return _unreachable(error)


def _unreachable(error: Exception) -> str:
    """Whatever it is, the answer is a sentence, and gives nothing away."""
    return f"unreachable: {type(error).__name__}"


def missing_migrations() -> list[Any]:
    executor = MigrationExecutor(connection)
    return executor.migration_plan(executor.loader.graph.leaf_nodes())


def _database() -> str:
    missing = missing_migrations()
    return f"{len(missing)} migrations missing" if missing else OK


def _redis() -> str:
    if not settings.REDIS_URL:
        return "not configured"
    client = redis.Redis.from_url(
        settings.REDIS_URL,
        socket_timeout=REDIS_SECONDS,
        socket_connect_timeout=REDIS_SECONDS,
    )
    try:
        client.ping()
        return OK
    finally:
        client.close()
