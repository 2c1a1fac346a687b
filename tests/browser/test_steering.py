"""Why nobody takes a card, and calling it off, in a real browser."""

import re

import pytest
from playwright.sync_api import expect

from boards.reads import card as read_card
from boards.verbs.cards import edit_card
from leases.errors import LeaseLost
from leases.verbs.cancel import request_cancel
from leases.verbs.renew import renew
from tests.browser.conftest import violations
from tests.browser.test_drawer import card_url, opened
from tests.builders import receipt

LOOKS = [{}, {"dark": True}, {"phone": True}, {"phone": True, "dark": True}]


@pytest.mark.parametrize("look", LOOKS)
def test_why_nobody_takes_it_is_told_on_demand_and_follows_the_card(
    world, browse, look
):
    card = world.add("A card", skills=["german"])
    page = browse(world.owner, **look)
    opened(page, world, card)
    expect(page.locator(".why")).to_have_count(0)
    page.locator("#sheet-why").focus()
    page.keyboard.press("Enter")
    rule = page.locator(".why [data-rule='skills']")
    expect(rule).to_contain_text("No agent here has them.")
    expect(page.locator("#sheet-why")).to_be_focused()
    assert violations(page) == []
    edit_card(world.owner, card_id=card, skills=[])
    expect(page.locator(".why")).to_contain_text("next in line")
    expect(rule).to_have_count(0)
    page.locator("#sheet-why").click()
    expect(page.locator(".why")).to_have_count(0)
    expect(page.locator("#sheet-why")).to_have_attribute("aria-expanded", "false")


def test_an_answer_that_comes_late_takes_nothing_off_the_sheet(world, browse):
    card = world.add("A card")
    page = browse(world.owner)
    opened(page, world, card)
    waiting = []
    url = re.compile(re.escape(card_url(world, card)) + "$")
    page.route(url, lambda route: waiting.append(route), times=1)
    with page.expect_request(url):
        edit_card(world.owner, card_id=card, title="Another title")
    page.locator("#sheet-why").click()
    expect(page.locator(".why")).to_contain_text("next in line")
    with page.expect_response(url) as late:
        waiting[0].continue_()
    late.value.finished()
    # A moment in which the page could put it in.
    page.evaluate("() => new Promise((done) => setTimeout(done, 100))")
    expect(page.locator(".why")).to_contain_text("next in line")


@pytest.mark.parametrize("look", LOOKS)
def test_calling_off_asks_names_the_holder_and_shows_how_it_ends(world, browse, look):
    card = world.add("A card")
    held = world.claim()
    page = browse(world.owner, **look)
    opened(page, world, card)
    part = page.locator("#sheet-part-off")
    part.locator("summary").click()
    expect(part).to_contain_text(f"@{world.worker.handle} is working on it")
    assert violations(page) == []
    part.locator("#call-off-reason").fill("No longer needed")
    part.get_by_role("button", name="to stop").click()
    expect(part.locator(".notice")).to_contain_text("is asked to stop")
    expect(page.locator(f"#card-{card}")).to_contain_text("Asked to stop")
    assert violations(page) == []
    renew(world.worker, **receipt(held))
    with pytest.raises(LeaseLost):
        renew(world.worker, **receipt(held))
    expect(part.locator(".notice")).to_contain_text("Called off by")
    expect(part).to_contain_text("No longer needed")
    expect(page.locator("#sheet-head")).to_contain_text("Called off")
    expect(page.locator(f"#card-{card}")).to_contain_text("Called off")
    assert violations(page) == []


def test_the_head_of_a_card_that_was_called_off_fits_on_any_phone(world, browse):
    card = world.add("A card")
    request_cancel(world.owner, card_id=card)
    page = browse(world.owner, phone=True)
    page.goto(card_url(world, card))
    for width in (320, 360, 390):
        page.set_viewport_size({"width": width, "height": 700})
        close = page.locator("#sheet [data-close]").bounding_box()
        assert close["x"] + close["width"] <= width, width
        expect(page.get_by_role("button", name="Retry")).to_be_visible()


def test_without_scripts_it_is_explained_and_called_off_by_forms(world, browse):
    card = world.add("A card")
    page = browse(world.owner, java_script_enabled=False)
    page.goto(card_url(world, card))
    page.locator("#sheet-why").click()
    expect(page.locator(".why")).to_contain_text("next in line")
    page.locator("#sheet-why").click()
    expect(page).to_have_url(re.compile(card_url(world, card) + "#"))
    expect(page.locator(".why")).to_have_count(0)
    page.locator("#sheet-part-off summary").click()
    page.locator("#call-off-reason").fill("Not needed")
    page.get_by_role("button", name="Call it off").click()
    expect(page.locator("#sheet-part-off .notice")).to_contain_text("Not needed")
    assert read_card(world.owner, card_id=card).cancelled_at
