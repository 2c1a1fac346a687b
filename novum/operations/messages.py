"""Messages between actors: hear back from tasks, tell each other something."""

from functools import partial
from typing import Annotated, Any, Literal
from uuid import UUID

import msgspec
from msgspec import Meta

from accounts.callers import Caller
from accounts.pages import Page
from novum.operations.given.cards import Handle
from novum.operations.operation import (
    Input,
    NoInput,
    Operation,
    PageInput,
    Remembers,
)
from novum.operations.waiting import MAX_WAIT_SECONDS, until_some
from tasks_people import inbox
from tasks_people.inbox import MAX_TOPICS, MailKind
from tasks_people.postbox import POSTBOX
from tasks_people.shapes import MessageShape, TopicShape
from tasks_people.verbs import digest, messages
from tasks_people.verbs.messages import (
    DEFAULT_PULLED,
    MAX_CORRELATION_CHARACTERS,
    MAX_MARKED,
    MAX_PULLED,
)

MAX_TOPIC_CHARACTERS = 60

TopicList = Annotated[str, Meta(max_length=MAX_TOPICS * (MAX_TOPIC_CHARACTERS + 1))]
Name = Annotated[
    str, Meta(max_length=MAX_TOPIC_CHARACTERS, pattern=r"^[a-z0-9][a-z0-9._-]*$")
]


class PullMessages(Input, frozen=True):
    """`ack` marks what this call returns as read. `after`, the id of the last message
    that arrived (or "0"), reads again whatever a dropped reply has lost."""

    topics: Annotated[
        TopicList
        | Annotated[
            list[Annotated[str, Meta(max_length=MAX_TOPIC_CHARACTERS)]],
            Meta(max_length=MAX_TOPICS),
        ],
        Meta(description="One or several (a list, or commas between); empty: all."),
    ] = ""
    limit: Annotated[int, Meta(ge=1, le=MAX_PULLED)] = DEFAULT_PULLED
    after: str = ""
    ack: bool = True
    wait_seconds: Annotated[
        int,
        Meta(
            ge=0,
            le=MAX_WAIT_SECONDS,
            description="Wait for a message so long; a busy server answers sooner.",
        ),
    ] = 0


class SendMessage(Input, frozen=True):
    """Topics that begin with `tasks.` are the product's own."""

    to: Handle
    topic: Name
    type: Name = "message"
    payload: Any = None
    correlation_id: Annotated[
        str,
        Meta(
            max_length=MAX_CORRELATION_CHARACTERS,
            description="What it's about; a task's id shows it on the task.",
        ),
    ] = ""


class ListMessages(PageInput, frozen=True):
    topics: Annotated[TopicList, Meta(description="Commas between; empty: all.")] = ""
    unread: bool = False


class MarkRead(Input, frozen=True):
    """Without `ids`: all of them."""

    ids: Annotated[list[UUID], Meta(max_length=MAX_MARKED)] | None = None


class SetMail(Input, frozen=True):
    """The kinds of news that are not to come by e-mail; all others do."""

    muted: Annotated[
        list[Literal["assigned", "mentioned", "ended"]], Meta(max_length=3)
    ]


class Mail(msgspec.Struct, frozen=True):
    """What comes by e-mail, in one letter for all news of ten minutes; nothing while
    the server has no mailer."""

    has_mailer: bool
    kinds: list[MailKind]


class SentMessage(msgspec.Struct, frozen=True):
    message: MessageShape


class Marked(msgspec.Struct, frozen=True):
    """How many this call has marked, and how many are still unread."""

    marked: int
    unread: int


def msg_pull(caller: Caller, given: PullMessages) -> list[MessageShape]:
    """The end of a task is there as soon as the call that ended it was answered."""

    def look() -> list[MessageShape]:
        return messages.pull(
            caller,
            topics=given.topics,
            limit=given.limit,
            after=given.after,
            ack=given.ack,
        )

    ring = partial(POSTBOX.join, caller.workspace_id, caller.actor_id)
    return until_some(look, given.wait_seconds, ring)


def msg_send(caller: Caller, given: SendMessage) -> SentMessage:
    message_id = messages.send(
        caller,
        to=given.to,
        topic=given.topic,
        type=given.type,
        payload=given.payload,
        correlation_id=given.correlation_id,
    )
    return SentMessage(inbox.message(caller, message_id=message_id))


def msg_topics(caller: Caller, given: NoInput) -> list[TopicShape]:
    return inbox.topics(caller)


def msg_list(caller: Caller, given: ListMessages) -> Page[MessageShape]:
    """Nothing is marked as read by it."""
    return inbox.messages(
        caller,
        topics=given.topics,
        unread=given.unread,
        page_size=given.page_size,
        page_token=given.page_token,
    )


def msg_mark_read(caller: Caller, given: MarkRead) -> Marked:
    return Marked(messages.mark_read(caller, ids=given.ids), inbox.unread(caller))


def msg_mail(caller: Caller, given: NoInput) -> Mail:
    return Mail(digest.has_mailer(), inbox.mail_kinds(caller))


def msg_set_mail(caller: Caller, given: SetMail) -> Mail:
    """Messages themselves come as before."""
    digest.mute(caller, kinds=given.muted)
    return msg_mail(caller, NoInput())


OPERATIONS = (
    Operation(
        name="msg.pull",
        method="POST",
        path="/messages:pull",
        summary="One's unread messages in order, such as results on `tasks.done`.",
        input=PullMessages,
        output=list[MessageShape],
        call=msg_pull,
        scope="read",
        who="anybody",
        errors=("invalid",),
    ),
    Operation(
        name="msg.send",
        method="POST",
        path="/messages",
        summary="Tell a person or an agent something, on any free topic.",
        input=SendMessage,
        output=SentMessage,
        call=msg_send,
        scope="write",
        who="anybody",
        errors=("invalid",),
        status=201,
        remembers=Remembers(
            lambda made: [made.message.id],
            lambda caller, given, ids: SentMessage(
                inbox.message(caller, message_id=ids[0])
            ),
        ),
    ),
    Operation(
        name="msg.topics",
        method="GET",
        path="/messages/topics",
        summary="The topics of one's messages, with how many are unread.",
        input=NoInput,
        output=list[TopicShape],
        call=msg_topics,
        scope="read",
        who="anybody",
    ),
    Operation(
        name="msg.list",
        method="GET",
        path="/messages",
        summary="One's messages, latest first.",
        input=ListMessages,
        output=Page[MessageShape],
        call=msg_list,
        scope="read",
        who="anybody",
        errors=("bad_cursor", "invalid"),
    ),
    Operation(
        name="msg.mark_read",
        method="POST",
        path="/messages:mark-read",
        summary="Mark messages as read: these, or all.",
        input=MarkRead,
        output=Marked,
        call=msg_mark_read,
        scope="read",
        who="anybody",
        errors=("invalid",),
        repeatable=True,
    ),
    Operation(
        name="msg.mail",
        method="GET",
        path="/me/mail",
        summary="Which news come to the caller by e-mail.",
        input=NoInput,
        output=Mail,
        call=msg_mail,
        scope="read",
        who="anybody",
    ),
    Operation(
        name="msg.set_mail",
        method="PUT",
        path="/me/mail",
        summary="Switch off kinds of news that are not to come by e-mail.",
        input=SetMail,
        output=Mail,
        call=msg_set_mail,
        scope="read",
        who="anybody",
        errors=("invalid",),
        destroys=False,
    ),
)
