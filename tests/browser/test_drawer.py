"""The card drawer in a real browser: open, change, keep what is typed, close."""

import re
from datetime import UTC, datetime, timedelta

import pytest
from playwright.sync_api import expect

from boards.history import EVENTS_PER_PAGE
from boards.reads import card as read_card
from boards.reads import comments
from boards.verbs.cards import edit_card
from boards.verbs.comments import add_comment
from tests.browser.conftest import violations

ANNOUNCE = "document.dispatchEvent(new CustomEvent('novum:changed'))"


def board_url(world):
    return f"/boards/{world.board}"


def card_url(world, card):
    return f"{board_url(world)}/cards/{card}"


def opened(page, world, card):
    page.goto(board_url(world))
    page.locator(f"#card-{card} [data-card-link]").click()
    expect(page.locator("#drawer #sheet[data-live]")).to_be_visible()


def test_it_opens_over_the_board_and_back_and_escape_close_it(world, browse):
    card = world.add("Compare three tools")
    page = browse(world.owner)
    opened(page, world, card)
    expect(page).to_have_url(re.compile(card_url(world, card)))
    expect(page.locator("main")).to_have_attribute("inert", "")
    page.keyboard.press("Escape")
    expect(page.locator("#drawer")).to_have_count(0)
    expect(page).to_have_url(re.compile(board_url(world) + "$"))
    expect(page.locator(f"#card-{card} [data-card-link]")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("#drawer #sheet")).to_be_visible()
    page.go_back()
    expect(page.locator("#drawer")).to_have_count(0)
    page.go_forward()
    expect(page.locator("#drawer #sheet")).to_be_visible()


def test_opened_cold_it_is_a_page_and_closing_leads_to_the_board(world, browse):
    card = world.add("Compare three tools")
    page = browse(world.owner)
    page.goto(card_url(world, card))
    expect(page.locator("#drawer")).to_have_count(0)
    page.locator("#sheet [data-close]").click()
    expect(page.locator(f"#card-{card}")).to_be_visible()


def test_the_focus_stays_inside(world, browse):
    card = world.add("Compare three tools")
    page = browse(world.owner)
    opened(page, world, card)
    inside = "document.activeElement === document.body || !!document.activeElement.closest('#drawer, #toasts')"
    for _ in range(30):
        page.keyboard.press("Tab")
        assert page.evaluate(inside)


def test_title_and_facts_are_saved_where_they_stand(world, browse):
    card = world.add("Old title")
    page = browse(world.owner)
    opened(page, world, card)
    page.locator("#sheet-title-field").fill("New title")
    page.keyboard.press("Enter")
    expect(page.locator("#sheet-part-activity")).to_contain_text("changed title")
    page.locator("#sheet-priority").select_option("1")
    expect(page.locator("#sheet-part-activity")).to_contain_text("changed priority")
    page.locator("#sheet-labels").fill("email, shop")
    page.locator("#sheet-labels").blur()
    expect(page.locator("#sheet-part-activity")).to_contain_text("changed labels")
    found = read_card(world.owner, card_id=card)
    assert (found.title, found.priority) == ("New title", 1)
    assert found.labels == ["email", "shop"]


def test_a_draft_outlives_live_updates_a_closed_drawer_and_a_reload(world, browse):
    card = world.add("A card", description="Before")
    page = browse(world.owner)
    opened(page, world, card)
    page.locator("#sheet-description-edit").click()
    page.locator("#sheet-description").fill("My long text")
    page.locator("#sheet-comment").fill("Half a comment")
    edit_card(world.owner, card_id=card, title="Changed by somebody else")
    page.evaluate(ANNOUNCE)
    title = page.locator("#sheet-title-field")
    expect(title).to_have_value("Changed by somebody else")
    expect(page.locator("#sheet-description")).to_have_value("My long text")
    expect(page.locator("#sheet-comment")).to_have_value("Half a comment")
    page.locator("#sheet [data-close]").click()
    expect(page.locator("#drawer")).to_have_count(0)
    opened(page, world, card)
    expect(page.locator("#sheet-description")).to_have_value("My long text")
    page.reload()
    expect(page.locator("#sheet-description")).to_have_value("My long text")
    page.locator("#sheet-part-description .button-primary").click()
    expect(page.locator("#sheet-part-description .prose").last).to_have_text(
        "My long text"
    )
    assert read_card(world.owner, card_id=card).description == "My long text"
    page.reload()
    expect(page.locator("#sheet-description")).to_be_hidden()


def test_two_people_on_one_text_see_both(world, browse):
    browse.allow("409")
    card = world.add("A card", description="Before")
    page = browse(world.owner)
    opened(page, world, card)
    page.locator("#sheet-description-edit").click()
    page.locator("#sheet-description").fill("Mine")
    edit_card(world.owner, card_id=card, description="Theirs")
    save = page.locator("#sheet-part-description .button-primary")
    save.click()
    expect(page.locator(".clash")).to_contain_text("Theirs")
    expect(page.locator("#sheet-description")).to_have_value("Mine")
    page.evaluate(ANNOUNCE)
    expect(page.locator(".clash")).to_contain_text("Theirs")
    save.click()
    expect(page.locator(".clash")).to_have_count(0)
    assert read_card(world.owner, card_id=card).description == "Mine"


def test_comments_preview_and_json(world, browse):
    card = world.add("A card")
    page = browse(world.owner)
    opened(page, world, card)
    page.locator("#sheet-comment").fill(f"Look, @{world.worker.handle}")
    page.keyboard.press("Control+Enter")
    expect(page.locator(".comment .mention")).to_have_text(f"@{world.worker.handle}")
    expect(page.locator("#sheet-comment")).to_have_value("")
    (said,) = comments(world.owner, card_id=card, page_size=5, page_token="").items
    assert said.text.startswith("Look")
    page.locator("#sheet-description").fill("**Bold**")
    page.locator("#tab-preview").click()
    expect(page.locator("#sheet-preview strong")).to_have_text("Bold")
    page.locator("#sheet-part-payload summary").click()
    page.locator("#sheet-payload").fill('{"a": 1,}')
    expect(page.locator("#sheet-part-payload [data-json-problem]")).to_be_visible()
    page.locator("#sheet-payload").fill('{"a": 1}')
    expect(page.locator("#sheet-part-payload [data-json-problem]")).to_be_hidden()
    page.keyboard.press("Control+Enter")
    expect(page.locator("#sheet-part-activity")).to_contain_text("changed payload")
    assert read_card(world.owner, card_id=card).payload == {"a": 1}


def test_a_comment_is_put_right_and_taken_back(world, browse):
    card = world.add("A card")
    add_comment(world.owner, card_id=card, text="First")
    page = browse(world.owner)
    opened(page, world, card)
    menu = page.locator(".comment details.menu")
    menu.locator("summary").click()
    menu.get_by_role("button", name="Edit").click()
    page.locator(".comment-edit textarea").fill("Second")
    page.locator(".comment-edit .button-primary").click()
    expect(page.locator(".comment .prose")).to_have_text("Second")
    expect(page.locator(".comment-edit textarea")).to_be_hidden()
    menu.locator("summary").click()
    menu.get_by_role("button", name="Delete").click()
    expect(page.locator(".comment")).to_have_count(0)


def test_what_is_typed_while_a_save_is_under_way_stays_and_saves(world, browse):
    card = world.add("A card", description="Before")
    page = browse(world.owner)
    opened(page, world, card)
    held = []
    version = page.locator("#sheet-part-description input[name='version']")
    before = version.input_value()
    page.route("**/edit/description", lambda route: held.append(route), times=1)
    page.locator("#sheet-description-edit").click()
    page.locator("#sheet-description").fill("One")
    with page.expect_request("**/edit/description"):
        page.keyboard.press("Control+Enter")
    page.locator("#sheet-description").fill("One, two")
    held[0].continue_()
    # Saved, and the page has heard of it: what is typed is now based on that.
    expect(version).not_to_have_value(before)
    expect(page.locator("#sheet-description")).to_have_value("One, two")
    page.keyboard.press("Control+Enter")
    expect(page.locator("#sheet-description")).to_be_hidden()
    expect(page.locator(".clash")).to_have_count(0)
    assert read_card(world.owner, card_id=card).description == "One, two"


def test_a_save_asked_for_while_another_is_under_way_follows_it(world, browse):
    card = world.add("A card", description="Before")
    page = browse(world.owner)
    opened(page, world, card)
    saves, looks = [], []
    page.locator("#sheet-description-edit").click()
    field = page.locator("#sheet-description")
    field.fill("One")
    page.route("**/edit/description", lambda route: saves.append(route), times=1)
    with page.expect_request("**/edit/description"):
        page.keyboard.press("Control+Enter")
    field.fill("One, two")
    page.keyboard.press("Control+Enter")
    # Saved, but the page hasn't heard of it: to what is there now it would be a clash.
    page.route(
        f"**{card_url(world, card)}*", lambda route: looks.append(route), times=1
    )
    with page.expect_request(f"**{card_url(world, card)}*"):
        saves[0].continue_()
    field.fill("One, two, three")
    page.keyboard.press("Control+Enter")
    looks[0].continue_()
    expect(field).to_be_hidden()
    expect(page.locator(".clash")).to_have_count(0)
    assert read_card(world.owner, card_id=card).description == "One, two, three"


def test_archiving_from_the_cold_page_can_be_undone(world, browse):
    card = world.add("A card")
    page = browse(world.owner)
    page.goto(card_url(world, card))
    page.locator("#sheet-head details.menu summary").click()
    page.get_by_role("button", name="Archive").click()
    # The notice stays for as long as it's being read.
    undo = page.get_by_role("button", name="Undo")
    undo.hover()
    expect(page.locator("#sheet-archived")).to_be_visible()
    undo.click()
    expect(page.locator("#sheet-archived")).to_have_count(0)


def test_older_activity_is_read_on_request(world, browse):
    card = world.add("A card")
    for i in range(EVENTS_PER_PAGE + 5):
        edit_card(world.owner, card_id=card, title=f"Title {i}")
    page = browse(world.owner)
    opened(page, world, card)
    lines = page.locator("#sheet-part-activity li")
    expect(lines).to_have_count(EVENTS_PER_PAGE)
    page.locator("[data-older]").click()
    expect(lines).to_have_count(EVENTS_PER_PAGE + 6)


def test_taking_away_asks_and_the_sheet_follows(world, browse):
    card = world.add("A card")
    world.claim()
    page = browse(world.owner)
    opened(page, world, card)
    expect(page.locator("#sheet [data-lease]")).to_be_visible()
    page.locator("#sheet-part-attempts .ask > summary").click()
    page.locator("#take-away-reason").fill("Wrong brief")
    page.locator("#sheet-part-attempts .ask form .button-danger").click()
    expect(page.locator(".attempt-revoked")).to_contain_text("Wrong brief")
    expect(page.locator("#sheet-head .state-open")).to_be_visible()


@pytest.mark.parametrize("look", [{}, {"dark": True}, {"phone": True}])
def test_nothing_is_wrong_with_it_for_a_screen_reader(world, browse, look):
    card = world.add("A card", description="# Head\n\n[link](https://example.org)")
    world.fail_card(reason="No network")
    world.claim()
    page = browse(world.owner, **look)
    page.goto(card_url(world, card))
    expect(page.locator("#sheet[data-live]")).to_be_visible()
    assert violations(page) == []
    opened(page, world, card)
    assert violations(page) == []


def test_without_scripts_it_is_read_and_changed_by_forms(world, browse):
    card = world.add("A card", description="Before")
    page = browse(world.owner, java_script_enabled=False)
    page.goto(card_url(world, card))
    page.locator("#sheet-title-field").fill("By a form")
    page.get_by_role("button", name="Save title").click()
    expect(page.locator("#sheet-title-field")).to_have_value("By a form")
    page.locator("#sheet-description-edit").click()
    page.locator("#sheet-description").fill("**After**")
    page.locator("#sheet-part-description .button-primary").click()
    expect(page.locator("#sheet-part-description strong")).to_have_text("After")
    page.locator("#sheet-comment").fill("Said")
    page.get_by_role("button", name="Comment", exact=True).click()
    expect(page.locator(".comment")).to_contain_text("Said")


def test_the_cards_above_and_below_are_one_key_away(world, browse):
    cards = [world.add(title) for title in ("One", "Two", "Three")]
    page = browse(world.owner)
    opened(page, world, cards[0])
    title = page.locator("#sheet-title-field")
    for press, shown in (("j", "Two"), ("j", "Three"), ("j", "Three"), ("k", "Two")):
        page.keyboard.press(press)
        expect(title).to_have_value(shown)
    expect(page).to_have_url(re.compile(card_url(world, cards[1])))
    page.get_by_role("link", name="The card below").click()
    expect(title).to_have_value("Three")
    title.focus()
    page.keyboard.type("jk")
    expect(title).to_have_value("jkThree")
    page.keyboard.press("Escape")
    page.keyboard.press("Escape")
    expect(page.locator("#drawer")).to_have_count(0)
    expect(page).to_have_url(re.compile(board_url(world) + "$"))
    expect(page.locator(f"#card-{cards[2]} [data-card-link]")).to_be_focused()


def test_a_filtered_board_is_walked_as_it_is_shown(world, browse):
    cards = [world.add(title) for title in ("A needle", "Hay", "Needle two")]
    page = browse(world.owner)
    page.goto(board_url(world) + "?q=needle")
    page.locator(f"#card-{cards[0]} [data-card-link]").click()
    expect(page.locator("#sheet-title-field")).to_have_value("A needle")
    page.keyboard.press("j")
    expect(page.locator("#sheet-title-field")).to_have_value("Needle two")
    page.keyboard.press("Escape")
    expect(page).to_have_url(re.compile("q=needle"))


def field(page, name):
    return page.locator(f"#sheet-{name}")


@pytest.mark.parametrize("name", ["comment", "description"])
def test_an_at_sign_offers_people_and_agents(world, browse, name):
    card = world.add("Compare three tools")
    page = browse(world.owner)
    opened(page, world, card)
    text = field(page, name)
    text.focus()
    page.keyboard.type("Ask (@agent")
    offered = page.locator("#mentions [role='option']")
    options = offered.filter(has_text=world.worker.handle)
    expect(options).to_have_attribute("aria-selected", "true")
    page.keyboard.press("Enter")
    expect(text).to_have_value(f"Ask (@{world.worker.handle} ")
    page.keyboard.type("or @")
    expect(offered).to_have_count(2)
    assert violations(page) == []
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Escape")
    expect(page.locator("#mentions")).to_have_count(0)
    expect(page.locator("#drawer")).to_be_visible()
    page.keyboard.type(world.owner.handle)
    offered.filter(has_text=world.owner.name).first.click()
    said = f"Ask (@{world.worker.handle} or @{world.owner.handle} "
    expect(text).to_have_value(said)
    expect(text).to_be_focused()
    page.keyboard.press("Control+Enter")
    expect(page.locator("#sheet .mention")).to_have_count(2)


def test_an_at_sign_inside_a_word_and_an_unknown_name_offer_nobody(world, browse):
    card = world.add("Compare three tools")
    page = browse(world.owner)
    opened(page, world, card)
    field(page, "comment").focus()
    page.keyboard.type("ann@agent")
    expect(page.locator("#mentions")).to_have_count(0)
    page.keyboard.type(" @nobodyatall")
    expect(page.locator("#mentions")).to_have_count(0)
    page.keyboard.press("Enter")
    expect(field(page, "comment")).to_have_value("ann@agent @nobodyatall\n")


def test_times_are_the_readers_own_and_go_back_as_the_same_moment(world, browse):
    due = datetime(2030, 1, 31, 20, 30, tzinfo=UTC)
    card = world.add("Compare three tools", due=due)
    page = browse(world.owner, timezone_id="Asia/Tokyo", locale="en-GB")
    opened(page, world, card)
    # In Tokyo it's the next day already.
    expect(page.locator(f"#card-{card} .due")).to_contain_text("1 Feb")
    expect(field(page, "due")).to_have_value("2030-02-01T05:30")
    expect(page.locator("#sheet-part-due")).not_to_contain_text("UTC")
    expect(page.locator("#sheet-part-due")).not_to_have_class(re.compile("is-dirty"))
    field(page, "due").fill("2030-02-01T06:45")
    field(page, "due").press("Enter")
    expect(page.locator("#sheet-part-activity")).to_contain_text("changed due")
    assert read_card(world.owner, card_id=card).due == due + timedelta(minutes=75)
    expect(field(page, "due")).to_have_value("2030-02-01T06:45")
    field(page, "comment").focus()
    edit_card(world.owner, card_id=card, due=due)
    expect(field(page, "due")).to_have_value("2030-02-01T05:30")


def test_without_scripts_times_are_utc_and_say_so(world, browse):
    card = world.add("Card", due=datetime(2030, 1, 31, 20, 30, tzinfo=UTC))
    page = browse(world.owner, timezone_id="Asia/Tokyo", java_script_enabled=False)
    page.goto(card_url(world, card))
    expect(page.locator("#sheet-part-due")).to_contain_text("UTC")
    expect(field(page, "due")).to_have_value("2030-01-31T20:30")
