"""Needs you, Leases and Agents in a real browser: live, by keyboard, with a fleet whose
workers crash, and nothing for axe to find."""

import json
import os
import re
import signal
import subprocess
import sys

import pytest
from playwright.sync_api import expect

from accounts.models import Actor
from leases.verbs.requeue import requeue
from leases.verbs.revoke import revoke
from novum.running.settings import ROOT
from tests.browser.conftest import violations
from tests.builders import card_row, lapse, lease_row
from tests.doors.http import token_of
from tests.processes.waiting import eventually

LONG = "Zusammenfassung aller vierteljährlichen Berichte " * 5
RIGHT_TO_LEFT = "تقرير الأرباح السنوي للشركة العربية للصناعات"
LOOKS = {"wide": {}, "phone and dark": {"phone": True, "dark": True}}


@pytest.fixture
def crashing(product, world, tmp_path):
    """The example's fleet on this board: every worker kills itself with -9 in the
    middle of its first card."""
    demo = {
        "url": product.url,
        "worker_token": token_of(world.worker),
        "boards": [
            {
                "id": str(world.board),
                "columns": [{"id": str(world.queue), "name": "Drafting"}],
            }
        ],
    }
    (tmp_path / "demo.json").write_text(json.dumps(demo))
    command = [sys.executable, str(ROOT / "examples/worker.py")]
    process = subprocess.Popen(
        [*command, "--workers", "2", "--crash", "1", "--work", "0.1", "--lease", "5"],
        env={**os.environ, "NOVUM_DATA": str(tmp_path)},
        cwd=tmp_path,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    yield process
    os.killpg(process.pid, signal.SIGKILL)
    process.wait(60)


def held(world, title):
    world.add(title)
    return world.claim()


def test_a_crashing_fleet_shows_up_and_a_key_settles_it(
    browse, world, crashing, request
):
    world.set(max_attempts=1)
    card = world.add(LONG)
    page, leases, agents = (browse(world.owner) for _ in range(3))
    # Only for a minute is it "just now" that a seat was seen: that page is open first.
    agents.goto("/agents")
    seat = agents.locator(f"[data-agent='{world.worker.actor_id}']")
    leases.goto("/leases?state=ended&ended=expired")
    page.goto("/needs-you")
    row = page.locator(f"#need-dead_letter-{card}")
    expect(seat).to_contain_text("just now", timeout=60_000)
    # Claimed, crashed, lapsed, and found by the next claim: no page was loaded anew.
    expect(row).to_contain_text("let the last one lapse", timeout=60_000)
    expect(page.locator("#fleet-alarm .badge")).to_be_visible()
    os.killpg(crashing.pid, signal.SIGSTOP)
    leases.reload()
    expect(leases.locator("tbody tr")).to_contain_text("dead letter")
    page.keyboard.press("j")
    expect(row.get_by_role("link").first).to_be_focused()
    page.keyboard.press("Tab")
    expect(row.get_by_role("button", name="Retry")).to_be_focused()
    page.keyboard.press("Enter")
    # First what goes again by itself.
    expect(page.locator("#toasts")).to_contain_text("Back in its queue")
    expect(row).to_have_count(0)
    assert card_row(card).state == "open"


def test_a_line_comes_and_goes_as_things_are_settled_elsewhere(browse, world):
    page = browse(world.owner)
    page.goto("/needs-you")
    expect(page.get_by_text("Nothing needs you")).to_be_visible()
    lapsed = held(world, RIGHT_TO_LEFT)
    lapse(lapsed)
    row = page.locator(f"#need-lapsed-{lapsed.card.id}")
    expect(row).to_be_visible()
    expect(row.get_by_role("button", name="Take it back")).to_be_visible()
    revoke(world.owner, lease_id=lapsed.lease.id)
    expect(row).to_have_count(0)
    world.set(on_failure_column_id=world.failed)
    dead = world.fail_card(requeue=False, reason="No luck")
    expect(page.locator(f"#need-dead_letter-{dead}")).to_be_visible()
    page.get_by_role("link", name="Dead letter 1").click()
    expect(page).to_have_url(re.compile(r"reason=dead_letter"))
    requeue(world.owner, card_id=dead)
    expect(page.get_by_text("Nothing here needs you")).to_be_visible()


def test_leases_are_picked_by_keyboard_and_taken_back_after_a_question(browse, world):
    first, second, third = (held(world, f"Card {n}") for n in range(3))
    page = browse(world.owner)
    page.goto("/leases")
    bar = page.locator("[data-selection]")
    expect(page.locator("tr[data-walk]")).to_have_count(3)
    expect(bar).to_be_hidden()
    page.keyboard.press("j")
    page.keyboard.press("x")
    expect(bar).to_contain_text("1 picked")
    page.keyboard.press("j")
    page.keyboard.press("x")
    expect(bar).to_contain_text("2 picked")
    # It counts down, and stays picked through every refresh.
    chip = page.locator(f"#chip-{first.lease.id} [data-left]")
    before = chip.inner_text()
    expect(chip).not_to_have_text(before)
    world.add("Another")
    world.claim()
    expect(page.locator("tr[data-walk]")).to_have_count(4)
    expect(bar).to_contain_text("2 picked")
    bar.get_by_role("button", name="Revoke them…").click()
    expect(page.get_by_role("heading", level=2)).to_have_text(
        "2 leases will be revoked"
    )
    page.get_by_label(re.compile("Why")).fill("Wrong prompt")
    page.get_by_role("button", name="Revoke 2 leases").click()
    expect(page.locator("tr[data-walk]")).to_have_count(2)
    rows = [lease_row(one.lease.id) for one in (first, second, third)]
    assert [row.state for row in rows].count("revoked") == 2
    assert {row.reason for row in rows if row.state == "revoked"} == {"Wrong prompt"}


def test_one_agent_is_stopped_from_its_row(browse, world):
    one = held(world, LONG)
    page = browse(world.owner)
    page.goto("/agents")
    seat = page.locator(f"[data-agent='{world.worker.actor_id}']")
    expect(seat).to_contain_text("1 card")
    seat.get_by_text("Stop…").click()
    seat.get_by_label(re.compile("Why")).fill("It repeats itself")
    seat.get_by_label("Disable the seat, too").check()
    seat.get_by_role("button", name="Take it all back").click()
    expect(seat).to_contain_text("disabled")
    expect(seat.get_by_text("Stop…")).to_have_count(0)
    eventually(lambda: lease_row(one.lease.id).state == "revoked")
    assert "It repeats itself" in lease_row(one.lease.id).reason
    assert Actor.objects.get(pk=world.worker.actor_id).disabled_at
    seat.get_by_role("button", name="Enable").click()
    expect(seat).to_contain_text("idle")


@pytest.mark.parametrize("look", LOOKS)
def test_axe_finds_nothing_in_any_state(browse, world, look):
    page = browse(world.owner, **LOOKS[look])
    wrong = {}

    def check(address, opened=""):
        page.goto(address)
        if opened:
            page.locator(opened).first.click()
        if found := violations(page):
            wrong[address, opened] = found
        wide = page.evaluate("document.documentElement.scrollWidth > innerWidth")
        assert not wide, address

    agent = f"/agents/{world.worker.actor_id}"
    for address in ("/needs-you", "/leases", "/leases?state=stuck", agent):
        check(address)
    world.add(LONG, assignee=world.owner.handle)
    for title in (LONG, RIGHT_TO_LEFT, "Short"):
        held(world, title)
    lapse(held(world, LONG))
    world.fail_card(requeue=False, reason=LONG)
    check("/needs-you")
    check("/leases", "tr[data-walk] summary")
    check("/leases", "input[data-pick]")
    check("/leases?state=stuck")
    check("/leases?state=ended")
    check(f"/leases/revoke?agent={world.worker.actor_id}")
    check("/agents", "tr[data-agent] summary")
    check(agent)
    assert wrong == {}
