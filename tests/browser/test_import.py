"""A table becomes a board in a real browser."""

import pytest
from playwright.sync_api import expect

from boards.models import Board
from tests.browser.conftest import violations
from transfer.shapes import Target
from transfer.verbs.imports import import_content

TABLE = """Task;Status;Due;Notes
Write the guide;Drafting;31.12.2026;"Two
lines"
Find pictures;Drafting;soon;A note
اختبار;Done;;
"""
IS_TOO_WIDE = "document.documentElement.scrollWidth > window.innerWidth"


FILE = {"name": "Spring.csv", "mimeType": "text/csv", "buffer": TABLE.encode()}


def is_fine(page):
    assert violations(page) == []
    assert not page.evaluate(IS_TOO_WIDE)


def look_at_the_file(page):
    page.get_by_label("File", exact=True).set_input_files(FILE)
    is_fine(page)
    page.get_by_role("button", name="Look at the file").click()


@pytest.mark.parametrize(
    "look", [{}, {"phone": True, "dark": True}], ids=["wide", "phone"]
)
def test_from_the_file_to_the_board(browse, world, look):
    page = browse(world.owner, **look)
    page.goto("/")
    page.get_by_role("link", name="Import").first.click()
    look_at_the_file(page)
    told = page.get_by_text("cards would be made")
    expect(told).to_contain_text("2 cards")
    expect(page.get_by_text("Due 'soon' is not a date.")).to_be_visible()
    is_fine(page)
    # A correction is read at once, and stays.
    page.get_by_label("A cell that does not fit").select_option("keep")
    expect(told).to_contain_text("3 cards")
    page.get_by_label("Notes becomes").select_option("property")
    expect(page.get_by_text("2 more").first).to_be_visible()
    expect(page.get_by_label("Notes becomes")).to_have_value("property")
    expect(told).to_contain_text("3 cards")
    page.get_by_role("button", name="Import").click()
    expect(page.get_by_text("Open the board")).to_be_visible()
    is_fine(page)
    page.get_by_role("link", name="Open the board").click()
    expect(page.get_by_role("link", name="Find pictures", exact=True)).to_be_visible()
    board = Board.objects.get(name="Spring", workspace=world.workspace)
    card = board.cards.get(title="Write the guide")
    assert card.properties == {"Notes": "Two\nlines"}


def test_the_same_file_asks_before_it_is_there_twice(browse, world):
    import_content(world.owner, content=TABLE.encode(), target=Target())
    page = browse(world.owner)
    page.goto("/import")
    look_at_the_file(page)
    expect(page.get_by_text("This file was imported")).to_be_visible()
    page.get_by_role("button", name="Import").click()
    expect(page.get_by_label("Import it again")).to_be_focused()
    is_fine(page)
