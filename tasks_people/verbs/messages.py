"""Messages: pull one's own, send one to somebody, mark as read."""

import re
from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django.db import transaction

from accounts.callers import Caller
from accounts.errors import Invalid
from boards.models import ClockTimestamp
from boards.verbs.boards import actor_of
from tasks_people.inbox import topics_of, with_people
from tasks_people.models import Message
from tasks_people.shapes import MessageShape, message_shape
from tasks_people.verbs.gather import gather_for
from tasks_people.verbs.mailboxes import deliver

MAX_PULLED = 100
DEFAULT_PULLED = 20
# `after` for everything that is kept.
OLDEST = "0"
MAX_CORRELATION_CHARACTERS = 200
MAX_MARKED = 500
_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,59}")
# The product's own.
_RESERVED = ("tasks.", "mentions")


def pull(
    caller: Caller,
    *,
    topics: str | list[str] = "",
    limit: int = DEFAULT_PULLED,
    after: str = "",
    ack: bool = True,
) -> list[MessageShape]:
    """The caller's next unread messages, in order. With `after` (the id of a message of
    theirs, or "0" for the oldest) all behind it, read or not: so whatever a dropped
    reply has lost is read again. `ack` marks what this call returns as read.

    Everything that was committed before the call is there. Raises Invalid.
    """
    if not 1 <= limit <= MAX_PULLED:
        detail = f"limit is 1 to {MAX_PULLED}."
        raise Invalid.at("/limit", "out_of_range", detail)
    mine = Message.objects.filter(recipient_id=caller.actor_id)
    if names := topics_of(topics):
        mine = mine.filter(topic__in=names)
    mine = (
        mine.filter(number__gt=_number(caller, after))
        if after
        else (mine.filter(read_at=None))
    )
    gather_for(caller.workspace_id, caller.actor_id)
    with transaction.atomic():
        rows = mine.order_by("number")
        if ack and not after:
            # What another worker of the seat is just being given is not given twice.
            rows = rows.select_for_update(skip_locked=True)
        ids = list(rows.values_list("pk", flat=True)[:limit])
        if ack and ids:
            Message.objects.filter(pk__in=ids, read_at=None).update(
                read_at=ClockTimestamp()
            )
        found = with_people(Message.objects.filter(pk__in=ids)).order_by("number")
        return [message_shape(row) for row in found]


@transaction.atomic
def send(
    caller: Caller,
    *,
    to: str,
    topic: str,
    type: str = "message",
    payload: Any = None,
    correlation_id: str = "",
) -> UUID:
    """Tell somebody of the workspace something, on a topic of one's own choice.

    Raises Invalid (nobody of that name, a topic of the product's own).
    """
    for field, name in (("topic", topic), ("type", type)):
        if not _NAME.fullmatch(name):
            detail = "1 to 60 small letters, digits, dots, hyphens and underscores."
            raise Invalid.at(f"/{field}", "bad_name", detail)
    if topic.startswith(_RESERVED):
        detail = f"{topic!r} is a topic of the product's own. Take another one."
        raise Invalid.at("/topic", "reserved", detail)
    if len(correlation_id) > MAX_CORRELATION_CHARACTERS:
        detail = f"At most {MAX_CORRELATION_CHARACTERS} characters."
        raise Invalid.at("/correlation_id", "too_long", detail)
    recipient = actor_of(caller, to, "/to")
    message = Message(
        workspace_id=caller.workspace_id,
        topic=topic,
        type=type,
        correlation_id=correlation_id,
        sender_id=caller.actor_id,
        payload=payload,
    )
    deliver(recipient, [message])
    return message.pk


def mark_read(caller: Caller, *, ids: Sequence[UUID] | None = None) -> int:
    """These of the caller's messages, or all of them; how many were unread."""
    mine = Message.objects.filter(recipient_id=caller.actor_id, read_at=None)
    if ids is not None:
        mine = mine.filter(pk__in=list(ids)[:MAX_MARKED])
    return mine.update(read_at=ClockTimestamp())


def _number(caller: Caller, after: str) -> int:
    """Of the caller's message with this id. Raises Invalid."""
    if after == OLDEST:
        return 0
    try:
        known = Message.objects.filter(recipient_id=caller.actor_id, pk=UUID(after))
        return known.values_list("number", flat=True).get()
    except (ValueError, Message.DoesNotExist):
        detail = (
            'That is the id of no message of yours that is still kept. "0" reads all.'
        )
        raise Invalid.at("/after", "unknown_message", detail) from None
