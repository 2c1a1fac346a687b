"""The pages on dead letters in a real browser."""

import re

import pytest
from playwright.sync_api import expect

from boards.verbs.cards import edit_card
from supervision.bulk import actions, running
from supervision.bulk.planning import Selection
from supervision.bulk.rules import Doing
from supervision.letters import LetterFilter
from tests.browser.conftest import violations
from tests.browser.test_my import LONG, NASTY, RTL, too_wide
from tests.builders import card_row
from tests.supervision.dead import SCHEMA, a_dead_letter, many_dead_letters


def letters(page):
    return page.locator("[data-letter]")


def test_a_group_is_retried_after_a_dry_run(browse, world):
    world.set(input_schema=SCHEMA)
    fine = [
        a_dead_letter(world, f"Timeout after {n} s", payload={"url": "u"})
        for n in range(2)
    ]
    misfit = a_dead_letter(world, "Timeout after 77 s", payload={"url": "u"})
    edit_card(world.owner, card_id=misfit, payload={"uri": "u"})
    a_dead_letter(world, "No file", payload={"url": "u"})
    page = browse(world.owner)
    page.goto("/dead-letters")
    expect(letters(page)).to_have_count(4)
    # By keyboard: unfold the group, then ask for a retry of all of it.
    page.get_by_role("link", name="Timeout after <n> s").press("Enter")
    expect(page).to_have_url(re.compile("group=Timeout"))
    expect(letters(page)).to_have_count(3)
    letters(page).first.locator(".letter-more > summary").press("Enter")
    expect(letters(page).first.get_by_text("attempt 1")).to_be_visible()
    expect(letters(page).first.get_by_text('"uri": "u"')).to_be_visible()
    page.get_by_role("button", name="Retry 3…").press("Enter")
    expect(page.get_by_role("heading", name="2 will run")).to_contain_text(", 1 won")
    page.locator(".plan-reasons summary").click()
    expect(page.locator(".plan-cards")).to_contain_text("NOV-3")
    page.get_by_role("button", name="Retry 2 cards").press("Enter")
    expect(page.locator("#progress")).to_contain_text("Finished")
    expect(page.locator(".figures")).to_contain_text("2")
    assert {card_row(card).state for card in fine} == {"open"}


def test_what_does_not_fit_is_put_right_and_retried(browse, world):
    browse.allow("422")
    world.set(input_schema=SCHEMA)
    misfit = a_dead_letter(world, payload={"url": "u"})
    edit_card(world.owner, card_id=misfit, payload={"uri": "u"})
    page = browse(world.owner)
    page.goto("/dead-letters")
    page.locator(".letter .menu > summary").press("Enter")
    page.get_by_role("link", name="Edit input and retry…").press("Enter")
    page.get_by_role("button", name="Save and retry").click()
    expect(page.get_by_role("alert")).to_contain_text("url")
    page.get_by_label("Input, JSON").fill('{"url": "v"}')
    page.get_by_role("button", name="Save and retry").click()
    expect(page.get_by_text("No dead letters")).to_be_visible()
    assert card_row(misfit).state == "open"
    assert card_row(misfit).payload == {"url": "v"}


def test_chosen_ones_are_discarded_with_a_reason(browse, world):
    many_dead_letters(world, 12)
    page = browse(world.owner)
    page.goto("/dead-letters")
    boxes = page.locator("input[data-pick]")
    bar = page.locator("[data-selection]")
    expect(bar).to_be_hidden()
    boxes.nth(2).press("Space")
    boxes.nth(5).click(modifiers=["Shift"])
    expect(bar.locator("[data-picked-count]")).to_have_text("4")
    bar.get_by_role("button", name="Discard…").click()
    expect(page.get_by_role("heading", name="4 will be archived")).to_be_visible()
    page.get_by_label("Why?").fill("Nobody needs it")
    page.get_by_role("button", name="Discard 4 cards").click()
    expect(page.locator("#progress")).to_contain_text("Finished")
    page.goto("/dead-letters")
    expect(letters(page)).to_have_count(8)


def test_progress_is_watched_live_and_can_be_stopped(browse, world, monkeypatch):
    monkeypatch.setattr(actions, "AT_ONCE", 0)
    many_dead_letters(world, 40)
    selection = Selection(wanted=LetterFilter())
    begun = actions.start(world.owner, Doing("retry"), selection).action
    page = browse(world.owner)
    page.goto(f"/dead-letters/actions/{begun.id}")
    expect(page.locator("#progress")).to_contain_text("0 / 40")
    running.run_chunk(begun.id, size=10)
    expect(page.locator("#progress")).to_contain_text("10 / 40", timeout=30_000)
    page.reload()
    expect(page.locator("progress")).to_have_attribute("value", "10")
    page.get_by_role("button", name="Stop").click()
    expect(page.locator("#progress")).to_contain_text("Stopped")
    assert running.run_chunk(begun.id) == 0
    expect(page.locator("#progress")).to_contain_text("Left alone")


@pytest.mark.parametrize(
    "look",
    [{}, {"dark": True}, {"phone": True}, {"phone": True, "dark": True}],
    ids=str,
)
def test_pages_are_for_everybody(browse, world, look):
    page = browse(world.owner, **look)
    page.goto("/dead-letters")
    assert violations(page) == [], "empty"
    cards = [
        a_dead_letter(world, title, title=title, labels=["a"], payload={"t": title})
        for title in (LONG, RTL, NASTY)
    ]
    chosen = f"card={cards[0]}&card={cards[1]}"
    action = actions.start(
        world.owner, Doing("discard", reason=LONG), Selection(card_ids=cards[2:])
    ).action
    for path in (
        "/dead-letters",
        "/dead-letters?group=none+such",
        f"/dead-letters/check?do=retry&{chosen}",
        f"/dead-letters/check?do=move&{chosen}&to={world.done}",
        "/dead-letters/check?do=discard&all=1",
        f"/dead-letters/{cards[0]}/edit",
        f"/dead-letters/actions/{action.id}",
    ):
        page.goto(path)
        page.evaluate(
            "document.querySelectorAll('main details').forEach(d => d.open = true)"
        )
        assert violations(page) == [], path
        assert not too_wide(page), path
        expect(page.locator("img")).to_have_count(0)
        assert page.title() != "gone"
