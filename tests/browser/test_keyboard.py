"""The board by keyboard alone."""

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import violations
from tests.browser.test_moving import board_page, card_in, order
from tests.builders import card_row


@pytest.fixture
def wall_column(world):
    return world.column("Review")


def focused_card(page):
    return page.evaluate("document.activeElement.closest('[data-card]')?.dataset.card")


def test_arrows_and_letters_walk_between_cards(browse, world):
    a, b = world.add("a"), world.add("b")
    c = world.add("c", column=world.failed)
    page = board_page(browse(world.owner), world)
    for key, card in (
        ("j", a), ("ArrowDown", b), ("k", a), ("ArrowUp", a), ("l", c), ("h", a),
        ("j", b), ("ArrowRight", c), ("ArrowLeft", a),
    ):  # fmt: skip
        page.keyboard.press(key)
        assert focused_card(page) == str(card), key
    assert violations(page) == []


def test_folded_columns_are_passed_over(browse, world):
    card, other = world.add("a"), world.add("b", column=world.failed)
    page = browse(world.owner)
    page.add_init_script(f"localStorage.setItem('novum-folded', '[\"{world.done}\"]')")
    board_page(page, world)
    page.keyboard.press("j")
    page.keyboard.press("l")
    assert focused_card(page) == str(other)
    page.keyboard.press("h")
    page.keyboard.press("Space")
    page.keyboard.press("ArrowRight")
    expect(card_in(page, world.failed, card)).to_have_count(1)


def test_a_card_is_lifted_carried_dropped_and_each_step_said(
    browse, world, wall_column
):
    card, other = world.add("Idea"), world.add("Other")
    page = board_page(browse(world.owner), world)
    said = page.locator("#announcer")
    page.keyboard.press("j")
    page.keyboard.press("Space")
    expect(said).to_contain_text("“Idea” lifted, 1 of 2 in Drafting")
    page.keyboard.press("ArrowDown")
    expect(said).to_have_text("2 of 2 in Drafting.")
    assert order(page, world.queue) == [str(other), str(card)]
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    expect(said).to_have_text("1 of 1 in Review.")
    page.keyboard.press("Space")
    expect(said).to_have_text("“Idea” dropped in Review, 1 of 1.")
    assert focused_card(page) == str(card)
    assert card_row(card).column_id == wall_column
    page.keyboard.press("u")
    expect(card_in(page, world.queue, card)).to_have_count(1)


def test_escape_puts_a_lifted_card_back(browse, world):
    card, other = world.add("Idea"), world.add("Other")
    page = board_page(browse(world.owner), world)
    page.keyboard.press("j")
    page.keyboard.press("Space")
    page.keyboard.press("ArrowRight")
    expect(card_in(page, world.done, card)).to_have_count(1)
    page.keyboard.press("Escape")
    assert order(page, world.queue) == [str(card), str(other)]
    expect(page.locator("#announcer")).to_have_text(
        "“Idea” is back in Drafting, 1 of 2."
    )
    expect(page.locator("body[data-dragging]")).to_have_count(0)
    assert card_row(card).version == 1


def test_m_moves_by_menu_and_n_adds_in_the_cards_column(browse, world, wall_column):
    card = world.add("Idea")
    page = board_page(browse(world.owner), world)
    page.keyboard.press("j")
    page.keyboard.press("m")
    page.get_by_role("button", name="To the bottom of Review").press("Enter")
    expect(card_in(page, wall_column, card)).to_have_count(1)
    expect(page.locator("dialog")).to_have_count(1)
    # The push may have come before the answer, which brings the focus along.
    expect(page.locator(f'[data-card="{card}"]:focus-within')).to_have_count(1)
    page.keyboard.press("n")
    field = page.locator(f'[data-column="{wall_column}"] [name="title"]')
    expect(field).to_be_focused()
    page.keyboard.type("jmn? text")
    expect(field).to_have_value("jmn? text")
    page.keyboard.press("Enter")
    expect(page.locator(f'[data-cards="{wall_column}"] .card-title')).to_have_text(
        ["Idea", "jmn? text"]
    )


def test_the_question_mark_lists_the_keys(browse, world):
    page = board_page(browse(world.owner), world)
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keyboard")).to_be_visible()
    assert violations(page) == []
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog", name="Keyboard")).to_be_hidden()
    page.keyboard.press("/")
    expect(page.get_by_role("searchbox").first).to_be_focused()
