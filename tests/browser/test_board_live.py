"""What happens elsewhere is seen on every open page, without a reload."""

import re
import time
from datetime import timedelta

from django.contrib.sessions.models import Session
from playwright.sync_api import expect

from accounts.models import Actor
from accounts.roles import WorkspaceRole
from boards.models import ClockTimestamp
from boards.verbs.cards import archive_card
from leases.models import Lease
from leases.verbs.complete import complete
from leases.verbs.give_back import fail
from leases.verbs.reap import reap
from leases.verbs.renew import renew
from tests.browser.conftest import sign_out
from tests.builders import a_person, lapse, receipt

XSS = [
    "<img src=x onerror=\"console.error('hit')\">",
    "</li></ol></section><script>console.error('hit')</script>",
    "<a hx-get='/admin/' hx-trigger='load'>x</a>",
    "<pers> & {{ csrf_token }} \"'",
]


def open_board(page, world, query=""):
    """Waits for the first frame, which may come while the page still loads: from then on
    it hears everything."""
    heard = []

    def listen(socket):
        if "/live/boards/" in socket.url:
            socket.on("framereceived", lambda frame: heard.append(frame))

    page.on("websocket", listen)
    page.goto(f"/boards/{world.board}{query}")
    deadline = time.monotonic() + 30
    while not heard:
        assert time.monotonic() < deadline
        page.wait_for_timeout(20)
    page.remove_listener("websocket", listen)
    return page


def cards_in(page, column):
    return page.locator(f'[data-cards="{column}"] > [data-card]')


def card_of(page, card_id):
    return page.locator(f'[data-card="{card_id}"]')


def chip_of(page, held):
    return page.locator(f'[data-lease="{held.lease.id}"]')


def count_of(page, column):
    return page.locator(f'[data-head="{column}"] [data-count]')


def test_two_people_see_a_claim_and_the_card_going_to_done(browse, world):
    world.add("First in line")
    member = a_person(world.workspace, WorkspaceRole.MEMBER)
    pages = [open_board(browse(who), world) for who in (world.owner, member)]
    held = world.claim()
    for page in pages:
        chip = chip_of(page, held)
        expect(chip).to_contain_text("1/5")
        expect(chip).to_contain_text(re.compile(r"[34]:\d\d|5:00"))
        expect(chip.locator(".avatar-agent")).to_be_visible()
    complete(world.worker, **receipt(held))
    for page in pages:
        expect(cards_in(page, world.done)).to_contain_text(["First in line"])
        expect(cards_in(page, world.queue)).to_have_count(0)
        expect(count_of(page, world.queue)).to_have_text("0")
        expect(count_of(page, world.done)).to_have_text("1")
        expect(page.locator(".card-flying")).to_have_count(0)


def test_a_heartbeat_resets_the_countdown(browse, world):
    world.add()
    held = world.claim(lease_ttl_seconds=1800)
    page = open_board(browse(world.owner), world)
    Lease.objects.filter(pk=held.lease.id).update(
        expires_at=ClockTimestamp() + timedelta(minutes=8)
    )
    expect(chip_of(page, held)).to_have_class(re.compile("chip-late"))
    expect(chip_of(page, held)).to_contain_text(re.compile(r"late [78]:\d\d"))
    renew(world.worker, **receipt(held))
    expect(chip_of(page, held)).not_to_have_class(re.compile("chip-late"))
    expect(chip_of(page, held)).to_have_attribute("data-renewals", "1")


def test_when_a_worker_dies_the_card_visibly_goes_back(browse, world):
    card = world.add()
    held = world.claim()
    page = open_board(browse(world.owner), world)
    lapse(held)
    expect(chip_of(page, held)).to_contain_text("lapsed")
    reap()
    expect(chip_of(page, held)).to_have_count(0)
    expect(card_of(page, card)).to_have_attribute("data-shade", "open")
    expect(card_of(page, card)).to_contain_text("1/5")


def test_cards_come_in_claim_order_and_go(browse, world):
    low = world.add("Low", priority=4)
    page = open_board(browse(world.owner), world)
    world.add("High", priority=1)
    world.add("Middle")
    expect(cards_in(page, world.queue).locator(".card-title")).to_have_text(
        ["High", "Middle", "Low"]
    )
    archive_card(world.owner, card_id=low)
    expect(cards_in(page, world.queue)).to_have_count(2)


def test_a_failed_card_gets_another_round_from_the_board(browse, world):
    page = open_board(browse(world.owner), world)
    card = world.add()
    fail(world.worker, **receipt(world.claim()), reason="No such file", requeue=False)
    failed = card_of(page, card)
    expect(failed).to_contain_text("Failed after 1 attempt")
    expect(failed).to_contain_text("No such file")
    failed.get_by_role("button", name="Retry").click()
    expect(cards_in(page, world.queue)).to_have_count(1)
    expect(card_of(page, card)).to_have_attribute("data-shade", "open")


def test_offline_and_back_the_page_is_right_again_by_itself(browse, world):
    browse.allow("ERR_INTERNET_DISCONNECTED", "WebSocket connection")
    gone, page = world.add("Gone"), open_board(browse(world.owner), world)
    page.context.set_offline(True)
    world.add("While away")
    archive_card(world.owner, card_id=gone)
    page.context.set_offline(False)
    expect(cards_in(page, world.queue)).to_have_text([re.compile("While away")])


def test_without_a_socket_the_page_asks_and_says_so(browse, world):
    browse.allow("WebSocket connection")
    page = browse(world.owner)
    page.route_web_socket("**/live/**", lambda socket: socket.close())
    page.goto(f"/boards/{world.board}")
    expect(page.locator("[data-live-notice]")).to_contain_text("every 3 s")
    world.add("Polled")
    expect(cards_in(page, world.queue)).to_contain_text(["Polled"])


def test_when_the_session_ends_there_is_a_real_sign_in_page(browse, world):
    browse.allow("401")
    page = open_board(browse(world.owner), world)
    Session.objects.all().delete()
    sign_out(page.context)
    expect(page).to_have_url(re.compile(rf"/sign-in\?next=.*{world.board}"))
    expect(page.locator("[data-column]")).to_have_count(0)


def test_what_anybody_writes_is_shown_literally_on_page_and_in_frames(browse, world):
    Actor.objects.filter(pk=world.worker.actor_id).update(name=XSS[0])
    before = world.add(XSS[0], labels=[XSS[1][:50]])
    page = open_board(browse(world.owner), world)
    after = [world.add(text, labels=[text[:50]]) for text in XSS]
    failed = world.claim()
    fail(world.worker, **receipt(failed), reason=XSS[2], requeue=False)
    held = world.claim()
    for card, text in zip([before, *after], [XSS[0], *XSS], strict=True):
        expect(card_of(page, card).locator(".card-title")).to_have_text(text)
    expect(card_of(page, failed.card.id).locator(".card-reason")).to_have_text(XSS[2])
    expect(chip_of(page, held).locator(".chip-name")).to_have_text(XSS[0])
    page.reload()
    expect(chip_of(page, held).locator(".chip-name")).to_have_text(XSS[0])
    expect(page.locator("[data-column]")).to_have_count(3)


def test_a_filter_survives_what_happens_and_is_cleared_with_one_click(browse, world):
    world.add("A needle", priority=1)
    world.add("Hay")
    page = open_board(browse(world.owner), world, "?q=needle")
    expect(page.locator(".filter-state")).to_contain_text("1 of 2")
    world.add("Another needle")
    world.add("More hay")
    expect(page.locator(".filter-state")).to_contain_text("2 of 4")
    expect(page.locator("[data-card]")).to_have_count(2)
    page.locator("[data-clear-filters]").click()
    expect(page.locator("[data-card]")).to_have_count(4)
    assert page.url.endswith(str(world.board))


def test_a_card_that_no_longer_matches_disappears(browse, world):
    world.add("One")
    page = open_board(browse(world.owner), world, "?state=open")
    expect(page.locator("[data-card]")).to_have_count(1)
    world.claim()
    expect(page.locator("[data-card]")).to_have_count(0)


def test_a_new_column_appears(browse, world):
    page = open_board(browse(world.owner), world)
    world.column("Later on")
    expect(page.locator("[data-column] h2")).to_contain_text(["Later on"])


def test_a_card_being_dragged_is_left_alone(browse, world):
    card, frames = world.add("Dragged"), []
    page = browse(world.owner)
    page.on("websocket", lambda ws: ws.on("framereceived", lambda f: frames.append(f)))
    page.goto(f"/boards/{world.board}")
    page.evaluate("document.body.dataset.dragging = 'x'")
    held = world.claim()
    # The frame has come, and the page has had the time to show it.
    while not any(str(held.lease.id) in frame for frame in frames):
        page.wait_for_timeout(50)
    page.wait_for_timeout(150)
    expect(card_of(page, card)).to_have_attribute("data-shade", "open")
    page.evaluate("delete document.body.dataset.dragging")
    expect(card_of(page, card)).to_have_attribute("data-shade", "working")


def test_focus_stays_on_a_card_that_changes_and_moves(browse, world):
    card = world.add()
    page = open_board(browse(world.owner), world)
    title = card_of(page, card).locator(".card-title")
    title.focus()
    held = world.claim()
    expect(chip_of(page, held)).to_be_visible()
    expect(title).to_be_focused()
    complete(world.worker, **receipt(held))
    expect(cards_in(page, world.done)).to_have_count(1)
    expect(title).to_be_focused()
