"""The board's filter: a form by GET, so that it is the page's address."""

from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django import forms
from django.http import QueryDict
from django.utils.translation import gettext_lazy as _

from accounts import reads
from accounts.callers import Caller
from accounts.shapes import MemberShape
from leases import wall
from leases.wall_filter import WallFilter

STATES = (
    ("open", _("Open")),
    ("working", _("Being worked on")),
    ("waiting", _("Waiting")),
    ("misfit", _("Doesn't fit")),
    ("failed", _("Failed")),
    ("done", _("Done")),
    ("none", _("Not in a queue")),
)
DUE = (
    ("overdue", _("Overdue")),
    ("soon", _("Within a week")),
    ("none", _("Without a date")),
)
MOST_MEMBERS = 200


class FilterForm(forms.Form):
    """What doesn't make sense is no condition: a link never leads to an error page."""

    q = forms.CharField(required=False, max_length=200)
    label = forms.CharField(required=False, max_length=50)
    assignee = forms.CharField(required=False, max_length=40)
    holder = forms.CharField(required=False, max_length=40)
    state = forms.ChoiceField(required=False, choices=STATES)
    due = forms.ChoiceField(required=False, choices=DUE)
    shown = forms.IntegerField(required=False, min_value=1)


@dataclass(frozen=True)
class Filtering:
    """The filter of one request, and what the form shows."""

    wanted: WallFilter
    values: dict[str, Any]
    shown: int

    @property
    def is_active(self) -> bool:
        return self.wanted.is_active()

    @property
    def query(self) -> str:
        """The same conditions as a query string, without a question mark."""
        return urlencode({name: value for name, value in self.values.items() if value})


@dataclass(frozen=True)
class Choices:
    """What there is to choose from on one board."""

    labels: list[str]
    members: list[MemberShape]
    states: Any = STATES
    dues: Any = DUE


def filtering(query: QueryDict) -> Filtering:
    form = FilterForm(query)
    form.is_valid()
    values = form.cleaned_data
    shown = values.pop("shown", None) or wall.CARDS_PER_PAGE
    wanted = WallFilter(
        text=values.get("q") or None,
        labels=(values["label"],) if values.get("label") else (),
        assignee=values.get("assignee") or None,
        holder=values.get("holder") or None,
        state=values.get("state") or None,
        due=values.get("due") or None,
    )
    return Filtering(wanted, values, shown)


def choices(caller: Caller, board_id: UUID) -> Choices:
    """For those who may see the board."""
    members = reads.members(caller, page_size=MOST_MEMBERS, page_token="")
    return Choices(wall.labels(board_id), list(members.items))
