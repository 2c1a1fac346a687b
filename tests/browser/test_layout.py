"""Columns come, go and change on every open page, which asks the server for nothing."""

import re
from contextlib import contextmanager

import pytest
from playwright.sync_api import expect

from accounts.roles import BoardRole, WorkspaceRole
from boards.verbs.boards import archive_board, edit_board, restore_board
from boards.verbs.cards import edit_card
from boards.verbs.columns import delete_column, edit_column, move_column
from boards.verbs.places import Place
from leases.verbs.complete import complete
from tests.browser.conftest import is_icon
from tests.browser.test_board_live import (
    card_of,
    cards_in,
    chip_of,
    count_of,
    open_board,
)
from tests.builders import a_person, receipt


def names(page):
    return page.locator("[data-column] h2")


def column_of(page, column):
    return page.locator(f'[data-column="{column}"]')


@contextmanager
def requests_of(page):
    """What the page asks of the server meanwhile, without the socket."""
    asked = []

    def hear(request):
        if not is_icon(request.url):
            asked.append(request.url)

    page.on("request", hear)
    yield asked
    # What was to follow from the last change has had its time.
    page.wait_for_timeout(700)


def test_columns_are_renamed_moved_coloured_added_and_deleted(browse, world):
    world.add("Stays")
    page = open_board(browse(world.owner), world)
    with requests_of(page) as asked:
        edit_column(
            world.owner,
            board_id=world.board,
            column_id=world.queue,
            name="Writing & <b>",
            color="teal",
            wip_limit=1,
        )
        expect(names(page)).to_have_text(["Writing & <b>", "Done", "Needs attention"])
        expect(column_of(page, world.queue)).to_have_attribute("data-color", "teal")
        expect(count_of(page, world.queue)).to_contain_text("1 / 1")
        move_column(
            world.owner,
            board_id=world.board,
            column_id=world.queue,
            place=Place(end="bottom"),
        )
        expect(names(page)).to_have_text(["Done", "Needs attention", "Writing & <b>"])
        later = world.column("Later")
        expect(names(page).last).to_have_text("Later")
        expect(column_of(page, later).locator("[data-quick-add]")).to_be_visible()
        delete_column(world.owner, board_id=world.board, column_id=world.done)
        expect(names(page)).to_have_text(["Needs attention", "Writing & <b>", "Later"])
        edit_board(world.owner, board_id=world.board, name="Another name")
        expect(page).to_have_title("Another name · Novum")
        expect(cards_in(page, world.queue)).to_contain_text(["Stays"])
    assert asked == []


def test_a_column_that_becomes_a_queue_shows_its_cards_as_jobs(browse, world):
    world.set(enabled=False)
    cards = [world.add("One"), world.add("Two")]
    page = open_board(browse(world.owner), world)
    expect(card_of(page, cards[0])).not_to_contain_text("Open")
    with requests_of(page) as asked:
        world.set(enabled=True, queue="work")
        for card in cards:
            expect(card_of(page, card)).to_have_attribute("data-shade", "open")
        expect(column_of(page, world.queue)).to_contain_text("work")
    assert asked == []


def test_new_cards_and_claims_work_in_a_column_that_was_pushed(browse, world):
    page = open_board(browse(world.owner), world)
    later = world.column("Later")
    column = column_of(page, later)
    column.get_by_text("Add a card").click()
    column.get_by_role("textbox", name="Title of the new card").fill("First")
    page.keyboard.press("Enter")
    expect(cards_in(page, later)).to_contain_text(["First"])
    column.locator(".column-menu summary").click()
    expect(column.get_by_role("link", name="Job contract")).to_be_visible()


def test_those_who_only_look_on_get_no_way_to_add(browse, world):
    edit_board(world.owner, board_id=world.board, default_role=BoardRole.VIEWER)
    member = a_person(world.workspace, WorkspaceRole.MEMBER)
    page = open_board(browse(member), world)
    world.column("Later")
    expect(names(page).last).to_have_text("Later")
    expect(page.locator("[data-quick-add]:visible")).to_have_count(0)
    expect(page.locator("#columns[data-may-edit]")).to_have_count(0)


def test_a_page_follows_what_its_person_may_do(browse, world):
    member = a_person(world.workspace, WorkspaceRole.MEMBER)
    page = open_board(browse(member), world)
    expect(page.get_by_text("Add a card").first).to_be_visible()
    edit_board(world.owner, board_id=world.board, default_role=BoardRole.VIEWER)
    expect(page.get_by_text("Add a card")).to_have_count(0)
    edit_board(world.owner, board_id=world.board, default_role=BoardRole.EDITOR)
    expect(page.get_by_text("Add a card").first).to_be_visible()


def test_a_board_put_away_takes_no_changes_on_any_page(browse, world):
    page = open_board(browse(world.owner), world)
    archive_board(world.owner, board_id=world.board)
    expect(page.locator(".filter-state")).to_contain_text("archived")
    expect(page.locator("[data-quick-add]:visible")).to_have_count(0)
    restore_board(world.owner, board_id=world.board)
    expect(page.locator("[data-quick-add]:visible")).to_have_count(3)


def test_counts_that_change_leave_an_open_menu_and_its_text_alone(browse, world):
    page = open_board(browse(world.owner), world)
    head = page.locator(f'[data-head="{world.queue}"]')
    head.locator(".column-menu summary").click()
    reason = head.locator("[name='reason']")
    reason.fill("Prices are wr")
    world.add_many(3)
    expect(count_of(page, world.queue)).to_have_text("3")
    world.claim()
    expect(head).to_contain_text("1 working")
    expect(reason).to_be_focused()
    page.keyboard.type("ong")
    page.keyboard.press("Enter")
    expect(head.locator(".column-paused")).to_contain_text("Prices are wrong")
    head.locator(".column-menu summary").click()
    expect(head.get_by_role("button", name="Resume")).to_be_visible()


def scrolled_to(page, column):
    return page.locator(f'[data-cards="{column}"]').evaluate("one => one.scrollTop")


def test_a_moved_column_stays_where_it_was_scrolled_to(browse, world):
    world.add_many(40)
    page = open_board(browse(world.owner), world)
    page.locator(f'[data-cards="{world.queue}"]').evaluate("one => one.scrollTop = 300")
    move_column(
        world.owner,
        board_id=world.board,
        column_id=world.queue,
        place=Place(end="bottom"),
    )
    expect(names(page).last).to_have_text("Drafting")
    assert scrolled_to(page, world.queue) == 300


def test_changes_are_pushed_and_the_page_asks_for_none_of_them(browse, world):
    cards = world.add_many(30)
    page = open_board(browse(world.owner), world)
    with requests_of(page) as asked:
        for card in cards:
            edit_card(world.owner, card_id=card, title="Changed")
        for _ in range(10):
            complete(world.worker, **receipt(world.claim()))
        held = world.claim()
        expect(cards_in(page, world.done)).to_have_count(10)
        expect(chip_of(page, held)).to_be_visible()
        expect(page.locator(".card-title", has_text="Changed")).to_have_count(30)
    assert asked == []


@pytest.mark.parametrize("look", ["filtered", "with a card open"])
def test_where_only_the_server_knows_it_is_asked_once_for_many_changes(
    browse, world, look
):
    cards = world.add_many(30)
    frames = []
    page = browse(world.owner)
    page.on("websocket", lambda ws: ws.on("framereceived", lambda f: frames.append(f)))
    open_board(page, world, "?state=open" if look == "filtered" else "")
    if look != "filtered":
        card_of(page, cards[0]).locator("[data-card-link]").click()
        expect(page.locator("#drawer #sheet")).to_be_visible()
    before = len(frames)
    with requests_of(page) as asked:
        for turn in range(3):
            for card in cards:
                edit_card(world.owner, card_id=card, priority=2 if turn % 2 else 4)
        complete(world.worker, **receipt(world.claim()))
        expect(count_of(page, world.done)).to_have_text(re.compile(r"[01]"))
        while not any("/static/" not in url for url in asked):
            page.wait_for_timeout(50)
        page.wait_for_timeout(500)
    asked = [url for url in asked if "/static/" not in url]
    assert 1 <= len(asked) <= len(frames) - before, asked
