"""Activity: the event log as a page, and taken away as a file."""

import csv
import json
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, time, timedelta
from io import StringIO
from typing import Any
from urllib.parse import urlencode

from django import forms
from django.http import HttpResponse, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.utils.dateparse import parse_date, parse_datetime
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_safe

from accounts import reads as accounts
from accounts.callers import Caller
from accounts.errors import NotFound
from accounts.pages import BadCursor
from boards import reads
from boards.activity import KINDS, ActivityFilter, activity, everything
from boards.activity_lines import Line, lines
from novum.web.pages import PageRequest, is_fragment, page

PER_PAGE = 50
PER_BATCH = 500
MOST_CHOICES = 200
TYPES = (
    ("card.*", _("Cards")),
    ("card.lease.*", _("Work on cards")),
    ("card.lease.failed,card.lease.expired,card.lease.deadlettered", _("What failed")),
    ("card.lease.deadlettered", _("Dead letters")),
    ("card.moved", _("Moves")),
    ("card.commented", _("Comments")),
    ("column.*", _("Columns and contracts")),
    ("board.*", _("Boards")),
)
# By the longest beginning that fits: icon and shade.
LOOKS = (
    ("card.lease.completed", "circle-check", "done"),
    ("card.lease.failed", "circle-x", "failed"),
    ("card.lease.deadlettered", "circle-x", "failed"),
    ("card.lease.expired", "hourglass", "failed"),
    ("card.lease.claimed", "play", "working"),
    ("card.lease.", "rotate-ccw", "waiting"),
    ("card.commented", "message-square", "muted"),
    ("card.created", "plus", "muted"),
    ("card.moved", "arrow-right", "muted"),
    ("card.updated", "pencil", "muted"),
    ("card.archived", "archive", "muted"),
    ("card.restored", "archive-restore", "muted"),
    ("card.requeued", "rotate-ccw", "waiting"),
    ("card.cancel", "x", "failed"),
    ("column.paused", "pause", "waiting"),
    ("column.resumed", "play", "working"),
    ("column.", "settings", "muted"),
    ("board.", "kanban", "muted"),
    ("task.done", "flag", "muted"),
    ("", "activity", "muted"),
)
FIELDS = (
    *("id", "at", "type", "actor", "actor_kind", "board", "column"),
    *("card", "title", "card_id", "lease_id", "data"),
)
# What spreadsheets take for the beginning of a formula.
FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")


class FilterForm(forms.Form):
    """What doesn't make sense is no condition: a link never leads to an error page."""

    kind = forms.ChoiceField(required=False, choices=[(one, one) for one in KINDS])
    type = forms.CharField(required=False, max_length=300)
    actor = forms.CharField(required=False, max_length=40)
    board = forms.UUIDField(required=False)
    card = forms.UUIDField(required=False)
    since = forms.CharField(required=False, max_length=40)
    until = forms.CharField(required=False, max_length=40)

    def wanted(self) -> ActivityFilter:
        self.is_valid()
        given = self.cleaned_data
        types = tuple(one.strip() for one in given.get("type", "").split(","))
        return ActivityFilter(
            types=tuple(one for one in types if one),
            kind=given.get("kind") or None,
            actor=given.get("actor") or None,
            board_id=given.get("board"),
            card_id=given.get("card"),
            since=_moment(given.get("since", "")),
            until=_moment(given.get("until", ""), a_day_on=True),
            for_people=True,
        )


@require_safe
@page
def shown(request: PageRequest) -> HttpResponse:
    form = FilterForm(request.GET)
    before = request.GET.get("before", "")
    try:
        found = activity(request.caller, form.wanted(), before=before, limit=PER_PAGE)
    except (NotFound, BadCursor):
        return redirect("activity")
    asked = {name: request.GET[name] for name in form.fields if request.GET.get(name)}
    values = {
        "rows": [
            (one, *_look(one.what.type))
            for one in lines(found.items, request.caller.workspace_key)
        ],
        "asked": asked,
        "before": before,
        "older": urlencode({**asked, "before": found.before}) if found.before else "",
        "latest": urlencode(asked),
        "nav": "fleet",
        "tab": "activity",
    }
    if is_fragment(request):
        response = render(request, "supervision/activity.html#log", values)
        response["Cache-Control"] = "no-store"
        return response
    values |= _choices(request.caller)
    return render(request, "supervision/activity.html", values)


@require_safe
@page
def exported(request: PageRequest) -> Any:
    """What the filter gives, all of it, as it is read: CSV or JSON lines."""
    caller, wanted = request.caller, FilterForm(request.GET).wanted()
    # Refused before the first byte is out.
    activity(caller, wanted, limit=1)
    as_csv = request.GET.get("format") != "jsonl"
    records = _records(caller, wanted)
    response = StreamingHttpResponse(
        _csv(records) if as_csv else _json_lines(records),
        content_type="text/csv; charset=utf-8" if as_csv else "application/x-ndjson",
    )
    name = f"activity-{datetime.now(UTC):%Y%m%dT%H%M%SZ}.{'csv' if as_csv else 'jsonl'}"
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    response["Cache-Control"] = "no-store"
    return response


def _records(caller: Caller, wanted: ActivityFilter) -> Iterator[list[dict[str, Any]]]:
    for rows in everything(caller, wanted, batch=PER_BATCH):
        yield [_record(one) for one in lines(rows, caller.workspace_key)]


def _record(one: Line) -> dict[str, Any]:
    actor, card = one.what.actor, one.card
    return {
        "id": str(one.id),
        "at": one.what.at.isoformat(),
        "type": one.what.type,
        "actor": actor.handle if actor else None,
        "actor_kind": actor.kind if actor else None,
        "board": one.board,
        "column": one.column,
        "card": card.key if card else None,
        "title": card.title if card else None,
        "card_id": str(card.id) if card else None,
        "lease_id": str(one.lease_id) if one.lease_id else None,
        "data": one.what.data,
    }


def _csv(batches: Iterable[list[dict[str, Any]]]) -> Iterator[str]:
    out = StringIO()
    writer = csv.writer(out)
    writer.writerow(FIELDS)
    for records in batches:
        writer.writerows([[_cell(one[name]) for name in FIELDS] for one in records])
        yield out.getvalue()
        out.seek(0)
        out.truncate()
    yield out.getvalue()


def _cell(value: Any) -> str:
    """A text that a spreadsheet would compute is marked as text (OWASP, CSV
    injection)."""
    if isinstance(value, dict):
        return json.dumps(value, ensure_ascii=False)
    text = "" if value is None else str(value)
    return f"'{text}" if text.startswith(FORMULA) else text


def _json_lines(batches: Iterable[list[dict[str, Any]]]) -> Iterator[str]:
    for records in batches:
        yield "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in records)


def _choices(caller: Caller) -> dict[str, Any]:
    boards = reads.boards(
        caller, archived=False, page_size=MOST_CHOICES, page_token=""
    ).items
    members = accounts.members(caller, page_size=MOST_CHOICES, page_token="").items
    return {
        "boards": [(str(one.id), one.name) for one in boards],
        "actors": [(one.handle, one.name) for one in members],
        "types": TYPES,
        "is_choice": {value for value, _ in TYPES},
    }


def _look(type: str) -> tuple[str, str]:
    return next((icon, shade) for begin, icon, shade in LOOKS if type.startswith(begin))


def _moment(text: str, *, a_day_on: bool = False) -> datetime | None:
    """A moment, in UTC unless it says another zone; or a day, of which `a_day_on` means
    the end."""
    try:
        if day := parse_date(text):
            found = datetime.combine(day, time(), UTC)
            return found + timedelta(days=1) if a_day_on else found
        moment = parse_datetime(text)
    except (ValueError, OverflowError):
        return None
    if moment is None or moment.tzinfo:
        return moment
    return moment.replace(tzinfo=UTC)
