"""E-mail for people: never one per event, but one for all that came in a while."""

import logging
from collections.abc import Sequence
from datetime import timedelta
from smtplib import SMTPException
from uuid import UUID

from django.conf import settings
from django.core.mail import EmailMessage, mailers
from django.db.models import F
from django.utils.timezone import now

from accounts.callers import Caller
from accounts.errors import Invalid
from accounts.models import Actor
from boards.models import Card
from tasks_people.inbox import MAIL_KINDS
from tasks_people.models import Mailbox, Message
from tasks_people.verbs.mailboxes import open_mailbox

# Counted from the first news: so long what comes is collected.
WINDOW = timedelta(minutes=10)
MAILER = "default"
MOST_LINES = 50
BATCH = 500
log = logging.getLogger(__name__)


def mute(caller: Caller, *, kinds: Sequence[str]) -> None:
    """What the caller does not want by e-mail (`Mailbox.Mail`); all else they do.
    Raises Invalid."""
    unknown = sorted(set(kinds) - set(Mailbox.Mail.values))
    if unknown:
        known = ", ".join(Mailbox.Mail.values)
        raise Invalid.at("/kinds", "unknown_kind", f"Kinds are {known}.")
    open_mailbox(caller.actor_id)
    Mailbox.objects.filter(pk=caller.actor_id).update(muted=sorted(set(kinds)))


def has_mailer() -> bool:
    return MAILER in mailers


def send_digests() -> int:
    """A mail to everybody whose first unmailed news is older than WINDOW; how many.

    Nothing where no mailer is set. Safe when many run: who moves the mark sends. A mail
    that can't be sent is tried again with the next pass.
    """
    if not has_mailer():
        return 0
    boxes = Mailbox.objects.filter(
        last_number__gt=F("mailed_number"),
        actor__kind=Actor.Kind.PERSON,
        actor__disabled_at=None,
        actor__user__is_active=True,
    ).exclude(actor__user__email="")
    found = boxes.select_related("actor__user")[:BATCH]
    return sum(_send(box) for box in found)


def _send(box: Mailbox) -> bool:
    news = Message.objects.filter(recipient_id=box.pk, number__gt=box.mailed_number)
    rows = list(news.select_related("sender").order_by("number"))
    if not rows or rows[0].created_at > now() - WINDOW:
        return False
    mine = Mailbox.objects.filter(pk=box.pk)
    last = rows[-1].number
    # No lock is held while a mail server takes its time.
    moved = mine.filter(mailed_number=box.mailed_number).update(mailed_number=last)
    wanted = [row for row in rows if _is_wanted(box, row)]
    if not moved or not wanted or box.actor.user is None:
        return False
    try:
        EmailMessage(
            subject=f"Novum: {len(wanted)} news for you",
            body=_body(wanted),
            from_email=settings.MAIL_FROM,
            to=[box.actor.user.email],
        ).send(using=MAILER)
    except (OSError, SMTPException) as error:
        log.warning("The mail to @%s wasn't sent: %s", box.actor.handle, error)
        mine.filter(mailed_number=last).update(mailed_number=box.mailed_number)
        return False
    return True


def _is_wanted(box: Mailbox, row: Message) -> bool:
    """Not what they have read meanwhile, nor what is between agents and them."""
    kind = MAIL_KINDS.get(row.topic)
    return row.read_at is None and kind is not None and kind not in box.muted


def _body(rows: Sequence[Message]) -> str:
    boards = _boards(rows)
    lines = [_line(row, boards) for row in rows[:MOST_LINES]]
    if len(rows) > MOST_LINES:
        lines.append(f"… and {len(rows) - MOST_LINES} more.")
    lines.append(
        f"Switch these mails off in your profile: {settings.NOVUM_URL}/profile"
    )
    return "\n\n".join(lines) + "\n"


def _line(row: Message, boards: dict[str, UUID]) -> str:
    said = row.payload or {}
    what = {
        "task.assigned": "{by} gave you {key} {title}",
        "task.cancelled": "{by} called off {key} {title}: {text}",
        "card.mentioned": "{by} mentioned you on {key} {title}: {text}",
    }.get(row.type, "{key} {title} is {status}, by {by}")
    facts = {"by": "Somebody", "key": "", "title": "", "text": "", "status": "done"}
    text = what.format(**{**facts, **{k: v for k, v in said.items() if v}})
    board = boards.get(row.correlation_id)
    if board is None:
        return text
    return f"{text}\n{settings.NOVUM_URL}/boards/{board}/cards/{row.correlation_id}"


def _boards(rows: Sequence[Message]) -> dict[str, UUID]:
    cards = Card.objects.filter(pk__in={row.correlation_id for row in rows})
    return {str(pk): board for pk, board in cards.values_list("pk", "board_id")}
