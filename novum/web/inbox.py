"""Messages for people: the bell, the list, and which of them go out as e-mail."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.core.mail import mailers
from django.http import HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_POST, require_safe

from accounts.callers import Caller
from novum.web import posted
from novum.web.card_fields import pretty
from novum.web.pages import PageRequest, done, is_fragment, page
from tasks_people import inbox
from tasks_people.inbox import MailKind
from tasks_people.shapes import MessageShape
from tasks_people.verbs.digest import MAILER, mute
from tasks_people.verbs.gather import gather_for
from tasks_people.verbs.messages import mark_read

PER_PAGE = 50
MAX_EXTRA_CHARACTERS = 400


@dataclass(frozen=True)
class Told:
    """A message as it's read. `text` is in quotes below the sentence."""

    message: MessageShape
    icon: str
    tone: str
    what: str
    by: str
    key: str
    title: str
    text: str

    @property
    def is_of_card(self) -> bool:
        return bool(self.key)


@require_safe
@page
def messages(request: PageRequest) -> HttpResponse:
    """`unread` in the address: only those."""
    caller = request.caller
    gather_for(caller.workspace_id, caller.actor_id)
    only_unread = request.GET.get("unread") == "1"
    token = request.GET.get("page", "")
    found = inbox.messages(
        caller, unread=only_unread, page_size=PER_PAGE, page_token=token
    )
    values = {
        "told": [told(one) for one in found.items],
        "next_page": found.next_page_token,
        "only_unread": only_unread,
        "count": inbox.unread(caller),
        "nav": "messages",
    }
    template = "inbox/inbox.html" + ("#list" if is_fragment(request) else "")
    return render(request, template, values)


@require_POST
@page
def read(request: PageRequest) -> HttpResponse:
    """One (`message`), or all."""
    one = posted.uuid(request, "message")
    count = mark_read(request.caller, ids=[one] if one else None)
    if one:
        return done(request)
    text = ngettext(
        "%(count)d message is marked as read.",
        "%(count)d messages are marked as read.",
        count,
    )
    return done(request, text % {"count": count})


@require_POST
@page
def mail(request: PageRequest) -> HttpResponse:
    """Which kinds of news go out as e-mail: those that were ticked."""
    wanted = set(request.POST.getlist("kind"))
    kinds = [one.name for one in inbox.mail_kinds(request.caller)]
    mute(request.caller, kinds=[name for name in kinds if name not in wanted])
    return done(request, _("Saved."))


def told(message: MessageShape) -> Told:
    """What a message says, in words."""
    said = message.payload if isinstance(message.payload, dict) else {}
    kind = said.get("status", "done") if message.type == "task.done" else message.type
    what, icon, tone = _words(kind, message)
    return Told(
        message=message,
        icon=icon,
        tone=tone,
        what=what,
        by=_string(said.get("by")) or message.sender or "",
        key=_string(said.get("key")) if _is_id(message.correlation_id) else "",
        title=_string(said.get("title")),
        text=_extra(message, said),
    )


def thread(caller: Caller, card_id: Any) -> list[Told]:
    """What was told about a card, by or to the caller."""
    return [told(one) for one in inbox.thread(caller, card_id=card_id)]


def mail_kinds(caller: Caller) -> tuple[list[MailKind], bool]:
    """The switches, and whether this server sends any mail."""
    return inbox.mail_kinds(caller), MAILER in mailers


def _words(kind: str, message: MessageShape) -> tuple[str, str, str]:
    """The sentence behind the name, the icon, the colour."""
    known = {
        "done": (_("has done"), "circle-check", "done"),
        "failed": (_("has failed at"), "circle-x", "failed"),
        "declined": (_("has declined"), "hand", "failed"),
        "cancelled": (_("has called off"), "x", "waiting"),
        "task.assigned": (_("has given you"), "inbox", "working"),
        "card.mentioned": (_("has mentioned you on"), "message-square", "working"),
    }
    other = _("writes on %s") % message.topic
    return known.get(kind, (other, "message-square", "open"))


def _extra(message: MessageShape, said: dict[str, Any]) -> str:
    if message.type == "task.assigned":
        return ""
    if message.type == "card.mentioned":
        return _cut(_string(said.get("text")))
    if message.type == "task.done":
        result = said.get("result")
        if said.get("error"):
            return _cut(_string(said["error"]))
        if isinstance(result, dict) and set(result) == {"text"}:
            return _cut(_string(result["text"]))
        return _cut(pretty(result))
    return _cut(pretty(message.payload))


def _is_id(text: str) -> bool:
    try:
        UUID(text)
    except ValueError:
        return False
    return len(text) == 36


def _string(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _cut(text: str) -> str:
    most = MAX_EXTRA_CHARACTERS
    return text if len(text) <= most else f"{text[: most - 1]}…"
