"""Novum's own processes: web, live and worker (and the one that prepares for them)."""

import socket
import sys
from http.client import HTTPConnection, HTTPException
from pathlib import Path

from novum.running.children import Child, rotate
from novum.running.settings import ROOT, RunSettings

# Per web process: 32 may wait for a card there (novum.operations.waiting), slow senders and
# pages have the rest. Few of them work at workers' calls at once (novum.turns).
BLOCKING_THREADS = 36
# Allocators give threads heaps of their own, each of which keeps what its largest request
# took. One runs at a time, so few are enough: of glibc's, and of the jemalloc in Granian,
# which gives back what nothing used for a second.
HEAPS = {
    "MALLOC_ARENA_MAX": "2",
    "_RJEM_MALLOC_CONF": "narenas:1,dirty_decay_ms:1000,muzzy_decay_ms:0",
}
# The timetable's jobs are short and few, but one: it delivers webhooks for minutes on end.
WORKER_PROCESSES = 3
HEALTH_PATH = "/v1/healthz"


def prepare(settings: RunSettings) -> Child:
    return _child("prepare", settings, "novum.running.prepare")


def web(settings: RunSettings) -> Child:
    child = _child(
        "web",
        settings,
        *("granian", "--interface", "wsgi", "--no-ws", "--log-level", "warning"),
        "--respawn-failed-workers",
        *("--host", settings.host, "--port", str(settings.port)),
        *("--workers", str(settings.web_workers)),
        *("--blocking-threads", str(BLOCKING_THREADS)),
        "novum.wsgi:application",
    )
    child.is_ready = lambda: _answers(settings)
    return child


def live(settings: RunSettings) -> Child:
    child = _child(
        "live",
        settings,
        *("daphne", "--verbosity", "0", "--no-server-name"),
        *("--bind", settings.host, "--port", str(settings.live_port)),
        "novum.asgi:application",
    )
    child.is_ready = lambda: _listens(settings.local_host, settings.live_port)
    return child


def worker(settings: RunSettings) -> Child:
    return _child(
        "worker",
        settings,
        *("celery", "-A", "novum.celery", "worker", "--beat"),
        *("--schedule", str(settings.data / "beat-schedule")),
        *("--concurrency", str(WORKER_PROCESSES), "--loglevel", "WARNING"),
        # There's one worker: nobody to greet for a second at the start.
        *("--without-gossip", "--without-mingle"),
    )


def _child(name: str, settings: RunSettings, module: str, *arguments: str) -> Child:
    return Child(
        name=name,
        command=[sys.executable, "-m", module, *arguments],
        log=rotate(log_path(settings.data, name)),
        environment={
            "DJANGO_SETTINGS_MODULE": "novum.settings",
            **HEAPS,
            **settings.environment(),
        },
        folder=ROOT,
    )


def log_path(data: Path, name: str) -> Path:
    return data / "logs" / f"{name}.log"


def _answers(settings: RunSettings) -> bool:
    connection = HTTPConnection(settings.local_host, settings.port, timeout=5)
    try:
        connection.request("GET", HEALTH_PATH)
        return connection.getresponse().status == 200
    except (OSError, HTTPException):
        return False
    finally:
        connection.close()


def _listens(host: str, port: int) -> bool:
    try:
        socket.create_connection((host, port), timeout=5).close()
    except OSError:
        return False
    return True


IN_ORDER = (web, live, worker)
