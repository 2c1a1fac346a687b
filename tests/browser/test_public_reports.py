"""Public reports about live boards and pages left open, tried on Novum.

Each test names the thread it comes from (github.com/<repository>/issues/<number>);
symptoms in our own words.
"""

import json
import re
from time import monotonic

import pytest
from playwright.sync_api import expect

from boards.models import Card
from boards.reads import card as read_card
from boards.verbs.cards import archive_card
from leases.verbs.complete import complete
from leases.verbs.give_back import fail
from tests.browser.conftest import sign_in, sign_out
from tests.browser.test_board_live import XSS, card_of, cards_in, open_board
from tests.browser.test_moving import carry_to, drag, order, pick_up, press
from tests.builders import card_row, make_due, receipt

ROUNDS = 10
DRAFT = "Thought of just now"
NASTY = [
    *XSS,
    "</div></main><!-- <textarea>",
    "<svg onload=\"console.error('hit')\"><a href='javascript:console.error(1)'>x</a>",
]
# What a page that was away may take to be right again.
RIGHT_AFTER_SECONDS = 30


def expect_board(page, world):
    """Soon the page shows what the server has, each card once."""
    columns = (world.queue, world.done, world.failed)
    deadline = monotonic() + RIGHT_AFTER_SECONDS
    while not all(is_right(page, world, column) for column in columns):
        assert monotonic() < deadline, [order(page, column) for column in columns]
        page.wait_for_timeout(50)


def is_right(page, world, column):
    return order(page, column) == [str(one) for one in world.shown(column)]


def freeze(page, state):
    """As the browser does with tabs that nobody looks at: no timer, no frame read."""
    page.context.new_cdp_session(page).send(
        "Page.setWebLifecycleState", {"state": state}
    )


def test_two_pages_drag_one_card_to_different_places_and_agree(browse, world):
    """waffleio/waffle.io#1304: the card stood there twice afterwards."""
    browse.allow("412")
    card = world.add("Wanted")
    pages = [open_board(browse(world.owner), world) for _ in range(2)]
    for _ in range(ROUNDS):
        here = card_row(card).column_id
        columns = (world.queue, world.done, world.failed)
        targets = [one for one in columns if one != here]
        drag_at_once(pages, card, targets)
        # The loser is told where the winner has put it.
        while not any(page.get_by_text("It's in").count() for page in pages):
            pages[0].wait_for_timeout(50)
        assert card_row(card).column_id in targets
        for page in pages:
            expect_board(page, world)
            expect(card_of(page, card)).to_have_count(1)
            open_board(page, world)


def drag_at_once(pages, card, targets):
    for page in pages:
        pick_up(page, card)
    for page, target in zip(pages, targets, strict=True):
        carry_to(page, page.locator(f'[data-cards="{target}"]'))
    for page in pages:
        page.mouse.up()
    for page in pages:
        expect(page.locator("body[data-dragging]")).to_have_count(0)


def test_a_second_drag_before_the_first_is_saved_loses_neither(browse, world):
    """kanboard/kanboard#1429: the second drag was forgotten."""
    first, second, _ = (world.add(f"Card {n}") for n in range(3))
    page = open_board(browse(world.owner), world)
    waiting = []
    page.route("**/move", lambda route: waiting.append(route), times=1)
    target = page.locator(f'[data-cards="{world.failed}"]')
    pick_up(page, first)
    carry_to(page, target)
    with page.expect_request("**/move"):
        page.mouse.up()
    press(page, card_of(page, second))
    carry_to(page, target)
    page.mouse.up()
    waiting[0].continue_()
    expect(cards_in(page, world.failed)).to_have_count(2)
    expect_board(page, world)
    assert {card_row(one).column_id for one in (first, second)} == {world.failed}


def test_enter_pressed_twice_makes_one_card(browse, world):
    """planka/planka#340: repeated submits made many cards."""
    page = open_board(browse(world.owner), world)
    column = page.locator(f'[data-column="{world.queue}"]')
    column.get_by_text("Add a card").click()
    field = column.get_by_role("textbox", name="Title of the new card")
    field.fill("Only once")
    for _ in range(3):
        page.keyboard.press("Enter")
    expect(cards_in(page, world.queue)).to_have_count(1)
    expect_board(page, world)
    assert Card.objects.filter(board_id=world.board).count() == 1


def test_a_frozen_tab_is_right_soon_after_it_wakes(browse, world):
    """waffleio/waffle.io#2425: after sleep the page stayed as it had been."""
    gone = world.add("Gone")
    page = open_board(browse(world.owner), world)
    freeze(page, "frozen")
    for number in range(50):
        world.add(f"While asleep {number}")
    archive_card(world.owner, card_id=gone)
    complete(world.worker, **receipt(world.claim()))
    freeze(page, "active")
    expect_board(page, world)


def test_a_tab_whose_network_slept_is_right_soon_after_it_is_looked_at(browse, world):
    """waffleio/waffle.io#2425, the socket being dead without anybody having said so."""
    browse.allow("WebSocket connection", "ERR_INTERNET_DISCONNECTED")
    gone = world.add("Gone")
    page = open_board(browse(world.owner), world)
    page.context.set_offline(True)
    archive_card(world.owner, card_id=gone)
    world.add("While asleep")
    page.context.set_offline(False)
    page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    expect_board(page, world)


def test_a_page_that_comes_back_from_the_browsers_memory_is_right(browse, world):
    """waffleio/waffle.io#2425: the back button showed the board of an hour ago."""
    gone = world.add("Gone")
    page = open_board(browse(world.owner), world)
    page.goto("/profile")
    archive_card(world.owner, card_id=gone)
    world.add("While away")
    page.go_back()
    expect_board(page, world)
    world.add("And live again")
    expect_board(page, world)


def test_a_restarted_live_process_is_found_again(browse, world, product):
    """django/channels#1206: sockets stayed dead until somebody pressed F5."""
    browse.allow("WebSocket connection")
    page = open_board(browse(world.owner), world)
    live = product.children["live"]
    live.process.kill()
    product.family.bury(live)
    world.add("While it was down")
    # Meanwhile it asks, and says so.
    expect(page.locator("[data-live-notice]")).to_contain_text("every 3 s")
    expect_board(page, world)
    product.family.start(live)
    product.wait_for(live)
    expect(page.locator("[data-live-notice]")).to_be_hidden(timeout=60_000)
    world.add("And live again")
    expect_board(page, world)


def a_click(page, world, what):
    """Something that asks the server."""
    column = page.locator(f'[data-column="{world.queue}"]')
    if what == "open a card":
        column.locator("[data-card-link]").first.click()
    elif what == "add a card":
        column.get_by_text("Add a card").click()
        column.get_by_role("textbox", name="Title of the new card").fill(DRAFT)
        page.keyboard.press("Enter")
    else:
        page.locator(f'[data-column="{world.failed}"]').get_by_role(
            "button", name="Retry"
        ).click()


@pytest.mark.parametrize("what", ["open a card", "add a card", "retry"])
def test_a_click_after_the_session_ended_leads_to_a_whole_sign_in_page(
    browse, world, what
):
    """adamchainz/django-htmx#91: the sign-in page was put inside the page, and what
    had been clicked was lost without a word."""
    browse.allow("401")
    failed = world.add()
    world.fail_card(requeue=False)
    world.add()
    page = browse(world.owner)
    # Silent, or it would have told long before the click.
    page.route_web_socket("**/live/**", lambda socket: None)
    page.goto(f"/boards/{world.board}")
    sign_out(page.context)
    a_click(page, world, what)
    expect(page).to_have_url(re.compile(r"/sign-in\?next="))
    expect(page.get_by_role("button", name="Sign in")).to_have_count(1)
    expect(page.locator("[data-column], #sheet")).to_have_count(0)
    assert card_row(failed).state == Card.State.FAILED
    sign_in(page.context, world.owner)
    page.goto(f"/boards/{world.board}")
    if what == "add a card":
        page.locator(f'[data-column="{world.queue}"]').get_by_text("Add a card").click()
        field = page.get_by_role("textbox", name="Title of the new card").first
        expect(field).to_have_value(DRAFT)


def test_signing_out_and_in_in_another_tab_hurts_no_open_page(browse, world):
    """HyphaApp/hypha#4530: the page of before could do nothing any more."""
    card = world.add()
    page = open_board(browse(world.owner), world)
    sign_out(page.context)
    sign_in(page.context, world.owner)
    drag(page, card, page.locator(f'[data-cards="{world.failed}"]'))
    expect(card_of(page, card)).to_have_count(1)
    expect_board(page, world)
    assert card_row(card).column_id == world.failed


def test_whatever_an_agent_or_a_person_writes_stays_text(browse, world):
    """NousResearch/hermes-agent#31934: what an agent had said ran as HTML in the page;
    wekan/wekan#2655: a tag that nobody closed left the board empty."""
    page = browse(world.owner)
    for text in NASTY:
        world.column(text[:100])
        world.set(max_attempts=len(NASTY) + 1, backoff_seconds=[0])
        card = world.add(text, priority=1, properties={text: text}, payload={text: 1})
        fail(world.worker, **receipt(world.claim()), reason=text)
        make_due(card)
        held = world.claim()
        assert held.card.id == card
        complete(world.worker, **receipt(held), output={text: text})
        open_board(page, world)
        names = page.locator("[data-column] h2")
        expect(names.filter(has_text=text[:100]).first).to_be_visible()
        card_of(page, card).locator("[data-card-link]").click()
        sheet = page.locator("#drawer #sheet")
        expect(sheet.locator("#sheet-part-output pre")).to_contain_text(
            as_in_json(text)
        )
        expect(sheet.locator("#sheet-properties")).to_have_value(
            re.compile(re.escape(as_in_json(text)))
        )
        expect(sheet.locator(".attempt-reason")).to_have_text(text)
        assert page.locator("img, [hx-get*=admin], a[href^=javascript]").count() == 0
        stored = read_card(world.owner, card_id=card)
        assert (stored.title, stored.properties) == (text, {text: text})


def as_in_json(text):
    return json.dumps(text, ensure_ascii=False)
