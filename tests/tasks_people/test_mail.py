"""People get one mail for all that came in a while, if they want it."""

from datetime import timedelta

import pytest
from django.core import mail
from django.utils.timezone import now

from accounts.errors import Invalid
from accounts.models import User
from boards.verbs.comments import add_comment
from tasks_people import inbox
from tasks_people.models import Mailbox, Message
from tasks_people.verbs import digest
from tasks_people.verbs.claim import claim
from tasks_people.verbs.create import create
from tasks_people.verbs.digest import WINDOW, mute, send_digests
from tasks_people.verbs.gather import gather
from tasks_people.verbs.hold import complete
from tasks_people.verbs.housekeeping import forget_messages
from tasks_people.verbs.messages import mark_read, send

LOCMEM = {"default": {"BACKEND": "django.core.mail.backends.locmem.EmailBackend"}}


@pytest.fixture
def reachable(world, settings):
    """With a mailer, and an owner who has an address."""
    settings.MAILERS = LOCMEM
    User.objects.filter(actors=world.owner.actor_id).update(email="ann@example.org")
    mail.outbox = []
    return world


def something_of_everything(world):
    mine = create(world.owner, queue="reports", title="Report")
    claim(world.worker, queue="reports")
    complete(world.worker, task_id=mine)
    handle = world.owner.handle
    create(world.worker, queue="people", title="Call", assignee=handle)
    add_comment(world.worker, card_id=world.add("Draft"), text=f"@{handle} look")
    send(world.worker, to=handle, topic="plans", payload="only for programs")
    gather(world.workspace.pk)


def some_time_later():
    for row in Message.objects.all():
        Message.objects.filter(pk=row.pk).update(created_at=row.created_at - WINDOW)


def test_all_that_came_in_a_while_is_one_mail(reachable):
    something_of_everything(reachable)
    assert send_digests() == 0
    some_time_later()
    assert send_digests() == 1
    (sent,) = mail.outbox
    assert sent.to == ["ann@example.org"]
    assert "3 news" in sent.subject
    by = f"@{reachable.worker.handle}"
    assert f"Report is done, by {by}" in sent.body
    assert f"{by} gave you" in sent.body
    assert f"{by} mentioned you" in sent.body
    assert "only for programs" not in sent.body
    assert "/cards/" in sent.body
    some_time_later()
    assert send_digests() == 0


def test_further_news_wait_for_the_next_mail(reachable):
    something_of_everything(reachable)
    some_time_later()
    send_digests()
    something_of_everything(reachable)
    assert send_digests() == 0
    some_time_later()
    assert send_digests() == 1
    assert "3 news" in mail.outbox[1].subject


def test_what_was_read_meanwhile_is_not_mailed(reachable):
    something_of_everything(reachable)
    mark_read(reachable.owner)
    some_time_later()
    assert send_digests() == 0


def test_each_kind_can_be_switched_off(reachable):
    mute(reachable.owner, kinds=["assigned", "mentioned"])
    kinds = {one.name: one.wanted for one in inbox.mail_kinds(reachable.owner)}
    assert kinds == {"assigned": False, "mentioned": False, "ended": True}
    something_of_everything(reachable)
    some_time_later()
    send_digests()
    assert "1 news" in mail.outbox[0].subject
    mute(reachable.owner, kinds=["assigned", "mentioned", "ended"])
    something_of_everything(reachable)
    some_time_later()
    assert send_digests() == 0
    with pytest.raises(Invalid):
        mute(reachable.owner, kinds=["everything"])


def test_without_a_mailer_nothing_is_sent(reachable, settings):
    settings.MAILERS = {}
    something_of_everything(reachable)
    some_time_later()
    assert send_digests() == 0
    assert mail.outbox == []


def test_agents_and_people_without_an_address_get_none(reachable):
    User.objects.update(email="")
    something_of_everything(reachable)
    some_time_later()
    assert send_digests() == 0


def test_a_mail_that_cannot_be_sent_is_tried_again(reachable, settings):
    something_of_everything(reachable)
    some_time_later()
    settings.MAILERS = {
        "default": {
            "BACKEND": "django.core.mail.backends.smtp.EmailBackend",
            "OPTIONS": {"host": "127.0.0.1", "port": 1},
        }
    }
    assert send_digests() == 0
    settings.MAILERS = LOCMEM
    assert send_digests() == 1


def test_a_long_list_is_cut(reachable, monkeypatch):
    monkeypatch.setattr(digest, "MOST_LINES", 2)
    something_of_everything(reachable)
    some_time_later()
    send_digests()
    assert "… and 1 more." in mail.outbox[0].body


def test_two_senders_send_one_mail(reachable):
    something_of_everything(reachable)
    some_time_later()
    box = Mailbox.objects.select_related("actor__user").get(pk=reachable.owner.actor_id)
    assert digest._send(box)
    assert not digest._send(box)
    assert len(mail.outbox) == 1


def test_messages_are_kept_for_thirty_days(world):
    for number in range(3):
        send(world.owner, to=world.worker.handle, topic="plans", payload=number)
    first, second, _ = Message.objects.order_by("number")
    month = timedelta(days=30)
    Message.objects.filter(pk=first.pk).update(
        created_at=now() - month - timedelta(minutes=1)
    )
    Message.objects.filter(pk=second.pk).update(
        created_at=now() - month + timedelta(minutes=1)
    )
    assert forget_messages(0) == 0
    assert forget_messages(30) == 1
    assert not Message.objects.filter(pk=first.pk).exists()
    assert forget_messages(30) == 0
