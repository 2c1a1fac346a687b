"""Messages for people: the bell, the list, marking as read, the card's thread, mail."""

import pytest

from accounts.roles import WorkspaceRole
from boards.verbs.comments import add_comment
from tasks_people.inbox import mail_kinds, unread
from tasks_people.models import Message
from tasks_people.verbs.create import create
from tasks_people.verbs.hold import complete
from tasks_people.verbs.messages import send
from tasks_people.verbs.people import start
from tests.builders import a_person, a_world, card_row
from tests.web.account.conftest import client_of

pytestmark = pytest.mark.django_db
NASTY = '"><script>alert(1)</script><img src=x onerror=alert(1)>'


@pytest.fixture
def world():
    return a_world()


@pytest.fixture
def ann(world):
    return client_of(world.owner)


@pytest.fixture
def ben(world):
    return a_person(world.workspace, WorkspaceRole.MEMBER)


def page(client, url="/messages", **headers):
    reply = client.get(url, headers=headers)
    assert reply.status_code == 200
    return reply.content.decode()


def a_round(world, ben, **result):
    """Ann asks, Ben does it."""
    made = create(world.owner, queue="people", title="Call five customers")
    start(ben, task_id=made)
    complete(ben, task_id=made, result=result or {"text": "All five are happy."})
    return made


def test_the_creator_reads_who_has_done_what_and_where(world, ann, ben):
    made = a_round(world, ben)
    html = page(ann)
    assert f"@{ben.handle}" in html
    assert "has done" in html
    assert "All five are happy." in html
    assert f'href="/tasks/{made}"' in html
    assert 'data-count="1"' in html


def test_one_or_all_are_marked_as_read(world, ann, ben):
    for _ in range(3):
        a_round(world, ben)
    page(ann)
    assert unread(world.owner) == 3
    one = Message.objects.filter(recipient_id=world.owner.actor_id).first()
    ann.post("/messages/read", {"message": str(one.pk)})
    assert unread(world.owner) == 2
    assert page(ann, "/messages?unread=1").count("data-message=") == 2
    ann.post("/messages/read")
    assert unread(world.owner) == 0
    assert "Nothing unread" in page(ann, "/messages?unread=1")


def test_others_messages_can_not_be_marked(world, ann, ben):
    a_round(world, ben)
    page(ann)
    one = Message.objects.get(recipient_id=world.owner.actor_id)
    client_of(ben).post("/messages/read", {"message": str(one.pk)})
    assert unread(world.owner) == 1


def test_mentions_and_assignments_are_told_and_the_card_has_the_thread(world, ann, ben):
    made = create(
        world.worker, queue="people", title="Sign", assignee=world.owner.handle
    )
    add_comment(ben, card_id=made, text=f"@{world.owner.handle} look at this")
    html = page(ann)
    assert "has given you" in html
    assert "has mentioned you on" in html
    assert "look at this" in html
    sheet = page(ann, f"/boards/{card_row(made).board_id}/cards/{made}")
    assert sheet.count('class="told-body"') == 2


def test_whatever_is_sent_is_only_text(world, ann):
    send(
        world.worker,
        to=world.owner.handle,
        topic="news",
        payload={"by": NASTY, "title": NASTY, "key": NASTY, NASTY: NASTY},
        correlation_id=NASTY,
    )
    html = page(ann)
    assert "<script>alert" not in html
    assert "<img" not in html


def test_mail_is_switched_by_kind(world, ann):
    wanted = {one.name: one.wanted for one in mail_kinds(world.owner)}
    assert set(wanted.values()) == {True}
    assert 'id="mail-assigned"' in page(ann, "/profile")
    ann.post("/profile/mail", {"kind": ["assigned"]})
    wanted = {one.name: one.wanted for one in mail_kinds(world.owner)}
    assert wanted == {"assigned": True, "mentioned": False, "ended": False}
    assert page(ann, "/profile").count("checked") == 1


def test_no_messages_says_what_they_will_be(world, ann):
    assert "No messages yet" in page(ann)
