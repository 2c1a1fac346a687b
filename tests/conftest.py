"""Real services for the whole session: PostgreSQL and Valkey, ours unless given.

Django reads its settings once, so they start while this module is imported, before
anything else of the tests. Each worker of pytest-xdist has its own: a transaction that is
open in one database holds the feeds of all others on the same server back.
"""

import atexit
import json
import os
import signal
import tempfile
from contextlib import ExitStack
from importlib.util import find_spec
from pathlib import Path

import django
import pytest
from django.conf import settings
from hypothesis import settings as profiles

from novum.running.children import Family
from novum.running.embedded import running_services

# A shell that runs them in the background has it ignored, and so would the programs that
# tests stop by it.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# A database that is thrown away needs no safety from a power cut, and no transactions of
# PostgreSQL's own, which hold feeds back, too.
UNSAFE_BUT_FAST = {
    "fsync": "off",
    "full_page_writes": "off",
    "synchronous_commit": "off",
    "autovacuum": "off",
}
GIVEN = "NOVUM_TESTS_GIVEN"


def start_services(given: dict[str, str]) -> None:
    stack = ExitStack()
    atexit.register(stack.close)
    data = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="novum-tests-")))
    family = Family()
    stack.callback(family.close)
    services = stack.enter_context(
        running_services(
            family,
            data,
            database_url=given["DATABASE_URL"],
            redis_url=given["REDIS_URL"],
            settings=UNSAFE_BUT_FAST,
        )
    )
    os.environ.update(services.environment(), NOVUM_DATA=str(data))


assert not settings.configured, (
    "Django's settings were read before the services' addresses were known:"
    " take DJANGO_SETTINGS_MODULE out of pytest's configuration"
)
# Workers inherit what we were given, and don't take ours for it.
os.environ.setdefault(
    GIVEN,
    json.dumps(
        {name: os.environ.get(name, "") for name in ("DATABASE_URL", "REDIS_URL")}
    ),
)
start_services(json.loads(os.environ[GIVEN]))

os.environ.setdefault("SECRET_KEY", "tests-only-" + "0123456789" * 5)
# Pooled sessions would stay open and keep the test database from being dropped.
os.environ.setdefault("NOVUM_DB_POOL", "0")
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "novum.settings")
django.setup()

# Hypothesis makes the same examples each time, so that what's found here is found by
# all. By night or by hand: NOVUM_SEED=random, and what was found is kept and told.
profiles.register_profile(
    "same", derandomize=True, database=None, deadline=None, print_blob=True
)
profiles.register_profile("random", deadline=None, print_blob=True)
profiles.load_profile("random" if os.environ.get("NOVUM_SEED") else "same")

pytest_plugins = [name for name in ("tests.fixtures",) if find_spec(name)]


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_setupnodes() -> None:
    """Workers read the settings when they have started their own services."""
    del os.environ["DJANGO_SETTINGS_MODULE"]
