"""Every page, wide and on a phone, light and dark, with nothing on it and with much:
nothing for axe to find, nothing that the content policy stops, no scrolling sideways.
"""

import pytest
from playwright.sync_api import expect

from boards.verbs.boards import create_board
from boards.verbs.cards import archive_card
from boards.verbs.comments import add_comment
from leases.verbs.give_back import fail
from tasks_people.verbs.create import create
from tests.browser.conftest import violations
from tests.builders import receipt
from webhooks.verbs.endpoints import create_endpoint, send_test

LOOKS = {
    "wide": {},
    "wide and dark": {"dark": True},
    "phone": {"phone": True},
    "phone and dark": {"phone": True, "dark": True},
}
WIDTHS = (320, 390, 700, 1024, 1440)
LONG = "Donaudampfschifffahrtsgesellschaftskapitän " * 6
RIGHT_TO_LEFT = "مراجعة المقال عن البطاقات قبل النشر في الموقع"
HOOK = "https://93.184.216.34/hook"
IS_TOO_WIDE = "document.documentElement.scrollWidth > window.innerWidth"


@pytest.fixture
def much(world):
    """Cards in every state, long titles and such as run from right to left."""
    world.add(LONG, priority=1, labels=[RIGHT_TO_LEFT[:50], LONG[:50]])
    fail(world.worker, **receipt(world.claim()), reason=LONG, requeue=False)
    world.add(LONG, skills=[LONG[:50], RIGHT_TO_LEFT[:50], "x" * 50, "one more"])
    world.add(RIGHT_TO_LEFT, assignee=world.worker.handle)
    held = world.claim()
    add_comment(world.owner, card_id=held.card.id, text=f"{LONG} @{world.owner.handle}")
    world.add_many(20)
    world.column(LONG[:100])
    for title in (LONG, RIGHT_TO_LEFT, "A third", "A fourth"):
        create(world.worker, queue="people", title=title, assignee=world.owner.handle)
    create(world.owner, queue="reports", title=LONG)
    archive_card(world.owner, card_id=world.add(LONG, column=world.done))
    return held.card.id


def addresses(world, card):
    """Of all pages that somebody who owns the workspace can be on."""
    board = f"/boards/{world.board}"
    column = f"{board}/columns/{world.queue}"
    empty = create_board(world.owner, name=RIGHT_TO_LEFT)
    hook, _ = create_endpoint(
        world.owner, url=f"{HOOK}?{'x' * 400}", types=["*"], description=LONG[:100]
    )
    delivery = send_test(world.owner, endpoint_id=hook)
    return [
        "/",
        "/agents",
        f"/agents/{world.worker.actor_id}",
        "/members",
        "/workspace",
        "/profile",
        "/my",
        "/tasks",
        "/tasks?q=nothing-has-this",
        "/messages",
        "/messages?unread=1",
        "/needs-you",
        "/leases",
        "/leases?state=ended",
        "/queues",
        "/queues?q=nothing-has-this",
        f"/queues/{world.queue}?lease=45s",
        "/activity",
        "/activity?type=nothing-has-this",
        "/dead-letters",
        "/dead-letters?q=nothing-has-this",
        "/dead-letters/check?do=retry&all=1",
        "/dead-letters/check?do=move&all=1",
        "/webhooks",
        f"/webhooks/{hook}",
        f"/webhooks/deliveries/{delivery}",
        "/find?q=card",
        "/no-such-page",
        board,
        f"{board}?q=nothing-has-this",
        f"/boards/{empty}",
        f"{board}/cards/{card}",
        f"{board}/cards/{card}?why=1",
        f"{board}/cards/{card}/move",
        f"{board}/settings",
        f"{board}/members",
        f"{board}/archive",
        f"{board}/archived",
        f"{column}/settings",
        f"{column}/contract",
    ]


@pytest.mark.parametrize("look", LOOKS)
def test_nothing_is_wrong_with_any_page(browse, world, much, look):
    browse.allow("404")
    page = browse(world.owner, **LOOKS[look])
    wrong = {}
    for address in addresses(world, much):
        page.goto(address)
        if found := violations(page):
            wrong[address] = found
    assert wrong == {}


@pytest.mark.parametrize(
    "address", ["/sign-in", "/welcome/00000000-0000-0000-0000-000000000000/x"]
)
@pytest.mark.parametrize("look", LOOKS)
def test_nothing_is_wrong_with_what_strangers_see(browse, look, address):
    browse.allow("404")
    page = browse(**LOOKS[look])
    page.goto(address)
    assert violations(page) == []
    assert not page.evaluate(IS_TOO_WIDE)


def test_no_page_scrolls_sideways_however_narrow_it_is(browse, world, much):
    browse.allow("404")
    page = browse(world.owner)
    wrong = []
    for address in addresses(world, much):
        page.goto(address)
        for width in WIDTHS:
            page.set_viewport_size({"width": width, "height": 800})
            if page.evaluate(IS_TOO_WIDE):
                wrong.append((address, width))
    assert wrong == []


def test_an_open_card_fits_on_every_screen(browse, world, much):
    page = browse(world.owner)
    page.goto(f"/boards/{world.board}")
    page.locator(f"#card-{much} [data-card-link]").click()
    expect(page.locator("#drawer #sheet[data-live]")).to_be_visible()
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 800})
        assert not page.evaluate(IS_TOO_WIDE), width
        sheet = page.locator("#sheet")
        assert sheet.evaluate("one => one.scrollWidth <= one.clientWidth"), width
