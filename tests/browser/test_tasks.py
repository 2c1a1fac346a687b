"""The Tasks page and messages in a real browser."""

import re

import pytest
from playwright.sync_api import expect

from accounts.roles import WorkspaceRole
from tasks_people.verbs.claim import claim
from tasks_people.verbs.create import create
from tasks_people.verbs.hold import complete, fail
from tasks_people.verbs.people import start
from tests.browser.conftest import violations
from tests.browser.test_my import LONG, NASTY, RTL, open_my, too_wide
from tests.builders import a_person
from tests.web.test_tasks import many_done


def cards(page, state):
    return page.locator(f'[data-state="{state}"] > [data-card]')


def total(page, state):
    return page.locator(f'#col-{state} [data-total="{state}"]')


def test_a_task_goes_through_the_columns_while_one_looks(browse, world):
    page = open_my(browse(world.owner), "/tasks")
    create(world.worker, queue="reports", title="Analyze report.csv")
    expect(cards(page, "open")).to_contain_text(["Analyze report.csv"])
    task = claim(world.worker, queue="reports").task
    expect(cards(page, "claimed")).to_contain_text(["Analyze report.csv"])
    expect(cards(page, "claimed").locator("[data-lease]")).to_be_visible()
    expect(cards(page, "open")).to_have_count(0)
    complete(world.worker, task_id=task.id, result={"rows": 312})
    expect(cards(page, "done")).to_contain_text(["Analyze report.csv"])
    expect(total(page, "done")).to_have_text("1")
    expect(total(page, "claimed")).to_have_text("0")


def test_filters_are_the_address_and_stay_live(browse, world):
    create(world.worker, queue="reports", title="A report")
    create(world.worker, queue="people", title="A call")
    page = open_my(browse(world.owner), "/tasks")
    expect(cards(page, "open")).to_have_count(2)
    page.get_by_label("Queue").first.select_option("reports")
    expect(cards(page, "open")).to_contain_text(["A report"])
    expect(page).to_have_url(re.compile(r"/tasks\?queue=reports$"))
    create(world.worker, queue="people", title="Another call")
    create(world.worker, queue="reports", title="Another report", priority=1)
    expect(cards(page, "open")).to_contain_text(["Another report", "A report"])
    page.reload()
    expect(cards(page, "open")).to_have_count(2)


def test_older_ones_are_loaded_and_stay_while_new_ones_come(browse, world):
    many_done(world, 75)
    page = open_my(browse(world.owner), "/tasks")
    expect(cards(page, "done")).to_have_count(30)
    page.get_by_text("45 older").click()
    expect(cards(page, "done")).to_have_count(60)
    create(world.worker, queue="quick", title="Just now")
    task = claim(world.worker, queue="quick").task
    complete(world.worker, task_id=task.id)
    expect(cards(page, "done").first).to_contain_text("Just now")
    expect(cards(page, "done")).to_have_count(61)
    page.locator("#more-done a").click()
    expect(cards(page, "done")).to_have_count(76)
    expect(page.locator("#more-done")).to_have_count(0)


def test_news_that_overtake_a_filters_answer_bring_what_it_asked_for(browse, world):
    many_done(world, 75)
    create(world.worker, queue="quick", title="First")
    page = open_my(browse(world.owner), "/tasks")
    page.get_by_text("45 older").click()
    expect(cards(page, "done")).to_have_count(60)
    held = []
    page.route("**/tasks?queue=quick", lambda route: held.append(route), times=1)
    page.get_by_label("Queue").first.select_option("quick")
    create(world.worker, queue="quick", title="Second")
    expect(cards(page, "open")).to_contain_text(["First", "Second"])
    expect(cards(page, "done")).to_have_count(0)
    assert held


def test_a_task_is_added_and_what_does_not_fit_is_said(browse, world):
    browse.allow("422")
    page = open_my(browse(world.owner), "/tasks")
    page.get_by_text("New task").click()
    page.get_by_label("Title").fill("Count the rows")
    page.get_by_label("Queue", exact=True).last.fill("Not A Name")
    page.get_by_role("button", name="Add the task").click()
    expect(page.locator("#new_queue_error")).to_contain_text("small letters")
    expect(page.get_by_label("Title")).to_have_value("Count the rows")
    page.get_by_label("Queue", exact=True).last.fill("counting")
    page.get_by_role("button", name="Add the task").click()
    expect(cards(page, "open")).to_contain_text(["Count the rows"])
    expect(page.locator("#toasts")).to_contain_text("counting")


def test_on_a_phone_one_state_fills_the_screen(browse, world):
    create(world.worker, queue="reports", title="Broken")
    task = claim(world.worker, queue="reports").task
    fail(world.worker, task_id=task.id, error="No file")
    page = open_my(browse(world.owner, phone=True), "/tasks")
    failed = page.locator("#col-failed")
    expect(failed).not_to_be_in_viewport(ratio=0.5)
    page.locator(".switcher a", has_text="Failed").click()
    expect(failed).to_be_in_viewport(ratio=0.9)
    assert not too_wide(page)


def test_the_bell_rings_on_any_page_and_the_list_is_marked_as_read(browse, world):
    ben = a_person(world.workspace, WorkspaceRole.MEMBER)
    made = create(world.owner, queue="people", title="Call five customers")
    page = open_my(browse(world.owner), "/agents")
    bell = page.locator("#bell")
    expect(bell.locator(".bell-count")).to_be_hidden()
    start(ben, task_id=made)
    complete(ben, task_id=made, result={"text": "All happy."})
    expect(bell.locator(".bell-count")).to_have_text("1")
    expect(bell).to_have_attribute("aria-label", "Messages, 1 unread")
    bell.click()
    message = page.locator("[data-message]")
    expect(message).to_contain_text("has done")
    expect(message).to_contain_text("All happy.")
    page.get_by_role("button", name="Mark as read").click()
    expect(page.locator(".told-unread")).to_have_count(0)
    expect(bell.locator(".bell-count")).to_be_hidden()
    message.get_by_role("link").click()
    expect(page.locator("#sheet")).to_be_visible()
    expect(page.locator("#sheet-part-thread")).to_contain_text("All happy.")


@pytest.mark.parametrize(
    "look",
    [{}, {"dark": True}, {"phone": True}, {"phone": True, "dark": True}],
    ids=str,
)
def test_pages_are_for_everybody(browse, world, look):
    ben = a_person(world.workspace, WorkspaceRole.MEMBER)
    page = browse(world.owner, **look)
    for path in ("/tasks", "/messages"):
        page.goto(path)
        assert violations(page) == [], f"{path} empty"
    for title in (LONG, RTL, NASTY):
        made = create(world.owner, queue="people", title=title, labels=["a"])
        start(ben, task_id=made)
        complete(ben, task_id=made, result={"text": title})
        create(world.worker, queue="reports", title=title)
    failed = claim(world.worker, queue="reports").task
    fail(world.worker, task_id=failed.id, error=NASTY)
    claim(world.worker, queue="reports")
    for path in ("/tasks", "/messages", "/messages?unread=1"):
        page.goto(path)
        assert violations(page) == [], path
        assert not too_wide(page), path
        page.evaluate(
            "document.querySelectorAll('details').forEach(d => d.open = true)"
        )
        assert violations(page) == [], f"{path} unfolded"
        expect(page.locator("img")).to_have_count(0)
        assert page.title() != "gone"
