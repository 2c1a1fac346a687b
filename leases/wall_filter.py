"""Which cards a board shows: the filter of card lists, and when they are due."""

import re
from dataclasses import dataclass, replace
from datetime import timedelta

from django.db.models import Q
from django.utils.timezone import now

from boards import reads
from boards.models import Card
from boards.reads import CardFilter

DUE = ("overdue", "soon", "none")
SOON = timedelta(days=7)
_KEY = re.compile(r"\A(?:[A-Za-z0-9]{1,8}-)?([0-9]{1,18})\Z")


@dataclass(frozen=True)
class WallFilter(CardFilter):
    """`due`: overdue, soon (within a week, overdue ones included) or none."""

    due: str | None = None

    def is_active(self) -> bool:
        return self != type(self)()


def matching(wanted: CardFilter) -> Q:
    """As a filter on `Card`. The text may also be a card's key."""
    state = Card.State.CLAIMED if wanted.state == "working" else wanted.state
    found = reads.matching(replace(wanted, state=state, text=None))
    if wanted.text:
        found &= _text(wanted.text)
    if isinstance(wanted, WallFilter) and wanted.due:
        found &= _due(wanted.due)
    return found


def _text(text: str) -> Q:
    found = reads.matching(CardFilter(text=text))
    key = _KEY.match(text)
    return found | Q(number=int(key[1])) if key else found


def _due(due: str) -> Q:
    if due == "none":
        return Q(due=None)
    unfinished = ~Q(state=Card.State.DONE)
    return unfinished & Q(due__lt=now() + (SOON if due == "soon" else timedelta()))
