"""A card's face: all that is on it as plain text, and its HTML, kept while it's the same.

The template gets a `Face` and nothing else. So two cards with the same face look the
same, and the HTML of one that nobody has changed need not be made again: neither for
the next page nor for the next viewer.
"""

from datetime import datetime
from functools import lru_cache
from typing import Any, NamedTuple
from uuid import UUID

from django.template.loader import get_template
from django.utils.formats import date_format
from django.utils.safestring import SafeString, mark_safe
from django.utils.timesince import timesince
from django.utils.translation import get_language
from django.utils.translation import gettext as _

from leases.wall import CardView

# Of about 2 kB each, per process and language.
KEPT = 5_000
MAX_LABELS = 6
MAX_SKILLS = 3
MAX_REASON_CHARACTERS = 160
MAX_AGAIN_CHARACTERS = 60


class Who(NamedTuple):
    kind: str
    handle: str
    name: str


class Chip(NamedTuple):
    """The lease in force; `expires` empty where it never lapses."""

    lease: UUID
    holder: Who
    tries: str
    expires: str
    clock: str
    seconds: int
    renewals: int


class Face(NamedTuple):
    """What isn't shown is empty. `again` is the reason where it's only mentioned;
    `doing_by` is who says to be at it without a lease; `stopping`: its holder is asked
    to stop."""

    id: UUID
    url: str
    order: str
    version: int
    shade: str
    key: str
    title: str
    labels: tuple[str, ...]
    more_labels: int
    priority: int
    chip: Chip | None
    waits_until: str
    waits_words: str
    attempts: int
    tries: str
    problem: str
    reason: str
    again: str
    due: str
    due_words: str
    overdue: str
    comments: int
    assignee: Who | None
    doing: str
    doing_by: str
    cancelled: bool
    stopping: bool
    skills: tuple[str, ...]
    more_skills: int
    queue: str = ""


def html(view: CardView, queue: str = "") -> SafeString:
    """The card as on the board; with its queue, where several are shown together."""
    return _html(face(view, queue), get_language())


@lru_cache(KEPT)
def _html(shown: Face, language: str | None) -> SafeString:
    template: Any = get_template("boards/_card.html")
    text: str = template.render({"face": shown})
    return mark_safe(text.strip())


def why(reason: str) -> str:
    """What an attempt ended by, in words where it's a code of ours."""
    return _("its worker fell silent") if reason == "lease_expired" else reason


def face(view: CardView, queue: str = "") -> Face:
    card, reason = view.card, why(view.reason)
    labels = card.labels
    waits = card.available_at if view.shade == "waiting" else None
    late_since = card.due if view.is_overdue else None
    return Face(
        id=card.pk,
        url=f"/boards/{card.board_id}/cards/{card.pk}",
        order=view.order,
        version=card.version,
        shade=view.shade,
        key=view.key,
        title=card.title,
        labels=tuple(labels[:MAX_LABELS]),
        more_labels=max(0, len(labels) - MAX_LABELS),
        priority=card.priority,
        chip=chip(view),
        waits_until=waits.isoformat() if waits else "",
        waits_words=date_format(waits, "j M, H:i") if waits else "",
        attempts=card.attempts,
        tries=_tries(card.attempts, view.max_attempts),
        problem=_cut(view.problem, MAX_REASON_CHARACTERS),
        reason=_cut(reason, MAX_REASON_CHARACTERS),
        again=_cut(reason, MAX_AGAIN_CHARACTERS),
        due=card.due.isoformat() if card.due else "",
        due_words=date_format(card.due, "j M") if card.due and not late_since else "",
        overdue=timesince(late_since) if late_since else "",
        comments=view.comments,
        assignee=_who(card.assignee) if card.assignee_id else None,
        doing=view.doing,
        doing_by=f"@{by.handle}" if (by := view.doing_by) and not view.lease else "",
        cancelled=card.cancelled_at is not None,
        stopping=view.lease is not None and view.lease.cancel_requested_at is not None,
        skills=tuple(card.skills[:MAX_SKILLS]),
        more_skills=max(0, len(card.skills) - MAX_SKILLS),
        queue=queue,
    )


def chip(view: CardView) -> Chip | None:
    lease = view.lease
    if lease is None:
        return None
    expires: datetime | None = lease.expires_at
    return Chip(
        lease=lease.pk,
        holder=_who(lease.holder),
        tries=_tries(lease.attempt, view.max_attempts),
        expires=expires.isoformat() if expires else "",
        clock=f"{expires:%H:%M:%S}" if expires else "",
        seconds=lease.seconds or 0,
        renewals=lease.renewals,
    )


def _who(actor: Any) -> Who:
    return Who(actor.kind, actor.handle, actor.name)


def _tries(number: int, most: int) -> str:
    return f"{number}/{most}" if most else str(number)


def _cut(text: str, length: int) -> str:
    return text if len(text) <= length else f"{text[: length - 1]}…"
