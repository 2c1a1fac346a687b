"""Sign-in, home, members and agents in a real browser."""

import re
import subprocess
import sys

import pytest
from playwright.sync_api import expect

from accounts.models import Actor, Workspace
from accounts.roles import WorkspaceRole
from boards.verbs.boards import edit_board
from leases.verbs.complete import complete
from leases.verbs.start_board import start_board
from tests.browser.conftest import sign_out, violations
from tests.builders import World, a_workspace, receipt

PASSWORD = "tulip-harbour-9"
NASTY = '"><script>document.title="gone"</script><img src=x onerror=alert(1)>'
RTL = "لوحة المحتوى العربية"
LONG = "Supercalifragilisticexpialidocious_" * 2
# Home asks every three seconds; what it shows must be true within five.
TRUE_AFTER_MS = 30_000


def paths(world: World) -> list[str]:
    return [
        "/",
        "/members",
        "/agents",
        f"/agents/{world.worker.actor_id}",
        "/profile",
        "/my",
        "/tasks",
        "/messages",
        f"/boards/{world.board}/members",
        f"/boards/{world.board}/archive",
    ]


def too_wide(page) -> bool:
    return page.evaluate("document.documentElement.scrollWidth > innerWidth")


def unfold(page) -> None:
    """Everything that can be opened, so that axe sees it, too."""
    page.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")


def in_two_workspaces(world: World) -> None:
    """So that the pages show the switch between them."""
    Workspace.objects.filter(pk=world.workspace.pk).update(name=LONG)
    Actor.objects.create(
        workspace=a_workspace(),
        kind=Actor.Kind.PERSON,
        handle=world.owner.handle,
        name="Somebody",
        user=Actor.objects.get(pk=world.owner.actor_id).user,
        role=WorkspaceRole.MEMBER,
    )


def test_a_person_signs_in_and_lands_where_they_wanted(browse, world: World):
    user = Actor.objects.get(pk=world.owner.actor_id).user
    user.set_password(PASSWORD)
    user.save()
    browse.allow("422")
    page = browse()
    page.goto("/agents")
    assert violations(page) == []
    page.get_by_label("User name").fill(user.username)
    page.get_by_label("Password").fill("wrong")
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("alert")).to_contain_text("don't go together")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    expect(page).to_have_url(f"{browse.url}/agents")
    page.get_by_label("Your account").click()
    page.get_by_role("button", name="Sign out").click()
    expect(page).to_have_url(f"{browse.url}/sign-in")


def test_home_counts_what_happens_while_it_is_open(browse, world: World):
    world.add_many(3)
    page = browse(world.owner)
    page.goto("/")
    now, counts = page.locator("#at-work"), page.locator(f"#counts-{world.board}")
    expect(now).to_contain_text("Nobody is at work")
    page.get_by_label("Menu of Content").click()
    held = world.claim()
    expect(now).to_contain_text("1 card being worked on", timeout=TRUE_AFTER_MS)
    expect(now).to_contain_text("by 1 agent")
    expect(counts).to_contain_text("1 working")
    expect(counts).to_contain_text("2 open")
    complete(world.worker, **receipt(held))
    expect(now).to_contain_text("Nobody is at work", timeout=TRUE_AFTER_MS)
    expect(counts).to_contain_text("1 done")
    # A menu that somebody has opened stays open meanwhile.
    expect(page.get_by_role("link", name="Archive…")).to_be_visible()


def test_home_leads_to_sign_in_when_the_session_has_ended(browse, world: World):
    browse.allow("401")
    page = browse(world.owner)
    page.goto("/")
    sign_out(page.context)
    expect(page).to_have_url(re.compile(r"/sign-in\?next="))
    expect(page.get_by_role("button", name="Sign in")).to_have_count(1)


def test_home_stays_as_it_is_while_the_server_fails(browse, world: World):
    browse.allow("500")
    page = browse(world.owner)
    asked = []

    def fail(route):
        asked.append(route)
        route.fulfill(status=500, body="<h1>Server Error</h1>")

    page.route("**/counts", fail)
    page.goto("/")
    with page.expect_response("**/counts"):
        pass
    with page.expect_response("**/counts"):
        expect(page.locator("#at-work")).to_contain_text("Nobody is at work")
    assert len(asked) >= 2


@pytest.mark.parametrize("look", [{}, {"dark": True}, {"phone": True}], ids=str)
def test_pages_are_for_everybody(browse, world: World, look):
    world.add(LONG)
    world.claim()
    start_board(world.owner, name=RTL, plan="pipeline")
    start_board(world.owner, name=LONG, description=LONG * 3)
    in_two_workspaces(world)
    for pk, name in ((world.worker.actor_id, RTL), (world.owner.actor_id, LONG)):
        Actor.objects.filter(pk=pk).update(name=name)
    page = browse(world.owner, **look)
    for path in paths(world):
        page.goto(path)
        assert violations(page) == [], path
        assert not too_wide(page), path
        unfold(page)
        assert violations(page) == [], f"{path} unfolded"
    page.goto(f"/agents/{world.worker.actor_id}")
    page.get_by_text("New token").click()
    page.get_by_label("Name of the worker").fill("worker 1")
    page.get_by_role("button", name="Create token").click()
    expect(page.locator("#worker")).to_be_visible()
    assert violations(page) == []
    assert not too_wide(page)


def test_names_never_become_markup(browse, world: World):
    Actor.objects.filter(workspace=world.workspace).update(name=NASTY[:100])
    edit_board(world.owner, board_id=world.board, name=NASTY[:100], description=NASTY)
    world.add(NASTY)
    world.claim()
    page = browse(world.owner)
    for path in paths(world):
        page.goto(path)
        expect(page.locator("img")).to_have_count(0)
        assert page.title() != "gone"


def test_home_works_without_javascript(browse, world: World):
    page = browse(world.owner, java_script_enabled=False)
    page.goto("/")
    page.get_by_text("New board").click()
    page.get_by_label("Name", exact=True).fill("News")
    page.get_by_role("button", name="Create board").click()
    expect(page.get_by_role("heading", name="News")).to_be_visible()
    page.goto("/")
    page.get_by_label("Menu of News").click()
    page.get_by_role("link", name="Archive…").click()
    page.get_by_role("button", name="Archive").click()
    page.get_by_text("1 archived board").click()
    page.get_by_role("button", name="Restore News").click()
    expect(page.get_by_role("link", name="News")).to_be_visible()


def test_the_worker_that_comes_with_a_token_works(browse, world: World, tmp_path):
    card = world.add("Write a poem")
    page = browse(world.owner)
    page.goto("/agents")
    page.get_by_text("New agent").click()
    page.get_by_label("Name", exact=True).fill("Poet")
    page.get_by_label("Handle").fill(f"poet-{world.worker.handle}")
    page.get_by_role("button", name="Create", exact=True).click()
    page.get_by_label("Name of the worker").fill("worker 1")
    page.get_by_role("button", name="Create token").click()
    script = tmp_path / "worker.py"
    script.write_text(page.locator("#worker").text_content())
    worker = subprocess.Popen([sys.executable, script])
    try:
        page.goto("/")
        counts = page.locator(f"#counts-{world.board}")
        expect(counts).to_contain_text("1 done", timeout=30_000)
    finally:
        worker.kill()
        worker.wait()
    assert world.shown(world.done) == [card]
