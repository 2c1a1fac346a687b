"""The board for everybody: dark, on a phone, without JavaScript, for screen readers."""

from datetime import timedelta

import pytest
from django.utils.timezone import now
from playwright.sync_api import expect

from leases.verbs.complete import complete
from leases.verbs.give_back import fail
from tests.browser.conftest import violations
from tests.browser.test_board_live import open_board
from tests.builders import receipt

RTL = "مراجعة المقال عن البطاقات قبل النشر"
LONG = "Donaudampfschifffahrtsgesellschaftskapitän" * 6


@pytest.fixture
def busy(world):
    """Every state at once, and titles that try the layout."""
    world.set(backoff_seconds=[600])
    for title in ("Broken", "Later", "Being written"):
        world.add(title, priority=1)
    fail(world.worker, **receipt(world.claim()), reason="No file", requeue=False)
    fail(world.worker, **receipt(world.claim()), reason="Busy")
    world.claim()
    world.add(LONG, labels=["a-label", "another"])
    world.add(RTL, due=now() - timedelta(days=2), assignee=world.owner.handle)
    return world


@pytest.mark.parametrize(
    "look", [{}, {"dark": True}, {"phone": True}, {"phone": True, "dark": True}]
)
def test_axe_finds_nothing(browse, busy, look):
    page = browse(busy.owner, **look)
    page.goto(f"/boards/{busy.board}")
    expect(page.locator("[data-lease]")).to_be_visible()
    assert violations(page) == []


def test_axe_finds_nothing_on_an_empty_board_with_its_hints(browse, world):
    page = browse(world.owner)
    page.goto(f"/boards/{world.board}")
    hint = page.locator(f'[data-column="{world.queue}"] .column-empty')
    hint.locator("summary").click()
    expect(hint).to_contain_text(f"{world.queue}:claim-next")
    assert violations(page) == []


def test_only_the_columns_scroll_sideways(browse, busy):
    page = browse(busy.owner, phone=True)
    page.goto(f"/boards/{busy.board}")
    wide = "document.documentElement.scrollWidth > window.innerWidth"
    assert not page.evaluate(wide)
    for card in page.locator("[data-card]").all():
        assert card.evaluate("(card) => card.scrollWidth <= card.clientWidth")


def test_on_a_phone_one_column_fills_the_screen_and_the_switcher_goes_on(browse, busy):
    page = browse(busy.owner, phone=True)
    page.goto(f"/boards/{busy.board}")
    done = page.locator(f'[data-column="{busy.done}"]')
    expect(done).not_to_be_in_viewport(ratio=0.5)
    page.locator(".switcher a").nth(1).click()
    expect(done).to_be_in_viewport(ratio=0.9)


def test_scrolling_brings_more_cards_in_claim_order(browse, world):
    ids = world.add_many(130)
    page = browse(world.owner)
    page.goto(f"/boards/{world.board}")
    cards = page.locator(f'[data-cards="{world.queue}"] > [data-card]')
    expect(cards).to_have_count(50)
    page.locator("[data-more]").scroll_into_view_if_needed()
    expect(cards).to_have_count(100)
    page.locator("[data-more]").scroll_into_view_if_needed()
    expect(cards).to_have_count(130)
    shown = [card.get_attribute("data-card") for card in cards.all()]
    assert shown == [str(one) for one in ids]


def test_without_javascript_the_board_is_read_and_filtered(browse, world):
    world.add("A needle")
    world.add("Hay")
    page = browse(world.owner, java_script_enabled=False)
    page.goto(f"/boards/{world.board}")
    expect(page.locator("[data-card]")).to_have_count(2)
    page.locator("[data-search]").fill("needle")
    page.locator("[data-search]").press("Enter")
    expect(page.locator("[data-card]")).to_have_count(1)
    expect(page.locator(".filter-state")).to_contain_text("1 of 2")
    page.get_by_role("link", name="Clear the filter").click()
    expect(page.locator("[data-card]")).to_have_count(2)


def test_without_javascript_a_failed_card_gets_another_round(browse, world):
    card = world.add("Broken")
    fail(world.worker, **receipt(world.claim()), reason="No file", requeue=False)
    page = browse(world.owner, java_script_enabled=False)
    page.goto(f"/boards/{world.board}")
    page.get_by_role("button", name="Retry").click()
    back = page.locator(f'[data-cards="{world.queue}"] [data-card="{card}"]')
    expect(back).to_have_attribute("data-shade", "open")


FLEW = """
window.flew = 0;
const animate = Element.prototype.animate;
Element.prototype.animate = function (...given) {
  window.flew += 1;
  return animate.apply(this, given);
};
"""


@pytest.mark.parametrize(
    ("motion", "moves"), [("reduce", False), ("no-preference", True)]
)
def test_cards_only_fly_for_those_who_like_it(browse, world, motion, moves):
    world.add("Idea")
    page = browse(world.owner, reduced_motion=motion)
    page.add_init_script(FLEW)
    open_board(page, world)
    held = world.claim()
    complete(world.worker, **receipt(held))
    done = page.locator(f'[data-cards="{world.done}"] [data-card]')
    expect(done).to_have_count(1)
    assert (page.evaluate("window.flew") > 0) == moves
    page.locator(f"#card-{held.card.id} [data-card-link]").click()
    expect(page.locator("#drawer #sheet[data-live]")).to_be_visible()
    lengths = page.evaluate(
        "document.getAnimations().map((one) => one.effect.getTiming().duration)"
    )
    assert moves or not any(lengths)
