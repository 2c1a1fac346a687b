"""The pictures of the README, made from the running product: `make images`."""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page, sync_playwright

ROOT = Path(__file__).resolve().parent.parent
IMAGES = ROOT / "docs" / "images"
PORT = 8650
DESKTOP = {"width": 1440, "height": 900}
PHONE = {"width": 390, "height": 844}
LOOKS = {
    "light": ("light", DESKTOP),
    "dark": ("dark", DESKTOP),
    "phone": ("light", PHONE),
}
START_SECONDS = 90


@contextmanager
def product() -> Iterator[dict[str, Any]]:
    """A demo of its own with a fleet at work; what its demo.json says."""
    with tempfile.TemporaryDirectory(prefix="novum-images-") as data:
        environment = {**os.environ, "NOVUM_DATA": data, "NOVUM_PORT": str(PORT)}
        for name in ("DATABASE_URL", "REDIS_URL"):
            environment.pop(name, None)
        python = [sys.executable]
        running = subprocess.Popen(
            [*python, "-m", "novum.running"], cwd=ROOT, env=environment
        )
        fleet = None
        try:
            demo = _wait_for(Path(data) / "demo.json")
            command = ["examples/worker.py", "--workers", "9", "--work", "8"]
            fleet = subprocess.Popen(
                [*python, *command, "--lease", "30", "--crash", "0.1", "--fail", "0.2"],
                cwd=ROOT,
                env=environment,
                stdout=subprocess.DEVNULL,
            )
            time.sleep(20)
            yield demo
        finally:
            for process in (fleet, running):
                if process:
                    process.send_signal(signal.SIGINT)
                    process.wait(60)


def _wait_for(file: Path) -> dict[str, Any]:
    until = time.monotonic() + START_SECONDS
    while time.monotonic() < until:
        time.sleep(0.5)
        try:
            demo: dict[str, Any] = json.loads(file.read_text())
            urllib.request.urlopen(demo["url"] + "/v1/healthz", timeout=2)
            return demo
        except (OSError, ValueError):
            continue
    sys.exit("The product did not start.")


def sign_in(browser: Browser, demo: dict[str, Any], look: str) -> Page:
    scheme, size = LOOKS[look]
    # A card on its way from one column to the next would look like a fault.
    context = browser.new_context(
        viewport=size, color_scheme=scheme, reduced_motion="reduce"
    )
    page = context.new_page()
    page.goto(demo["url"] + "/sign-in")
    page.fill("input[name=username]", demo["username"])
    page.fill("input[type=password]", demo["password"])
    page.keyboard.press("Enter")
    page.wait_for_url(demo["url"] + "/")
    return page


def pictures(page: Page, demo: dict[str, Any], empty: str, look: str) -> None:
    board = demo["boards"][0]
    drafting = next(one for one in board["columns"] if one["name"] == "Drafting")
    address = demo["url"] + board["page"]

    def keep(name: str) -> None:
        page.wait_for_timeout(1_500)
        page.screenshot(path=IMAGES / f"{name}-{look}.png")

    page.goto(address)
    if look == "phone":
        page.locator(f"[data-column='{drafting['id']}']").scroll_into_view_if_needed()
    keep("board")
    # One with a past: its attempts are the picture's point.
    tried = page.locator("[data-card]:has([data-lease])").filter(has_text="2/5")
    tried.locator("a[data-card-link]").first.click()
    keep("card")
    page.goto(f"{address}/columns/{drafting['id']}/contract")
    keep("contract")
    page.goto(demo["url"] + empty)
    keep("empty")


def people_pictures(page: Page, demo: dict[str, Any], look: str) -> None:
    """My tasks, and the Tasks page."""
    for name in ("my", "tasks"):
        page.goto(f"{demo['url']}/{name}")
        if name == "my" and look == "light":
            page.keyboard.press("s")
        page.wait_for_timeout(1_500)
        page.screenshot(path=IMAGES / f"{name}-{look}.png")


def main() -> None:
    program = shutil.which("chromium") or shutil.which("google-chrome")
    with product() as demo, sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=program, args=["--no-sandbox", "--disable-gpu"]
        )
        pages = {look: sign_in(browser, demo, look) for look in LOOKS}
        empty = make_board(demo)
        for look, page in pages.items():
            pictures(page, demo, empty, look)
            people_pictures(page, demo, look)
        browser.close()


def make_board(demo: dict[str, Any]) -> str:
    """An empty board with queues, through the API; returns its path."""
    request = urllib.request.Request(
        demo["url"] + "/v1/boards",
        data=json.dumps({"name": "Support", "columns": ["Inbox", "Done"]}).encode(),
        headers={"Authorization": "Bearer " + demo["worker_token"]},
    )
    board = json.load(urllib.request.urlopen(request))
    columns = f"{demo['url']}/v1/boards/{board['id']}/columns"
    request.full_url, request.data, request.method = columns, None, "GET"
    inbox = json.load(urllib.request.urlopen(request))["items"][0]["id"]
    request.full_url, request.method = f"{columns}/{inbox}/contract", "PUT"
    request.data = json.dumps({"enabled": True}).encode()
    urllib.request.urlopen(request)
    return f"/boards/{board['id']}"


if __name__ == "__main__":
    main()
