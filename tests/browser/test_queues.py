"""The queues' pages in a real browser, while a small fleet works, crashes and fails."""

import re
from time import monotonic, sleep

import pytest
from playwright.sync_api import expect

from accounts.roles import BoardRole, WorkspaceRole
from boards.models import Board, Event, Snapshot
from leases.models import Contract
from leases.verbs.complete import complete
from leases.verbs.give_back import fail
from leases.verbs.tidy import tidy
from supervision.models import RollUp
from supervision.verbs.roll_up import roll_up
from tests.browser.conftest import PATIENCE_MS, violations
from tests.builders import a_person, lapse, receipt


def row(page, world):
    return page.locator(f"#queue-{world.queue}")


def cell(page, world, label):
    return row(page, world).locator(f'[data-label="{label}"]')


def works(world, *, done=0, failed=0, crashed=0) -> None:
    """A fleet: some of its cards are completed, some fail, some workers die."""
    world.add_many(done + failed + crashed)
    for _ in range(done):
        complete(world.worker, **receipt(world.claim()))
    for _ in range(failed):
        fail(world.worker, **receipt(world.claim()), reason="no", requeue=False)
    for held in [world.claim() for _ in range(crashed)]:
        lapse(held)
    tidy(world.queue)


def rolled_up(world) -> None:
    end = monotonic() + PATIENCE_MS / 1000
    while Event.objects.filter(transaction__gte=Snapshot()).exists():
        assert monotonic() < end
        sleep(0.05)
    roll_up(world.workspace.pk)


@pytest.fixture
def watched(world):
    """Somebody has rolled up before, as the loop does."""
    RollUp.objects.get_or_create(workspace=world.workspace)
    return world


def test_the_table_follows_the_fleet_and_a_queue_is_drained(browse, watched):
    world = watched
    page = browse(world.owner)
    page.goto("/queues")
    expect(cell(page, world, "Ready")).to_have_text("0")
    works(world, done=3, failed=1, crashed=2)
    rolled_up(world)
    # The crashed ones are back.
    expect(cell(page, world, "Ready")).to_have_text("2")
    expect(cell(page, world, "Success")).to_have_text("50 %")
    expect(row(page, world)).to_contain_text("many fail")
    expect(row(page, world).locator(".queue-spark-done")).to_have_count(1)
    held = world.claim()
    expect(cell(page, world, "Working")).to_contain_text("1")
    row(page, world).get_by_role("button", name="Pause").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_label("Reason")).to_be_focused()
    dialog.get_by_label("Reason").fill("The source is down.")
    dialog.get_by_role("button", name="Drain").click()
    expect(row(page, world)).to_contain_text("Draining, 1 at work")
    expect(row(page, world)).to_contain_text("The source is down.")
    assert Contract.objects.get(pk=world.queue).paused
    complete(world.worker, **receipt(held))
    expect(row(page, world)).to_contain_text("Paused, nobody at work")
    row(page, world).get_by_role("button", name="Resume").click()
    expect(row(page, world).get_by_role("button", name="Pause")).to_be_visible()
    assert world.ask().card


def test_the_address_is_the_filter_and_the_order(browse, world):
    page = browse(world.owner)
    page.goto("/queues")
    page.get_by_label("With trouble").check()
    expect(page).to_have_url(re.compile(r"/queues\?trouble=yes$"))
    expect(page.get_by_text("No queue is like that")).to_be_visible()
    page.get_by_role("link", name="Show all").click()
    page.get_by_role("link", name="Ready").click()
    expect(page).to_have_url(re.compile(r"sort=-depth"))
    expect(page.locator("th[aria-sort=descending]")).to_have_text("Ready")


@pytest.mark.parametrize("look", [{}, {"dark": True}, {"phone": True}])
def test_the_charts_are_drawn_and_said_as_a_table(browse, watched, look):
    world = watched
    works(world, done=2, crashed=1)
    rolled_up(world)
    page = browse(world.owner, **look)
    page.goto(f"/queues/{world.queue}?lease=45s")
    expect(page.locator("[data-charts-of][data-drawn]")).to_be_visible()
    expect(page.locator("[data-chart] canvas")).to_have_count(4)
    page.get_by_text("As a table").focus()
    page.keyboard.press("Enter")
    figures = page.get_by_role("region", name="Figures by time")
    expect(figures.locator("tbody tr").first).to_contain_text("UTC")
    # Two were completed at once, and the one that lapsed would have anyhow.
    lengths = page.get_by_role("row", name=re.compile("45 s"))
    expect(lengths).to_contain_text("33.3 %")
    assert violations(page) == []
    page.get_by_role("link", name="7d").click()
    expect(page).to_have_url(re.compile(r"span=7d&lease=45"))
    expect(page.locator("[data-chart] canvas")).to_have_count(4)


def test_a_viewer_sees_no_button(browse, world):
    Board.objects.filter(pk=world.board).update(default_role=BoardRole.VIEWER)
    page = browse(a_person(world.workspace, WorkspaceRole.MEMBER))
    for path in ("/queues", f"/queues/{world.queue}"):
        page.goto(path)
        expect(page.locator("#main")).to_contain_text("Drafting")
        expect(page.get_by_role("button", name="Pause")).to_have_count(0)
