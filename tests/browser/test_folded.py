"""A folded column is still a place to drop a card on."""

from playwright.sync_api import expect

from tests.builders import card_row


def test_a_card_can_be_dropped_on_a_folded_column(world, browse):
    card = world.add("A card", column=world.done)
    world.add_many(60)
    page = browse(world.owner)
    page.goto(f"/boards/{world.board}")
    column = page.locator(f"[data-column='{world.queue}']")
    column.locator(".column-menu summary").click()
    column.locator("[data-fold]").click()
    expect(column).to_have_class("column is-folded")
    start = page.locator(f"#card-{card} .card-foot").bounding_box()
    end = column.bounding_box()
    page.mouse.move(start["x"] + 30, start["y"] + 8)
    page.mouse.down()
    page.mouse.move(start["x"] + 40, start["y"] + 20, steps=4)
    page.mouse.move(end["x"] + 24, end["y"] + 200, steps=12)
    page.mouse.up()
    expect(column.locator("[data-count]")).to_have_text("61")
    assert card_row(card).column_id == world.queue
    # What is out of sight isn't read on and on.
    assert column.locator(".card").count() <= 51
