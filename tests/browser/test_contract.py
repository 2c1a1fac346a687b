"""The contract editor and the column's settings in a real browser."""

import pytest
from playwright.sync_api import expect

from leases.reads import contract
from tests.browser.conftest import violations


def column_url(world, rest):
    return f"/boards/{world.board}/columns/{world.queue}{rest}"


def test_the_picture_follows_the_typing_and_the_cards_are_tried(world, browse):
    world.add("Good", payload={"file": "q3.csv"})
    world.add("Bad", payload={})
    page = browse(world.owner)
    page.goto(column_url(world, "/contract"))
    page.locator("#id_backoff").fill("45s, 5m")
    expect(page.locator("#backoff")).to_contain_text("45s")
    page.locator("#id_input_schema").fill("{")
    expect(page.locator("[data-json-problem='input_schema']")).to_be_visible()
    page.locator("#id_input_schema").fill(
        '{"properties": {"payload": {"required": ["file"]}}}'
    )
    page.get_by_role("button", name="Try it on the cards here").click()
    expect(page.locator("#trial-input_schema")).to_contain_text("1 of 2 would not fit")
    page.get_by_role("button", name="Save contract").click()
    expect(page.get_by_text("Contract saved.")).to_be_visible()
    kept = contract(world.owner, board_id=world.board, column_id=world.queue)
    assert kept.backoff_seconds == [45, 300]


def test_a_queue_is_paused_with_a_reason_and_the_board_says_so(world, browse):
    page = browse(world.owner)
    page.goto(f"/boards/{world.board}")
    head = page.locator(f"[data-head='{world.queue}']")
    head.locator(".column-menu summary").click()
    head.locator("[name='reason']").fill("Prices are wrong")
    head.get_by_role("button", name="Pause").click()
    expect(head.locator(".column-paused")).to_contain_text("Prices are wrong")


def test_a_folded_column_keeps_its_count_and_unfolds(world, browse):
    world.add_many(3)
    page = browse(world.owner)
    page.goto(f"/boards/{world.board}")
    column = page.locator(f"[data-column='{world.queue}']")
    column.locator(".column-menu summary").click()
    column.locator("[data-fold]").click()
    expect(column.locator("[data-count]")).to_have_text("3")
    assert column.bounding_box()["width"] < 60
    page.reload()
    expect(column).to_have_class("column is-folded")
    column.click()
    expect(column.locator(".card").first).to_be_visible()


@pytest.mark.parametrize("look", [{}, {"dark": True}, {"phone": True}])
def test_nothing_is_wrong_with_them_for_a_screen_reader(world, browse, look):
    world.add("A card", payload={})
    page = browse(world.owner, **look)
    page.goto(column_url(world, "/contract"))
    page.locator("#id_input_schema").fill('{"required": ["nothing"]}')
    page.get_by_role("button", name="Try it on the cards here").click()
    expect(page.locator("#trial-input_schema")).to_contain_text("would not fit")
    assert violations(page) == []
    for rest in (column_url(world, "/settings"), f"/boards/{world.board}/settings"):
        page.goto(rest)
        assert violations(page) == []
