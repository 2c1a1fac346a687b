"""Settings of this app, from the environment. They lie here and not in the project's
settings, so that they go with the folder."""

import environ

_env = environ.Env()

# Own receivers of a self-hoster: names or addresses, exactly as in the URL, which may
# be private and may be called by http and at any port.
ALLOWED_HOSTS: frozenset[str] = frozenset(
    host.strip().lower().strip("[]")
    for host in _env.list("NOVUM_WEBHOOK_ALLOWED_HOSTS", default=[])
)
ALLOW_HTTP: bool = _env.bool("NOVUM_WEBHOOK_ALLOW_HTTP", False)
PORTS: frozenset[int] = frozenset(
    int(port) for port in _env.list("NOVUM_WEBHOOK_PORTS", default=["80", "443"])
)
# Keys of the secrets at rest, the first one seals, all open (default: SECRET_KEY and
# its fallbacks).
KEYS: list[str] = _env.list("NOVUM_WEBHOOK_KEYS", default=[])

# Seconds from one try to the next; the first is at once (Standard Webhooks' example).
SCHEDULE: list[float] = [
    float(seconds)
    for seconds in _env.list(
        "NOVUM_WEBHOOK_SCHEDULE",
        default=[
            *("0", "5", "300", "1800", "7200"),
            *("18000", "36000", "50400", "72000", "86400"),
        ],
    )
]
JITTER = 0.1
# What a receiver may ask for by Retry-After.
MAX_RETRY_AFTER_SECONDS = 86_400.0
CONNECT_SECONDS: float = _env.float("NOVUM_WEBHOOK_CONNECT_SECONDS", 5.0)
TOTAL_SECONDS: float = _env.float("NOVUM_WEBHOOK_TOTAL_SECONDS", 15.0)
# How much longer than a try a worker keeps its deliveries: time to write what came of
# it. A killed worker's deliveries are another's after that.
SPARE_SECONDS: float = _env.float("NOVUM_WEBHOOK_SPARE_SECONDS", 15.0)
MAX_ANSWER_BYTES = 64 * 1024
KEPT_ANSWER_BYTES = 1024
# At the same time, per endpoint and worker process; and in all.
ENDPOINT_CONCURRENCY: int = _env.int("NOVUM_WEBHOOK_CONCURRENCY", 10)
TOTAL_CONCURRENCY = 200

# Per worker process, while others wait for the processors (webhooks.pace; 0: as many as
# it can).
BUSY_PER_SECOND: int = _env.int("NOVUM_WEBHOOK_BUSY_PER_SECOND", 400)

# While something goes on, and for a moment after a nudge; else SWEEP_SECONDS.
LOOK_SECONDS: float = _env.float("NOVUM_WEBHOOK_LOOK_SECONDS", 0.2)
SWEEP_SECONDS: float = _env.float("NOVUM_WEBHOOK_SWEEP_SECONDS", 1.0)
SOON_SECONDS = 2.0
# How long one run of the loop lasts; beat starts the next within a second.
RUN_SECONDS: float = _env.float("NOVUM_WEBHOOK_RUN_SECONDS", 600.0)
FAILING_DAYS: float = _env.float("NOVUM_WEBHOOK_FAILING_DAYS", 5.0)
OVERLAP_SECONDS = 86_400
# Runs of the loop at the same time, by Celery. `manage.py deliver` comes on top.
LOOPS: int = _env.int("NOVUM_WEBHOOK_LOOPS", 1)
KEPT_DAYS: int = max(0, _env.int("NOVUM_WEBHOOK_RETENTION_DAYS", 14))
MAX_ENDPOINTS = 50
MAX_BODY_BYTES = 20_000
