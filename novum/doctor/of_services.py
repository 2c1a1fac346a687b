"""What the services and the loops are like."""

import time
from collections.abc import Iterator
from typing import Any

import redis
from django.conf import settings
from django.db import connection
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder

from novum import health, pooling
from novum.doctor.findings import Finding, ok, problem, warning
from novum.turns import AT_ONCE

POSTGRES, REDIS = 15, 6
SKEW_SECONDS, GREAT_SKEW_SECONDS = 2.0, 30.0
# Of all connections that the database allows.
MANY = 0.8
OLD_SECONDS = 60.0
LAG_SECONDS = 60.0


def database() -> Iterator[Finding]:
    version = int(_one("SHOW server_version_num")) // 10_000
    if version < POSTGRES:
        yield problem(
            "database",
            f"PostgreSQL {version} is too old.",
            f"Take {POSTGRES} or newer: pg_upgrade.",
        )
    else:
        yield ok("database", f"PostgreSQL {version} answers.")
    size = _one("SELECT pg_database_size(current_database())")
    yield ok("database", f"It holds {size / 1e9:.2f} GB.")


def sessions() -> Iterator[Finding]:
    different = [one.name for one in pooling.differences()]
    if different:
        yield warning(
            "sessions",
            f"Sessions begin without {', '.join(different)} as asked: a pooler such as"
            " PgBouncer drops it.",
            "Set them for the role (ALTER ROLE … SET, docs/scaling.md, PgBouncer).",
        )
    else:
        yield ok("sessions", "They begin as asked.")
    oldest = _one(
        "SELECT COALESCE(max(extract(epoch FROM clock_timestamp() - xact_start)), 0)"
        " FROM pg_stat_activity WHERE datname = current_database()"
        " AND backend_type = 'client backend' AND pid <> pg_backend_pid()"
    )
    if float(oldest) > OLD_SECONDS:
        yield warning(
            "sessions",
            f"One has had a transaction open for {float(oldest):.0f} s: events wait"
            " behind it, and claims get slower.",
            "Look for it in pg_stat_activity (xact_start), and end it.",
        )


def connections() -> Iterator[Finding]:
    most = int(_one("SELECT current_setting('max_connections')"))
    used = _one(
        "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'"
    )
    size = settings.DATABASES["default"]["OPTIONS"].get("pool", {}).get("max_size", 0)
    told = (
        f"{used} of {most} connections are open; a process may open {size or 'any'},"
        f" a web process {AT_ONCE} more."
    )
    if used > most * MANY:
        yield problem(
            "connections",
            told,
            "Raise max_connections, or lower NOVUM_DB_POOL or the number of processes.",
        )
    else:
        yield ok("connections", told)


def migrations() -> Iterator[Finding]:
    missing = health.missing_migrations()
    if missing:
        yield problem(
            "migrations",
            f"{len(missing)} are missing.",
            "Run `python manage.py migrate`.",
        )
    unknown = _unknown_migrations()
    if unknown:
        yield warning(
            "migrations",
            f"The database has {len(unknown)} that this code doesn't know"
            f" ({', '.join(sorted(unknown)[:3])}).",
            "A newer Novum has been here: run that one.",
        )
    if not missing and not unknown:
        yield ok("migrations", "All are done, and no others.")


def redis_server() -> Iterator[Finding]:
    if not settings.REDIS_URL:
        yield problem(
            "redis",
            "None is named: no loop runs and pages aren't live.",
            "Set REDIS_URL.",
        )
        return
    with _redis() as client:
        version = str(client.info("server")["redis_version"])
    if int(version.split(".")[0]) < REDIS:
        yield problem(
            "redis", f"Redis {version} is too old.", f"Take {REDIS} or newer."
        )
    else:
        yield ok("redis", f"It answers (as Redis {version}).")


def clocks() -> Iterator[Finding]:
    """The database's counts; the others are for people and for limits."""
    begun = time.time()
    theirs = float(_one("SELECT extract(epoch FROM clock_timestamp())"))
    yield _clock("database", theirs - (begun + time.time()) / 2)
    if settings.REDIS_URL:
        with _redis() as client:
            begun = time.time()
            seconds, micros = client.time()
            yield _clock("Redis", seconds + micros / 1e6 - (begun + time.time()) / 2)


def loops() -> Iterator[Finding]:
    for name, told in health.loops().items():
        if told == health.OK:
            yield ok("loops", f"{name} runs.")
        else:
            yield problem(
                "loops",
                f"{name}: {told}.",
                "See whether worker and beat run, and what their logs say.",
            )


def _clock(whose: str, ahead: float) -> Finding:
    told = f"The {whose}'s clock is {ahead:+.1f} s from this process's."
    advice = "Let all machines follow the same time (NTP)."
    if abs(ahead) > GREAT_SKEW_SECONDS:
        return problem("clocks", told, advice)
    if abs(ahead) > SKEW_SECONDS:
        return warning("clocks", told, advice)
    return ok("clocks", told)


def _unknown_migrations() -> set[str]:
    loader = MigrationLoader(connection)
    known = set(loader.disk_migrations) | {
        old for one in loader.disk_migrations.values() for old in one.replaces
    }
    ours = {app for app, _ in known}
    done = MigrationRecorder(connection).applied_migrations()
    return {f"{app}.{name}" for app, name in set(done) - known if app in ours}


def _redis() -> redis.Redis:
    return redis.Redis.from_url(
        settings.REDIS_URL,
        socket_timeout=health.REDIS_SECONDS,
        socket_connect_timeout=health.REDIS_SECONDS,
    )


def _one(statement: str, *values: str) -> Any:
    with connection.cursor() as cursor:
        cursor.execute(statement, values or None)
        return cursor.fetchone()[0]
