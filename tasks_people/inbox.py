"""Messages as those see them whom they are for."""

from collections.abc import Iterable
from dataclasses import dataclass
from uuid import UUID

from django.db.models import Count, Q, QuerySet

from accounts.callers import Caller
from accounts.errors import Invalid
from accounts.pages import Page, cut_page, paged
from boards.reads import card
from tasks_people.models import Mailbox, Message
from tasks_people.shapes import MessageShape, TopicShape, message_shape

# The product's own topics.
TASKS_DONE = "tasks.done"
TASKS_ASSIGNED = "tasks.assigned"
TASKS_CANCELLED = "tasks.cancelled"
MENTIONS = "mentions"
# What of them goes out as e-mail, and as which kind.
MAIL_KINDS: dict[str, str] = {
    TASKS_ASSIGNED: Mailbox.Mail.ASSIGNED,
    TASKS_CANCELLED: Mailbox.Mail.ASSIGNED,
    MENTIONS: Mailbox.Mail.MENTIONED,
    TASKS_DONE: Mailbox.Mail.ENDED,
}
MAX_TOPICS = 50
MAX_THREAD = 200


def with_people(rows: QuerySet[Message]) -> QuerySet[Message]:
    return rows.select_related("sender", "recipient")


def topics_of(said: str | list[str]) -> list[str]:
    """Names with commas between, or a list; none means all. Raises Invalid."""
    parts = said.split(",") if isinstance(said, str) else said
    names = [name for part in parts if (name := part.strip())]
    if len(names) > MAX_TOPICS:
        raise Invalid.at("/topics", "out_of_range", f"At most {MAX_TOPICS} topics.")
    return names


@paged
def messages(
    caller: Caller,
    *,
    topics: str = "",
    unread: bool = False,
    page_size: int,
    page_token: str = "",
) -> Page[MessageShape]:
    """The caller's messages, latest first. Marks nothing as read. Raises BadCursor."""
    rows = with_people(Message.objects.filter(recipient_id=caller.actor_id))
    if names := topics_of(topics):
        rows = rows.filter(topic__in=names)
    if unread:
        rows = rows.filter(read_at=None)
    order, types = ("-number",), tuple[int]
    return cut_page(rows, order, types, page_size, page_token, message_shape)


def message(caller: Caller, *, message_id: UUID) -> MessageShape:
    """One that the caller has sent or got."""
    row = with_people(Message.objects.filter(_concerns(caller))).get(pk=message_id)
    return message_shape(row)


def unread(caller: Caller) -> int:
    """How many messages the caller hasn't read."""
    return Message.objects.filter(recipient_id=caller.actor_id, read_at=None).count()


def unread_of(actor_ids: Iterable[UUID]) -> dict[UUID, int]:
    """The same for each of these, in one statement."""
    wanted = list(actor_ids)
    rows = Message.objects.filter(recipient_id__in=wanted, read_at=None)
    counts = rows.values_list("recipient_id").annotate(number=Count("id")).order_by()
    return dict.fromkeys(wanted, 0) | dict(counts)


def topics(caller: Caller) -> list[TopicShape]:
    """The topics on which the caller has messages, by name."""
    rows = (
        Message.objects.filter(recipient_id=caller.actor_id)
        .values_list("topic")
        .annotate(unread=Count("id", filter=Q(read_at=None)), total=Count("id"))
        .order_by("topic")
    )
    return [TopicShape(*row) for row in rows]


def thread(caller: Caller, *, card_id: UUID) -> list[MessageShape]:
    """What was said about a card by or to the caller, oldest first. Raises NotFound."""
    card(caller, card_id=card_id)
    rows = Message.objects.filter(
        _concerns(caller),
        workspace_id=caller.workspace_id,
        correlation_id=str(card_id),
    )
    latest = list(with_people(rows).order_by("-created_at")[:MAX_THREAD])
    return [message_shape(row) for row in reversed(latest)]


def _concerns(caller: Caller) -> Q:
    return Q(recipient_id=caller.actor_id) | Q(sender_id=caller.actor_id)


@dataclass(frozen=True)
class MailKind:
    """A kind of news, and whether the caller gets it by e-mail."""

    name: str
    text: str
    wanted: bool


def mail_kinds(caller: Caller) -> list[MailKind]:
    """What could be mailed to the caller, once the server has a mailer."""
    box = Mailbox.objects.filter(pk=caller.actor_id).first()
    muted = box.muted if box else []
    return [
        MailKind(name, text, name not in muted) for name, text in Mailbox.Mail.choices
    ]
