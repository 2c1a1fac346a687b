"""A real product (web and live) on the test database, and browsers that look at it.

Everything here ends with the last test of this folder: a browser driven from this
process keeps an event loop in it, which other tests could not live with.
"""

import os
import shutil
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from django.conf import settings
from django.db import connection, connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.test import Client
from playwright.sync_api import (
    Browser,
    BrowserContext,
    Page,
    expect,
    sync_playwright,
)
from pytest_playwright_axe.axe import MIN_AXE_PATH

from accounts.callers import Caller
from accounts.models import Actor
from novum.running import processes
from novum.running.children import Child, Family
from novum.running.settings import RunSettings
from tests.builders import a_world
from tests.running.ports import two_free_ports

START_SECONDS = 60.0
PATIENCE_MS = 30_000
expect.set_options(timeout=PATIENCE_MS)
CHROMIUM_OPTIONS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
PHONE = {"width": 390, "height": 844}
DESKTOP = {"width": 1440, "height": 900}
# Violations are reported in the console as well; this names the element, too.
TELL_VIOLATIONS = """
document.addEventListener("securitypolicyviolation", (event) => console.error(
  "CSP:", event.violatedDirective, event.blockedURI, event.target?.outerHTML ?? ""));
"""


def pytest_collection_modifyitems(items):
    """Everything in this folder starts real processes."""
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            item.add_marker(pytest.mark.processes)
            # So that the test database is made; see `_django_db_marker`.
            item.add_marker(pytest.mark.django_db)


@pytest.fixture
def _django_db_marker():
    """Instead of pytest-django's: what these tests write is committed and stays. Each
    has a workspace of its own, and the product must see it."""


@dataclass(frozen=True)
class Product:
    """Where the running product is; `family` can start more of it (and what is in
    `children` again), `connection` is the tests' own to its database."""

    settings: RunSettings
    environment: dict[str, str]
    family: Family
    connection: BaseDatabaseWrapper
    children: dict[str, Child] = field(default_factory=dict)

    @property
    def url(self) -> str:
        return self.settings.url

    def start(self, make):
        child = make(self.settings)
        child.environment = {**child.environment, **self.environment}
        self.family.start(child)
        self.children[child.name] = child
        return child

    def wait_for(self, child):
        self.family.wait_until_ready(child, START_SECONDS)


@pytest.fixture(scope="package")
def product(django_db_setup, django_db_blocker, tmp_path_factory):
    """Granian and Daphne, on the database that the tests fill with the verbs."""
    with django_db_blocker.unblock():
        database = connection.settings_dict["NAME"]
    url = urlsplit(os.environ["DATABASE_URL"])._replace(path=f"/{database}").geturl()
    data = tmp_path_factory.mktemp("product")
    run = RunSettings("127.0.0.1", two_free_ports(), data, url, "", web_workers=1)
    family = Family()
    environment = {
        "DATABASE_URL": url,
        "SECRET_KEY": settings.SECRET_KEY,
        "NOVUM_DB_POOL": "4",
    }
    product = Product(run, environment, family, connections["default"])
    children = [product.start(make) for make in (processes.web, processes.live)]
    try:
        for child in children:
            product.wait_for(child)
        yield product
    finally:
        family.stop(*children)
        family.close()


@pytest.fixture(scope="package")
def chromium():
    """Debian's Chromium, or the one that the machine has."""
    found = shutil.which("chromium") or shutil.which("google-chrome")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=found, args=CHROMIUM_OPTIONS
        )
        yield browser
        browser.close()


@pytest.fixture
def committed(product, django_db_blocker, monkeypatch):
    """The database without a transaction around the test: the product sees it all."""
    # Playwright's loop runs in this thread, but nothing of ours waits in it.
    monkeypatch.setenv("DJANGO_ALLOW_ASYNC_UNSAFE", "1")
    with django_db_blocker.unblock():
        # And Django would open a second connection there, to another database.
        connections["default"] = product.connection
        yield
        connection.close()


@pytest.fixture
def world(committed):
    """A board of this test alone: a queue, a column for done and one for failed."""
    return a_world()


@dataclass
class Browsing:
    """The pages of one test, and what they complained about."""

    browser: Browser
    url: str
    contexts: list[BrowserContext] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)
    allowed: list[str] = field(default_factory=list)

    def __call__(
        self, caller: Caller | None = None, *, phone=False, dark=False, **options
    ) -> Page:
        """A page in a browser of its own, signed in as `caller` (nobody if None)."""
        options.setdefault("viewport", PHONE if phone else DESKTOP)
        if phone:
            options |= {"has_touch": True, "is_mobile": True}
        if dark:
            options["color_scheme"] = "dark"
        context = self.browser.new_context(base_url=self.url, **options)
        context.set_default_timeout(PATIENCE_MS)
        context.add_init_script(TELL_VIOLATIONS)
        context.on("console", self._hear)
        context.on("weberror", lambda error: self.complaints.append(str(error.error)))
        self.contexts.append(context)
        if caller:
            sign_in(context, caller)
        return context.new_page()

    def allow(self, *texts: str) -> None:
        """Complaints with one of these texts in them are part of the test."""
        self.allowed.extend(texts)

    def unexpected(self) -> list[str]:
        return [
            text
            for text in self.complaints
            if not any(allowed in text for allowed in self.allowed)
        ]

    def _hear(self, message) -> None:
        if message.type == "error" and not is_icon(message.location.get("url", "")):
            self.complaints.append(f"{message.text} ({message.page.url})")


@pytest.fixture
def browse(product, chromium, committed):
    """Opens pages; no page may break the content policy or log an error."""
    browsing = Browsing(chromium, product.url)
    yield browsing
    for context in browsing.contexts:
        context.close()
    assert browsing.unexpected() == []


@pytest.fixture
def page(browse):
    """A page of nobody's yet; `sign_in(page.context, caller)` makes it somebody's."""
    return browse()


def is_icon(url: str) -> bool:
    """Asked for by the browser for its tab, whenever it likes, and not by the page."""
    return "/favicon." in urlsplit(url).path


def sign_in(context: BrowserContext, caller: Caller) -> None:
    """By a session made here: quicker than the form, which has a test of its own."""
    client = Client()
    client.force_login(
        Actor.objects.select_related("user").get(pk=caller.actor_id).user
    )
    cookie = client.cookies[settings.SESSION_COOKIE_NAME]
    context.add_cookies(
        [
            {
                "name": cookie.key,
                "value": cookie.value,
                "domain": "127.0.0.1",
                "path": "/",
            }
        ]
    )


def sign_out(context: BrowserContext) -> None:
    """As when the session has expired: the browser comes without one."""
    context.clear_cookies(name=settings.SESSION_COOKIE_NAME)


AT_REST = """Promise.allSettled(document.getAnimations()
    .filter((one) => one.effect.getComputedTiming().endTime !== Infinity)
    .map((one) => one.finished))"""

# What is right needs no list of its own: a quarter of the time goes into that.
ONLY_WRONG = "{resultTypes: ['violations']}"


def violations(page: Page) -> list[str]:
    """What axe finds wrong with the page as it is now, each with its first element.

    Nothing is in motion any more: half faded in, text has too little contrast.
    """
    page.evaluate(MIN_AXE_PATH.read_text())
    page.evaluate(f"{AT_REST}.then(() => null)")
    found = page.evaluate(f"axe.run({ONLY_WRONG}).then((all) => all.violations)")
    return [f"{one['id']}: {one['nodes'][0]['html']}" for one in found]
