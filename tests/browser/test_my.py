"""My tasks in a real browser: the round with an agent, live, by keys, on a phone."""

import re

import pytest
from playwright.sync_api import expect

from accounts.roles import WorkspaceRole
from tasks_people.stack import stack
from tasks_people.verbs.create import create
from tasks_people.verbs.hold import give_back
from tasks_people.verbs.messages import pull
from tasks_people.verbs.order import prioritize
from tasks_people.verbs.people import start
from tests.browser.conftest import violations
from tests.builders import a_person, card_row
from tests.web.test_my import SCHEMA, demand

NASTY = '"><script>document.title="gone"</script><img src=x onerror=alert(1)>'
RTL = "مراجعة المقال عن البطاقات قبل النشر"
LONG = "Donaudampfschifffahrtsgesellschaftskapitän" * 6


def a_task(world, title="Call five customers", **fields):
    return create(world.worker, **{"queue": "people", "title": title, **fields})


def open_my(page, path="/my"):
    """Waits for the first news: from then on the page hears everything."""
    page.goto(path)
    expect(page.locator("#bell")).to_have_attribute("data-heard", "")
    return page


def now_of(page):
    return page.locator("#my-now")


def title_of(page):
    return page.locator("#now-title")


def rows_of(page):
    return page.locator("#my-rail section [data-row]")


def too_wide(page):
    return page.evaluate("document.documentElement.scrollWidth > innerWidth")


def test_from_an_agent_to_a_person_and_back(browse, world):
    page = open_my(browse(world.owner))
    expect(page.locator("#my-empty")).to_contain_text("novum tasks.create")
    made = a_task(world, payload={"file": "q3.csv"}, description="All **five**.")
    demand(world, SCHEMA)
    expect(title_of(page)).to_have_text("Call five customers")
    expect(now_of(page)).to_contain_text("q3.csv")
    expect(now_of(page).locator(".prose strong")).to_have_text("five")
    page.get_by_role("button", name="Start").click()
    expect(now_of(page)).to_contain_text("You are at it")
    page.get_by_label("rows").fill("12")
    page.get_by_label("verdict").select_option("good")
    page.get_by_label("names").fill("Ann\nBen")
    page.get_by_role("button", name="Finish").click()
    expect(page.locator("#my-empty")).to_be_visible()
    (message,) = pull(world.worker, topics="tasks.done")
    assert message.correlation_id == str(made)
    assert message.payload["status"] == "done"
    assert message.payload["by"] == f"@{world.owner.handle}"
    assert message.payload["result"] == {
        "rows": 12,
        "verdict": "good",
        "names": ["Ann", "Ben"],
    }


@pytest.mark.parametrize("look", [{}, {"phone": True}], ids=str)
def test_a_new_urgent_task_appears_without_a_reload(browse, world, look):
    a_task(world, "Usual")
    page = open_my(browse(world.owner, **look))
    expect(title_of(page)).to_have_text("Usual")
    a_task(world, "Urgent", priority=1)
    expect(title_of(page)).to_have_text("Urgent")
    expect(rows_of(page)).to_have_count(1)
    assert not too_wide(page)


def test_a_draft_is_never_lost_to_what_happens_elsewhere(browse, world):
    ben = a_person(world.workspace, WorkspaceRole.MEMBER)
    made = a_task(world, "Mine")
    start(world.owner, task_id=made)
    page = open_my(browse(world.owner))
    field = page.get_by_role("textbox", name="Result")
    field.fill("Half of the answ")
    a_task(world, "Urgent", priority=1)
    expect(rows_of(page)).to_contain_text(["Urgent"])
    expect(field).to_have_value("Half of the answ")
    # Not even when the task itself is gone, or the page.
    give_back(world.owner, task_id=made)
    start(ben, task_id=made)
    expect(now_of(page).locator("[data-gone]")).to_be_visible()
    expect(field).to_have_value("Half of the answ")
    give_back(ben, task_id=made)
    start(world.owner, task_id=made)
    page.reload()
    expect(field).to_have_value("Half of the answ")


def shows_nothing_yet(page):
    """A moment in which the page could put in what has just come."""
    page.evaluate("() => new Promise((done) => setTimeout(done, 100))")


def test_news_take_no_button_from_under_the_mouse(browse, world):
    a_task(world, "Usual")
    page = open_my(browse(world.owner))
    page.get_by_role("button", name="Start").hover()
    page.mouse.down()
    with page.expect_response(re.compile("/my$")) as news:
        a_task(world, "Later on", priority=4)
    news.value.finished()
    shows_nothing_yet(page)
    expect(rows_of(page)).to_have_count(0)
    page.mouse.up()
    expect(now_of(page)).to_contain_text("You are at it")
    expect(rows_of(page)).to_contain_text(["Later on"])


def test_news_do_not_overtake_what_one_has_just_done(browse, world):
    for title in ("First", "Second"):
        a_task(world, title)
    page = open_my(browse(world.owner))
    waiting = []
    page.get_by_text("Decline…").click()
    page.get_by_label("Why?").fill("Not my field")
    page.route("**/my", lambda route: waiting.append(route), times=1)
    with page.expect_request("**/my"):
        page.get_by_role("button", name="Decline it").click()
    # The answer takes long, and there is time for news.
    a_task(world, "Third")
    page.wait_for_timeout(2000)
    waiting[0].continue_()
    expect(title_of(page)).to_have_text("Second")
    expect(rows_of(page)).to_contain_text(["Third"])


def test_two_press_start_and_one_gets_it(browse, world):
    browse.allow("409")
    ben = a_person(world.workspace, WorkspaceRole.MEMBER)
    made = a_task(world)
    ours, theirs = browse(world.owner), browse(ben)
    # Without their sockets, so that neither hears of the other.
    for page in (ours, theirs):
        page.route_web_socket(re.compile("/live/me"), lambda socket: None)
        page.goto("/my")
    ours.get_by_role("button", name="Start").click()
    expect(now_of(ours)).to_contain_text("You are at it")
    theirs.get_by_role("button", name="Start").click()
    notice = theirs.locator("#toasts")
    expect(notice).to_contain_text(f"@{world.owner.handle} is working on this task.")
    expect(theirs.locator("#my-empty")).to_be_visible()
    assert card_row(made).holder_id == world.owner.actor_id


def test_keys_choose_start_and_finish_but_not_in_fields(browse, world):
    for number in range(4):
        a_task(world, f"Task {number}")
    page = open_my(browse(world.owner))
    page.keyboard.press("2")
    expect(title_of(page)).to_have_text("Task 1")
    page.keyboard.press("s")
    expect(now_of(page)).to_have_attribute("data-mine", "")
    page.keyboard.press("f")
    field = page.get_by_role("textbox", name="Result")
    expect(field).to_be_focused()
    page.keyboard.type("s 1 2 3 f")
    expect(field).to_have_value("s 1 2 3 f")
    expect(title_of(page)).to_have_text("Task 1")
    page.keyboard.press("Control+Enter")
    expect(title_of(page)).to_have_text("Task 0")
    (message,) = pull(world.worker, topics="tasks.done")
    assert message.payload["result"] == {"text": "s 1 2 3 f"}
    page.keyboard.press("n")
    page.keyboard.type("My own")
    page.keyboard.press("Enter")
    page.get_by_text("Later").click()
    expect(page.locator("#my-later")).to_contain_text("My own")


def test_the_schemas_problems_land_at_their_fields(browse, world):
    browse.allow("422")
    made = a_task(world)
    demand(world, SCHEMA)
    start(world.owner, task_id=made)
    page = open_my(browse(world.owner))
    page.get_by_label("rows").fill("-3")
    page.get_by_label("verdict").select_option("bad")
    page.get_by_role("button", name="Finish").click()
    expect(page.get_by_label("rows")).to_have_attribute("aria-invalid", "true")
    expect(page.locator("#result-rows-error")).to_contain_text("0")
    expect(page.get_by_label("rows")).to_have_value("-3")
    assert violations(page) == []
    page.get_by_label("rows").fill("3")
    page.get_by_role("button", name="Finish").click()
    expect(page.locator("#my-empty")).to_be_visible()
    assert card_row(made).output == {"rows": 3, "verdict": "bad"}


def test_the_order_changes_by_mouse_and_by_keys(browse, world):
    made = [a_task(world, f"Task {number}") for number in range(3)]
    page = open_my(browse(world.owner))
    rows = rows_of(page)
    expect(rows).to_contain_text(["Task 1", "Task 2"])
    rows.nth(1).get_by_role("link").first.focus()
    page.keyboard.press("Alt+ArrowUp")
    expect(rows).to_contain_text(["Task 2", "Task 1"])
    expect(rows.nth(0).locator("[data-choose]")).to_be_focused()
    box, target = rows.nth(1).bounding_box(), rows.nth(0).bounding_box()
    page.mouse.move(box["x"] + 60, box["y"] + 20)
    page.mouse.down()
    page.mouse.move(target["x"] + 60, target["y"] + 30, steps=8)
    page.mouse.move(target["x"] + 60, target["y"] + 5, steps=4)
    page.mouse.up()
    expect(rows).to_contain_text(["Task 1", "Task 2"])
    expect(page.locator("body")).not_to_have_attribute("data-dragging", re.compile("."))
    assert [item.id for item in stack(world.owner).items] == made


def test_give_back_decline_and_hand_over(browse, world):
    ben = a_person(world.workspace, WorkspaceRole.MEMBER)
    for title in ("Given back", "Declined", "Handed over"):
        a_task(world, title)
    page = open_my(browse(world.owner))
    page.get_by_role("button", name="Start").click()
    page.get_by_text("Give back…").click()
    page.get_by_label("Note for whoever").fill("Look into the list first")
    page.get_by_role("button", name="Give it back").click()
    expect(now_of(page)).to_contain_text("Look into the list first")
    page.locator("[data-choose]", has_text="Declined").click()
    expect(title_of(page)).to_have_text("Declined")
    page.get_by_text("Decline…").click()
    page.get_by_label("Why?").fill("Not my field")
    page.get_by_role("button", name="Decline it").click()
    expect(rows_of(page)).to_have_count(1)
    (message,) = pull(world.worker, topics="tasks.done")
    assert message.payload["error"] == "Not my field"
    page.locator("[data-choose]", has_text="Handed over").click()
    expect(title_of(page)).to_have_text("Handed over")
    page.get_by_text("Hand over…").click()
    page.get_by_label("To whom?").select_option(ben.handle)
    page.get_by_role("button", name="Hand it over").click()
    expect(title_of(page)).to_have_text("Given back")
    expect(rows_of(page)).to_have_count(0)


def test_it_works_without_javascript(browse, world):
    made = [a_task(world, f"Task {number}") for number in range(2)]
    page = browse(world.owner, java_script_enabled=False)
    page.goto("/my")
    page.get_by_role("link", name="Task 1").click()
    page.get_by_role("button", name="Start").click()
    page.get_by_role("textbox", name="Result").fill("By hand")
    page.get_by_role("button", name="Finish").click()
    expect(title_of(page)).to_have_text("Task 0")
    assert card_row(made[1]).output == {"text": "By hand"}


def test_a_card_opens_over_the_page_and_closes_again(browse, world):
    a_task(world)
    page = open_my(browse(world.owner))
    now_of(page).get_by_title("Open the card").click()
    expect(page.locator("#drawer #sheet")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator("#drawer")).to_have_count(0)
    expect(page).to_have_url(re.compile("/my$"))


@pytest.mark.parametrize(
    "look",
    [{}, {"dark": True}, {"phone": True}, {"phone": True, "dark": True}],
    ids=str,
)
def test_it_is_for_everybody(browse, world, look):
    page = open_my(browse(world.owner, **look))
    assert violations(page) == []
    made = a_task(world, LONG, description=f"# Head\n\n{LONG}", payload={LONG: LONG})
    for title in (RTL, NASTY, *(f"Task {number}" for number in range(4))):
        a_task(world, title, payload={"deep": {"er": [1, title]}}, labels=["a"])
    demand(world, SCHEMA)
    prioritize(world.owner, task_id=made, priority=1)
    page.reload()
    assert violations(page) == []
    assert not too_wide(page)
    page.get_by_role("button", name="Start").click()
    expect(now_of(page)).to_contain_text("You are at it")
    page.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
    assert violations(page) == []
    assert not too_wide(page)
    expect(page.locator("img")).to_have_count(0)
    assert page.title() != "gone"
