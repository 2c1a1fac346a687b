"""Settings, all from the environment; without any, the embedded default.

`DATABASE_URL` / `REDIS_URL` name outside services. Without them the addresses of the
embedded ones are read from `NOVUM_DATA/services.json`, which `make up` writes while it
runs, so that `manage.py` in a second terminal finds them.
"""

import json
from pathlib import Path
from typing import Any

import environ
from django.core.exceptions import ImproperlyConfigured
from django.utils.crypto import get_random_string
from django.utils.csp import CSP

env = environ.Env()
BASE_DIR = Path(__file__).resolve().parent.parent
NOVUM_DATA = Path(env.str("NOVUM_DATA", str(BASE_DIR / ".novum")))
EMBEDDED = "DATABASE_URL" not in env.ENVIRON


def _services() -> dict[str, str]:
    path = NOVUM_DATA / "services.json"
    found: dict[str, str] = json.loads(path.read_text()) if path.exists() else {}
    return found


def _secret_key() -> str:
    """Given, or (embedded only) made once and kept beside the data."""
    given: str = env.str("SECRET_KEY", "")
    if given:
        return given
    if not EMBEDDED:
        raise ImproperlyConfigured(
            "Set SECRET_KEY (50 or more random characters): with DATABASE_URL set,"
            " Novum doesn't invent one."
        )
    path = NOVUM_DATA / "secret_key"
    if not path.exists():
        NOVUM_DATA.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.touch(mode=0o600)
        path.write_text(get_random_string(64))
    return path.read_text().strip()


SECRET_KEY = _secret_key()
SECRET_KEY_FALLBACKS: list[str] = env.list("SECRET_KEY_FALLBACKS", default=[])
# Keys of the lease receipts, the first one mints, all verify. Rotate by putting a new
# one in front and dropping the last after the longest lease (one day).
LEASE_TOKEN_KEYS: list[str] = env.list(
    "NOVUM_LEASE_TOKEN_KEYS", default=[SECRET_KEY, *SECRET_KEY_FALLBACKS]
)

DEBUG = env.bool("DEBUG", False)
NOVUM_HOST = env.str("NOVUM_HOST", "127.0.0.1")
NOVUM_PORT = env.int("NOVUM_PORT", 8000)
ALLOWED_HOSTS: list[str] = env.list(
    "ALLOWED_HOSTS", default=["localhost", "127.0.0.1", "[::1]", NOVUM_HOST]
)
NOVUM_URL = env.str("NOVUM_URL", f"http://{NOVUM_HOST}:{NOVUM_PORT}")
NOVUM_LIVE_URL = env.str("NOVUM_LIVE_URL", f"http://{NOVUM_HOST}:{NOVUM_PORT + 1}")

INSTALLED_APPS = [
    "daphne",
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django.contrib.postgres",
    "rest_framework",
    "channels",
    "django_htmx",
    "drf_spectacular_sidecar",
    "accounts",
    "boards",
    "leases",
    "tasks_people",
    "supervision",
    "transfer",
    "webhooks",
    "novum",
]

MIDDLEWARE = [
    "novum.logs.calls.middleware",
    "novum.incoming.utf8",
    "novum.mcp.endpoint.shortcut",
    "novum.rest.shortcut.shortcut",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.middleware.csp.ContentSecurityPolicyMiddleware",
    "novum.web.clean.Clean",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
]

ROOT_URLCONF = "novum.urls"
WSGI_APPLICATION = "novum.wsgi.application"
ASGI_APPLICATION = "novum.asgi.application"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.template.context_processors.csp",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "novum.web.pages.context",
            ],
        },
    },
]

DATABASE_URL = env.str("DATABASE_URL", _services().get("database_url", ""))
REDIS_URL = env.str("REDIS_URL", _services().get("redis_url", ""))


# What a session with the database is to be like, in milliseconds where it's a time.
DATABASE_SESSION: dict[str, str] = {
    "lock_timeout": str(env.int("NOVUM_LOCK_TIMEOUT_MS", 10_000)),
    "statement_timeout": str(env.int("NOVUM_STATEMENT_TIMEOUT_MS", 60_000)),
    "idle_in_transaction_session_timeout": "60000",
    # A prepared statement is planned once per session. By default PostgreSQL goes on
    # planning some of them for each run, which takes longer than running them.
    "jit": "off",
    "plan_cache_mode": "force_generic_plan",
    # So a plan that was made while a table was small is kept, also for the checks of
    # foreign keys, and without these it goes on reading the whole table when that has
    # grown a thousandfold. What's left is a row by its index, each time.
    "enable_seqscan": "off",
    "enable_mergejoin": "off",
    "enable_hashjoin": "off",
}
# "transaction": PgBouncer (or the like) stands between and hands sessions out for one
# transaction each. Then nothing is kept in a session (docs/scaling.md).
DATABASE_POOLER = env.str("NOVUM_DATABASE_POOLER", "")


def _database() -> dict[str, Any]:
    """Long-lived pooled connections: opening one costs nine times a claim."""
    url = DATABASE_URL or "postgres://novum@127.0.0.1:1/novum"
    found: dict[str, Any] = environ.Env.db_url_config(url)
    options = found.setdefault("OPTIONS", {})
    if DATABASE_POOLER == "transaction":
        found["DISABLE_SERVER_SIDE_CURSORS"] = True
    elif DATABASE_POOLER:
        raise ImproperlyConfigured(
            f"NOVUM_DATABASE_POOLER is 'transaction' or empty, not {DATABASE_POOLER!r}."
        )
    else:
        kept = (f"-c {name}={value}" for name, value in DATABASE_SESSION.items())
        options["options"] = " ".join(kept)
    size = env.int("NOVUM_DB_POOL", 8)
    if size:
        options["pool"] = {"min_size": 1, "max_size": size, "timeout": 10}
    return found


DATABASES = {"default": _database()}

CHANNEL_LAYERS = (
    {
        "default": {
            "BACKEND": "channels_redis.core.RedisChannelLayer",
            # redis-py 8 cuts every blocking read after 5 s by default, which would kill
            # each idle socket (django/channels_redis#422).
            "CONFIG": {
                "hosts": [{"address": REDIS_URL, "socket_timeout": None}],
                "capacity": 500,
                "expiry": 30,
            },
        }
    }
    if REDIS_URL
    else {"default": {"BACKEND": "channels.layers.InMemoryChannelLayer"}}
)

CELERY_BROKER_URL = REDIS_URL or "memory://"
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_SERIALIZER = "json"
CELERY_ACCEPT_CONTENT = ["json"]
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
REAP_SECONDS = env.float("NOVUM_REAP_SECONDS", 2.0)
HOUSEKEEPING_SECONDS = env.float("NOVUM_HOUSEKEEPING_SECONDS", 60.0)

AUTH_USER_MODEL = "accounts.User"
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator"},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# Requests a minute and credential; claims and everything else count apart from
# renew/complete/fail/release, so that hard polling never starves a heartbeat. 0 = off.
RATE_LIMITS = {
    "work": env.int("NOVUM_RATE_LIMIT", 240_000),
    "finish": env.int("NOVUM_RATE_LIMIT_FINISH", 240_000),
    "guess": env.int("NOVUM_RATE_LIMIT_GUESS", 120),
}
# Who may read /metrics: a bearer token, and who comes from these networks (with a token,
# nobody else unless it's said). So many queues are told one by one.
METRICS_TOKEN = env.str("NOVUM_METRICS_TOKEN", "")
METRICS_ALLOW: list[str] = env.list(
    "NOVUM_METRICS_ALLOW", default=[] if METRICS_TOKEN else ["127.0.0.0/8", "::1/128"]
)
METRICS_QUEUES = env.int("NOVUM_METRICS_QUEUES", 100)
# Proxies in front whose X-Forwarded-For entries are believed.
TRUSTED_PROXIES = env.int("NOVUM_TRUSTED_PROXIES", 0)
# How many days things are kept, 0 for ever (docs/operations.md has all of them).
EVENT_RETENTION_DAYS = env.int("NOVUM_EVENT_RETENTION_DAYS", 90)
MESSAGE_RETENTION_DAYS = env.int("NOVUM_MESSAGE_RETENTION_DAYS", 30)
# Of the figures of minutes; those of hours stay.
STATS_RETENTION_DAYS = env.int("NOVUM_STATS_RETENTION_DAYS", 7)
# Of leases that ended, of cards that are done or archived.
LEASE_RETENTION_DAYS = env.int("NOVUM_LEASE_RETENTION_DAYS", 0)
for _days in (
    *(EVENT_RETENTION_DAYS, MESSAGE_RETENTION_DAYS),
    *(STATS_RETENTION_DAYS, LEASE_RETENTION_DAYS),
):
    if _days < 0:
        raise ImproperlyConfigured(
            "A NOVUM_…_RETENTION_DAYS is below 0, which would mean all there is: say for"
            " how many days, or 0 for ever."
        )


def _mailers() -> dict[str, Any]:
    """None without EMAIL_URL: then nobody gets mail. smtp://user:password@host:port;
    smtp+tls:// and smtp+ssl:// are encrypted, consolemail:// prints."""
    url = env.str("EMAIL_URL", "")
    if not url:
        return {}
    found = environ.Env.email_url_config(url)
    options = {
        "host": found["EMAIL_HOST"],
        "port": found["EMAIL_PORT"] or 25,
        "username": found["EMAIL_HOST_USER"],
        "password": found["EMAIL_HOST_PASSWORD"],
        "use_tls": found.get("EMAIL_USE_TLS", False),
        "use_ssl": found.get("EMAIL_USE_SSL", False),
        "timeout": 20,
    }
    by_smtp = found["EMAIL_BACKEND"].endswith("smtp.EmailBackend")
    return {
        "default": {
            "BACKEND": found["EMAIL_BACKEND"],
            "OPTIONS": options if by_smtp else {},
        }
    }


MAILERS = _mailers()
MAIL_FROM = env.str("NOVUM_MAIL_FROM", "novum@localhost")

REST_FRAMEWORK = {
    "DEFAULT_RENDERER_CLASSES": ["novum.rest.rendering.MsgspecRenderer"],
    "DEFAULT_PARSER_CLASSES": [],
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "novum.rest.authentication.BearerAuthentication",
        "novum.rest.authentication.PageSessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": [],
    "DEFAULT_THROTTLE_CLASSES": [],
    "EXCEPTION_HANDLER": "novum.problems.exception_handler",
    "UNAUTHENTICATED_USER": None,
}
# The REST door reads and bounds its bodies itself (novum.cleaning).
DATA_UPLOAD_MAX_MEMORY_SIZE = 4 * 1024 * 1024

SECURE_CSP = {
    "default-src": [CSP.SELF],
    "script-src": [CSP.SELF, CSP.NONCE],
    "style-src": [CSP.SELF, CSP.NONCE],
    "img-src": [CSP.SELF, "data:"],
    # The live process may stand at an address of its own; a path would only match
    # itself here.
    "connect-src": [
        CSP.SELF,
        "/".join(NOVUM_LIVE_URL.split("/")[:3]).replace("http", "ws", 1),
    ],
    "object-src": [CSP.NONE],
    "base-uri": [CSP.NONE],
    "form-action": [CSP.SELF],
    "frame-ancestors": [CSP.NONE],
}
SECURE_REFERRER_POLICY = "same-origin"
SECURE_CROSS_ORIGIN_OPENER_POLICY = "same-origin"
SECURE_CONTENT_TYPE_NOSNIFF = True
X_FRAME_OPTIONS = "DENY"
_https = NOVUM_URL.startswith("https://")
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = _https
SECURE_PROXY_SSL_HEADER = (
    ("HTTP_X_FORWARDED_PROTO", "https") if TRUSTED_PROXIES else None
)
CSRF_TRUSTED_ORIGINS = [NOVUM_URL] if _https else []
# Asked for, since behind a proxy that doesn't say X-Forwarded-Proto it never ends.
SECURE_SSL_REDIRECT = env.bool("NOVUM_HTTPS_ONLY", False)
SECURE_REDIRECT_EXEMPT = [r"^v1/(healthz|readyz)$"]
SECURE_HSTS_SECONDS = env.int("NOVUM_HSTS_SECONDS", 0)
# HSTS for other hosts of the domain, and in browsers' lists: not ours to decide. And
# without a mailer nothing tries to send mail.
SILENCED_SYSTEM_CHECKS = ["security.W005", "security.W021", "mail.W001"]

LANGUAGE_CODE = "en"
TIME_ZONE = "UTC"
USE_I18N = True
USE_TZ = True
STATIC_URL = "/static/"
STATICFILES_DIRS = [BASE_DIR / "static"]
# Collected files are for a web server in front; without one, WhiteNoise finds them.
STATIC_ROOT = env.str("NOVUM_STATIC_ROOT", "") or None
WHITENOISE_USE_FINDERS = True
LOGIN_URL = "/sign-in"
CSRF_FAILURE_VIEW = "novum.urls.csrf_failure"

# A line is JSON for machines, or for the eyes of who runs it all alone.
LOG_FORMAT = env.str("NOVUM_LOG_FORMAT", "text" if EMBEDDED else "json")
# A line for each call costs some percent of a claim; errors and slow ones have theirs.
LOG_REQUESTS = env.bool("NOVUM_LOG_REQUESTS", False)
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "line": {
            "()": "novum.logs.formatting.formatter",
            "as_json": LOG_FORMAT != "text",
        }
    },
    "handlers": {
        "console": {"class": "logging.StreamHandler", "formatter": "line"},
    },
    "root": {"handlers": ["console"], "level": env.str("NOVUM_LOG_LEVEL", "INFO")},
    "loggers": {
        # A 4xx is the caller's to see; it's answered, not logged.
        "django.request": {"level": "ERROR"},
        # Django's own, for DEBUG, would write a line twice.
        "django": {"handlers": [], "propagate": True},
        # One line for each tool call, with what a card holds.
        "django_mcpz.calls": {"level": "WARNING"},
        # Two for each run of each loop.
        "celery": {"level": "WARNING"},
    },
}
