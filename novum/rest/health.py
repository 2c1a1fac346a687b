"""Is it alive, can it work."""

import redis
from django.conf import settings
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.http import HttpRequest, JsonResponse

CHECK_SECONDS = 1.0


def healthz(request: HttpRequest) -> JsonResponse:
    """The process answers. Looks at nothing else."""
    return JsonResponse({"status": "ok"})


def readyz(request: HttpRequest) -> JsonResponse:
    """200 when claims can be served: the database answers and is migrated. Redis is
    told but not needed: without it pages are no longer live, and nothing else."""
    checks = {"database": _database(), "redis": _redis()}
    ready = checks["database"] == "ok"
    body = {"status": "ready" if ready else "not ready", "checks": checks}
    return JsonResponse(body, status=200 if ready else 503)


def _database() -> str:
    try:
        executor = MigrationExecutor(connection)
        missing = executor.migration_plan(executor.loader.graph.leaf_nodes())
        return f"{len(missing)} migrations missing" if missing else "ok"
    except Exception as error:
        # Whatever it is, the answer to "are you ready" is the sentence.
        return f"unreachable: {type(error).__name__}"


def _redis() -> str:
    if not settings.REDIS_URL:
        return "not configured"
    client = redis.Redis.from_url(
        settings.REDIS_URL,
        socket_timeout=CHECK_SECONDS,
        socket_connect_timeout=CHECK_SECONDS,
    )
    try:
        client.ping()
        return "ok"
    except redis.RedisError as error:
        return f"unreachable: {type(error).__name__}"
    finally:
        client.close()
