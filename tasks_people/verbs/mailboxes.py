"""Put messages into mailboxes, in an order that no late commit can spoil."""

from collections.abc import Sequence
from uuid import UUID

from django.db.models import F

from accounts.models import Actor
from boards.nudges import Nudge, nudge
from tasks_people.models import Mailbox, Message


def deliver(recipient: Actor, messages: Sequence[Message]) -> None:
    """Number and save them, in the caller's transaction, which keeps the recipient's
    mailbox locked until its end."""
    open_mailbox(recipient.pk)
    box = Mailbox.objects.filter(actor=recipient)
    box.update(last_number=F("last_number") + len(messages))
    last = box.values_list("last_number", flat=True).get()
    for offset, message in enumerate(reversed(messages)):
        message.recipient, message.number = recipient, last - offset
    Message.objects.bulk_create(messages)
    nudge(Nudge(recipient.workspace_id, actor_id=recipient.pk))


def open_mailbox(actor_id: UUID) -> None:
    """Make it if it isn't there."""
    Mailbox.objects.bulk_create([Mailbox(actor_id=actor_id)], ignore_conflicts=True)
