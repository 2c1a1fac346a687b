"""Cards moved, added and found by mouse, finger and menu."""

from time import time

import pytest
from playwright.sync_api import expect

from accounts.roles import BoardRole, WorkspaceRole
from boards.models import Card
from boards.verbs.boards import set_board_member
from boards.verbs.moving import move_card
from tests.browser.conftest import violations
from tests.builders import a_person, card_row, lease_row


def board_page(page, world):
    page.goto(f"/boards/{world.board}")
    return page


def card_in(page, column, card):
    return page.locator(f'[data-cards="{column}"] > [data-card="{card}"]')


def order(page, column):
    return page.locator(f'[data-cards="{column}"] > [data-card]').evaluate_all(
        "cards => cards.map((card) => card.dataset.card)"
    )


def middle(locator):
    box = locator.bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def press(page, card):
    """Holds it, as soon as it lies still."""
    card.hover()
    page.mouse.down()
    x, y = middle(card)
    page.mouse.move(x + 10, y + 10, steps=3)


def pick_up(page, card):
    press(page, page.locator(f'[data-card="{card}"]').first)
    expect(page.locator("body[data-dragging]")).to_have_count(1)


def carry_to(page, locator):
    x, y = middle(locator)
    page.mouse.move(x, y, steps=12)
    page.mouse.move(x, y + 2)
    is_looked_at(page)


def is_looked_at(page):
    """Sortable looks every 50 ms where the pointer is, and drops a card where it last
    saw it. A page's timers run in the order in which they're due, whenever that is."""
    page.evaluate("() => new Promise((done) => setTimeout(done, 60))")


def drag(page, card, locator):
    pick_up(page, card)
    carry_to(page, locator)
    page.mouse.up()
    expect(page.locator("body[data-dragging]")).to_have_count(0)


@pytest.fixture
def wall_column(world):
    return world.column("Review")


def test_a_card_dragged_to_another_column_stays_there_and_comes_back(
    browse, world, wall_column
):
    _, card, _ = (world.add(f"Card {i}") for i in range(3))
    before = world.shown()
    page = board_page(browse(world.owner), world)
    drag(page, card, page.locator(f'[data-cards="{wall_column}"]'))
    expect(card_in(page, wall_column, card)).to_have_count(1)
    expect(page.get_by_text("Moved to Review")).to_be_visible()
    assert card_row(card).column_id == wall_column
    page.get_by_role("button", name="Undo").click()
    expect(card_in(page, world.queue, card)).to_have_count(1)
    assert order(page, world.queue) == [str(one) for one in before]
    assert world.shown() == before


def test_a_folded_column_takes_a_dropped_card(browse, world, wall_column):
    card = world.add()
    page = browse(world.owner)
    page.add_init_script(f"localStorage.setItem('novum-folded', '[\"{wall_column}\"]')")
    board_page(page, world)
    drag(page, card, page.locator(f'[data-column="{wall_column}"]'))
    expect(page.get_by_text("Moved to Review")).to_be_visible()
    assert card_row(card).column_id == wall_column


def test_where_priorities_disagree_the_servers_order_wins_and_says_so(browse, world):
    urgent = world.add("Urgent", priority=1)
    usual, later = world.add("Usual"), world.add("Later")
    page = board_page(browse(world.owner), world)
    drag(page, later, page.locator(f'[data-card="{urgent}"] .card-title'))
    expect(page.get_by_text("higher priority always stand first")).to_be_visible()
    assert order(page, world.queue) == [str(urgent), str(later), str(usual)]
    assert world.shown() == [urgent, later, usual]


def test_escape_lets_go_of_a_dragged_card_where_it_was(browse, world, wall_column):
    cards = [str(world.add(f"Card {i}")) for i in range(3)]
    page = board_page(browse(world.owner), world)
    pick_up(page, cards[1])
    carry_to(page, page.locator(f'[data-cards="{wall_column}"]'))
    expect(card_in(page, wall_column, cards[1])).to_have_count(1)
    page.keyboard.press("Escape")
    expect(page.locator("body[data-dragging]")).to_have_count(0)
    page.mouse.up()
    assert order(page, world.queue) == cards
    assert card_row(cards[1]).version == 1


def test_of_two_who_drag_one_card_the_loser_sees_the_winners_place(
    browse, world, wall_column
):
    browse.allow("412")
    card = world.add()
    page = board_page(browse(world.owner), world)
    pick_up(page, card)
    move_card(world.owner, card_id=card, column_id=world.failed)
    carry_to(page, page.locator(f'[data-cards="{wall_column}"]'))
    page.mouse.up()
    expect(page.get_by_text("It's in Needs attention now")).to_be_visible()
    expect(card_in(page, world.failed, card)).to_have_count(1)
    assert card_row(card).column_id == world.failed


@pytest.mark.parametrize("taken", [False, True])
def test_a_held_card_asks_before_it_is_taken_away(browse, world, wall_column, taken):
    browse.allow("409")
    world.add()
    held = world.claim()
    page = board_page(browse(world.owner), world)
    pick_up(page, held.card.id)
    carry_to(page, page.locator(f'[data-cards="{wall_column}"]'))
    page.mouse.up()
    question = page.get_by_role("dialog")
    expect(question).to_contain_text(f"@{held.lease.holder.handle}")
    assert violations(page) == []
    question.get_by_text("Take it away", exact=True).or_(
        question.get_by_text("Leave it")
    ).nth(1 if taken else 0).click()
    if taken:
        expect(page.get_by_text("Moved to Review")).to_be_visible()
    column, state = (wall_column, "revoked") if taken else (world.queue, "active")
    expect(card_in(page, column, held.card.id)).to_have_count(1)
    expect(page.locator("body[data-dragging]")).to_have_count(0)
    assert card_row(held.card.id).column_id == column
    assert lease_row(held.lease.id).state == state


def test_the_menu_moves_a_card_and_archives_it(browse, world, wall_column):
    card = world.add("Idea")
    page = board_page(browse(world.owner), world)
    shown = page.locator(f'[data-card="{card}"]')
    shown.hover()
    shown.get_by_role("link", name="Move Idea").click()
    assert violations(page) == []
    page.get_by_role("button", name="To the top of Review").click()
    expect(card_in(page, wall_column, card)).to_have_count(1)
    shown.hover()
    shown.get_by_role("link", name="Move Idea").click()
    page.get_by_role("button", name="Archive the card").click()
    expect(shown).to_have_count(0)
    page.get_by_text("Archived “Idea”").locator("..").get_by_role("button").click()
    expect(card_in(page, wall_column, card)).to_have_count(1)
    assert card_row(card).archived_at is None


class Finger:
    def __init__(self, page):
        self.touch = page.context.new_cdp_session(page)

    def _does(self, kind, *points):
        points = [{"x": x, "y": y} for x, y in points]
        self.touch.send(
            "Input.dispatchTouchEvent", {"type": kind, "touchPoints": points}
        )

    def down(self, x, y):
        self._does("touchStart", (x, y))

    def move(self, x, y):
        self._does("touchMove", (x, y))

    def up(self):
        self._does("touchEnd")


def test_a_finger_scrolls_at_once_and_drags_after_a_moment(browse, world):
    first, *_ = world.add_many(30)
    page = browse(world.owner, phone=True)
    page.clock.install()
    board_page(page, world)
    finger, card = Finger(page), page.locator(f'[data-card="{first}"]').first
    x, y = middle(card)
    # However slow the machine is, the finger does not rest.
    page.clock.pause_at(time() + 60)
    finger.down(x, y)
    for step in range(1, 8):
        finger.move(x, y - 12 * step)
        page.clock.run_for(20)
    page.clock.run_for(1000)
    expect(page.locator(".sortable-chosen, body[data-dragging]")).to_have_count(0)
    finger.up()
    page.clock.resume()
    assert card_row(first).version == 1

    card.scroll_into_view_if_needed()
    x, y = middle(card)
    finger.down(x, y)
    expect(page.locator(".sortable-chosen")).to_have_count(1)
    height = card.bounding_box()["height"]
    for step in range(1, 9):
        finger.move(x, y + height * step / 4)
    expect(page.locator("body[data-dragging]")).to_have_count(1)
    is_looked_at(page)
    finger.up()
    expect(page.locator("body[data-dragging]")).to_have_count(0)
    expect(page.get_by_text("Moved within Drafting")).to_be_visible()
    assert world.shown()[0] != first


def test_quick_add_stays_open_and_keeps_order_and_draft(browse, world):
    page = board_page(browse(world.owner), world)
    column = page.locator(f'[data-column="{world.queue}"]')
    column.get_by_text("Add a card").click()
    field = column.get_by_role("textbox", name="Title of the new card")
    for title in ("One", "<b>Two</b>"):
        field.fill(title)
        field.press("Enter")
    expect(column.locator(".card-title")).to_have_text(["One", "<b>Two</b>"])
    expect(field).to_be_focused()
    expect(field).to_have_value("")
    field.press_sequentially("Half a tho")
    field.press("Escape")
    expect(field).to_be_hidden()
    page.reload()
    column.get_by_text("Add a card").click()
    expect(field).to_have_value("Half a tho")


def test_a_new_card_behind_the_loaded_ones_is_told(browse, world):
    world.add_many(51)
    page = board_page(browse(world.owner), world)
    column = page.locator(f'[data-column="{world.queue}"]')
    column.get_by_text("Add a card").click()
    column.get_by_role("textbox", name="Title of the new card").fill("Last")
    page.keyboard.press("Enter")
    expect(page.get_by_text("Added at the end of the column")).to_be_visible()


def test_pasted_lines_become_cards_after_a_question(browse, world):
    page = board_page(browse(world.owner), world)
    column = page.locator(f'[data-column="{world.queue}"]')
    column.get_by_text("Add a card").click()
    field = column.get_by_role("textbox", name="Title of the new card")
    expect(field).to_be_focused()
    field.evaluate(
        """field => {
          const clipboardData = new DataTransfer();
          clipboardData.setData("text", "One\\nTwo\\n\\nThree");
          field.dispatchEvent(
            new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true })
          );
        }"""
    )
    page.get_by_role("button", name="Make 3 cards").click()
    expect(column.locator(".card-title")).to_have_text(["One", "Two", "Three"])
    assert Card.objects.filter(board_id=world.board).count() == 3


def test_everything_works_without_scripts(browse, world, wall_column):
    browse.allow("409")
    page = board_page(browse(world.owner, java_script_enabled=False), world)
    column = page.locator(f'[data-column="{world.queue}"]')
    column.get_by_text("Add a card").click()
    column.get_by_role("textbox", name="Title of the new card").fill("Plain")
    column.get_by_role("button", name="Add").click()
    expect(page.get_by_text("Plain").first).to_be_visible()
    held = world.claim()
    page.goto(f"/boards/{world.board}/cards/{held.card.id}/move")
    page.get_by_role("button", name="To the top of Review").click()
    expect(page.get_by_role("heading", level=2)).to_contain_text("Take it away")
    page.get_by_role("button", name="Take it away").click()
    expect(card_in(page, wall_column, held.card.id)).to_have_count(1)


@pytest.mark.parametrize("dark", [False, True])
def test_the_pages_without_scripts_are_for_everybody(browse, world, dark):
    card = world.add("مراجعة المقالة")
    page = browse(world.owner, dark=dark, phone=dark)
    for path in (f"/boards/{world.board}/cards/{card}/move", "/find?q=مراجعة"):
        page.goto(path)
        assert violations(page) == []


def test_the_palette_finds_a_card_and_opens_it(browse, world):
    card = world.add("Spring newsletter")
    page = board_page(browse(world.owner), world)
    page.keyboard.press("Control+k")
    field = page.get_by_role("combobox", name="Find boards")
    expect(field).to_be_focused()
    options = page.locator("#palette").get_by_role("option")
    expect(options.filter(has_text="New card")).to_be_visible()
    field.fill("newsl")
    expect(options).to_have_count(1)
    assert violations(page) == []
    field.press("Enter")
    expect(page).to_have_url(
        f"{page.url.split('/boards')[0]}/boards/{world.board}/cards/{card}"
    )


def test_the_palette_does_what_the_page_can_do(browse, world):
    page = board_page(browse(world.owner), world)
    page.keyboard.press("Control+k")
    field = page.get_by_role("combobox", name="Find boards")
    field.fill("new card")
    expect(page.locator("#palette").get_by_role("option")).to_have_count(1)
    field.press("Enter")
    expect(page.locator('[data-quick-add] [name="title"]').first).to_be_focused()


def test_somebody_who_may_only_look_drags_nothing(browse, world):
    card = world.add()
    viewer = a_person(world.workspace, WorkspaceRole.MEMBER)
    set_board_member(
        world.owner, board_id=world.board, handle=viewer.handle, role=BoardRole.VIEWER
    )
    page = board_page(browse(viewer), world)
    x, y = middle(page.locator(f'[data-card="{card}"]'))
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 300, y, steps=5)
    page.mouse.up()
    expect(card_in(page, world.queue, card)).to_have_count(1)
    expect(page.get_by_text("Add a card")).to_have_count(0)
    assert card_row(card).version == 1
