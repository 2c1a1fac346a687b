"""Needs you, Leases and Agents without a browser: rows, buttons, refusals, their price."""

import re

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts.roles import BoardRole, WorkspaceRole
from boards import access
from boards.models import Card
from boards.verbs.boards import set_board_member
from novum import needs
from supervision.needs import usual
from tests.builders import (
    a_person,
    an_agent,
    card_row,
    lapse,
    lease_row,
    snapshot,
)
from tests.web.account.conftest import client_of

pytestmark = pytest.mark.django_db
MOST_QUERIES = 25
FORM = re.compile(r'<form method="post" action="(/(?:needs-you|leases|agents)[^"]*)"')


@pytest.fixture(autouse=True)
def _nothing_remembered():
    for one in (usual, needs):
        one.forget()
    yield
    for one in (usual, needs):
        one.forget()


@pytest.fixture
def ann(world):
    return client_of(world.owner)


@pytest.fixture
def viewer(world):
    caller = a_person(world.workspace, WorkspaceRole.MEMBER)
    set_board_member(
        world.owner, board_id=world.board, handle=caller.handle, role=BoardRole.VIEWER
    )
    return client_of(caller)


@pytest.fixture
def trouble(world):
    """A dead letter, and a lease that has lapsed."""
    world.add("Broken <b>&</b>")
    dead = world.fail_card(requeue=False, reason="No sources")
    world.add("Left")
    held = world.claim()
    lapse(held)
    return dead, held


def shown(client, path):
    answer = client.get(path)
    assert answer.status_code == 200, path
    return answer.content.decode()


def test_the_page_lists_it_and_its_button_settles_it(ann, world, trouble):
    dead, held = trouble
    page = shown(ann, "/needs-you")
    assert page.index('id="need-lapsed-') < page.index('id="need-dead_letter-')
    assert "Broken &lt;b&gt;&amp;" in page
    retry = {"operation": "requeue_card", "card_id": dead, "next": "/needs-you"}
    assert ann.post("/needs-you/act", retry)["Location"] == "/needs-you"
    assert card_row(dead).state == "open"
    take_back = {"operation": "revoke_lease", "lease_id": held.lease.id}
    answer = ann.post("/needs-you/act", take_back, headers={"HX-Request": "true"})
    assert answer.status_code == 204
    assert lease_row(held.lease.id).state == "revoked"
    page = shown(ann, "/needs-you")
    assert "Nothing needs you" in page
    assert f"need-dead_letter-{dead}" not in page


def test_the_badge_counts_what_the_reader_can_settle(ann, viewer, trouble):
    htmx = {"HX-Request": "true"}
    badge = ann.get("/needs-you/alarm", headers=htmx).content.decode()
    assert re.search(r'state-failed num">2<', badge)
    # Remembered: the next page comes with it.
    assert re.search(r'state-failed num">2<', shown(ann, "/"))
    assert (
        "state-failed"
        not in viewer.get("/needs-you/alarm", headers=htmx).content.decode()
    )


def test_filters_live_in_the_address(ann, world, trouble):
    page = shown(ann, "/needs-you?reason=dead_letter")
    assert "Broken" in page
    assert ">Left<" not in page
    assert "Broken" in shown(ann, f"/needs-you?board={world.board}&mine=yes")
    # A link never leads to an error page.
    for broken in ("?reason=x&board=y", "?page=x&state=zzz&agent=1"):
        shown(ann, f"/needs-you{broken}")
    other = shown(client_of(world.owner), "/leases?ended=nonsense")
    assert "Left" in other
    assert ann.get("/leases?state=ended&page=bad").status_code == 302


def test_a_viewer_sees_rows_but_no_button_and_is_refused_each(viewer, world, trouble):
    dead, held = trouble
    agent = f"/agents/{world.worker.actor_id}"
    before = snapshot(world)
    for path in ("/needs-you", "/leases", "/leases?state=stuck", "/agents", agent):
        page = shown(viewer, path)
        assert not FORM.findall(page), path
        assert "leases/revoke" not in page, path
    assert "Broken" in shown(viewer, "/needs-you")
    refused = {
        "requeue_card": {"card_id": dead},
        "revoke_lease": {"lease_id": held.lease.id},
        "edit_card": {"card_id": dead, "assignee": world.owner.handle},
        "move_card": {"card_id": dead, "column_id": world.done},
        "claim_card": {"card_id": dead},
        "no_such_operation": {},
        "delete_column": {"column_id": world.queue},
    }
    for operation, values in refused.items():
        sent = {"operation": operation, **values}
        answer = viewer.post("/needs-you/act", sent, headers={"HX-Request": "true"})
        assert answer.status_code in (403, 404), operation
    one = {"lease": held.lease.id, "confirmed": "1"}
    assert viewer.post("/leases/revoke", one).status_code == 403
    all_of_them = {"board": world.board, "confirmed": "1"}
    assert viewer.post("/leases/revoke", all_of_them).status_code == 403
    htmx = {"HX-Request": "true"}
    assert viewer.post(f"{agent}/stop", headers=htmx).status_code == 403
    off = {"disabled": "yes"}
    assert viewer.post(f"{agent}/edit", off, headers=htmx).status_code == 403
    assert snapshot(world) == before


def test_many_are_revoked_after_a_page_that_says_how_many_of_whom(ann, world):
    other = an_agent(world.workspace)
    world.add_many(4)
    mine = [world.claim() for _ in range(3)]
    theirs = world.claim(other)
    page = shown(ann, f"/leases?agent={world.worker.actor_id}")
    assert page.count("data-pick data-pick") == 0
    assert page.count(" data-pick ") == 3
    link = re.search(r'href="(/leases/revoke\?[^"]+)"', page)[1]
    asked = shown(ann, link.replace("&amp;", "&"))
    assert "3 leases will be revoked" in asked
    assert f"@{world.worker.handle}" in asked
    fields = dict(
        re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)"', asked)
    )
    late = world.add("Claimed after the question")
    fresh = world.claim()
    assert fresh.card.id == late
    done = ann.post("/leases/revoke", {**fields, "reason": "Wrong prompt"})
    assert done["Location"].startswith("/leases")
    states = {lease_row(one.lease.id).state for one in mine}
    assert states == {"revoked"}
    assert lease_row(mine[0].lease.id).reason == "Wrong prompt"
    assert lease_row(theirs.lease.id).state == "active"
    assert lease_row(fresh.lease.id).state == "active"
    # The ones that were picked: asked first as well.
    picked = {"lease": [theirs.lease.id, mine[0].lease.id]}
    asked = ann.post("/leases/revoke", picked).content.decode()
    assert "1 lease will be revoked" in asked
    assert "It has ended: revoked." in asked
    outcome = ann.post("/leases/revoke", {**picked, "confirmed": "1"})
    assert "1 lease was revoked" in outcome.content.decode()
    assert lease_row(theirs.lease.id).state == "revoked"


def test_an_agent_is_stopped_with_a_reason_and_disabled(ann, world):
    world.add()
    held = world.claim()
    agent = f"/agents/{world.worker.actor_id}"
    assert "1 card" in shown(ann, "/agents")
    ann.post(f"{agent}/stop", {"reason": "It repeats itself", "disable": "yes"})
    row = lease_row(held.lease.id)
    assert (row.state, "It repeats itself" in row.reason) == ("revoked", True)
    assert "disabled" in shown(ann, "/agents")
    ann.post(f"{agent}/edit", {"disabled": "no"})
    assert "disabled</span>" not in shown(ann, "/agents")


@pytest.mark.parametrize(
    "path",
    ["/needs-you", "/leases", "/leases?state=stuck", "/leases?state=ended", "/agents"],
)
def test_5_and_500_rows_cost_the_same_queries(ann, world, trouble, path):
    def price():
        for one in (usual, needs, access):
            one.forget()
        with CaptureQueriesContext(connection) as seen:
            shown(ann, path)
        return len(seen)

    shown(ann, path)
    few = price()
    ids = world.add_many(500)
    for _ in range(60):
        world.claim(an_agent(world.workspace) if path == "/agents" else None)
    Card.objects.filter(pk__in=ids[200:]).update(state="failed")
    many = price()
    # Less where nothing is stuck any more: a claim puts that in order.
    assert many <= few <= MOST_QUERIES
