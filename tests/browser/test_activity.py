"""The activity in a real browser: what happens comes in by itself; filters and files."""

from playwright.sync_api import expect

from leases.verbs.complete import complete
from tests.browser.conftest import violations
from tests.builders import receipt


def test_it_follows_is_filtered_and_taken_away(browse, world):
    world.add("Write the first")
    page = browse(world.owner)
    page.goto("/activity")
    lines = page.locator(".log-line")
    expect(lines.first).to_contain_text("made the card: ")
    held = world.claim()
    complete(world.worker, **receipt(held))
    expect(lines.first).to_contain_text("completed it", timeout=60_000)
    page.get_by_label("Who").select_option("agents")
    page.wait_for_url("**/activity?kind=agents")
    expect(lines).to_have_count(2)
    assert violations(page) == []
    page.get_by_text("Export").click()
    with page.expect_download() as download:
        page.get_by_role("link", name="CSV").click()
    text = download.value.path().read_text()
    assert len(text.splitlines()) == 3
    assert "card.lease.completed" in text
    page.locator(".log-line a").first.click()
    page.wait_for_url(f"**/cards/{held.card.id}")
