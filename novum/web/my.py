"""My tasks: one for now, two next, the rest folded."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from accounts import reads as account_reads
from accounts.errors import DomainError, Invalid
from boards.verbs.places import Place
from leases.errors import OutputRejected
from novum.web import faces, posted, result_form
from novum.web.account_forms import blame
from novum.web.card_fields import pretty
from novum.web.markdown import render as markdown
from novum.web.pages import PageRequest, done, is_fragment, page, refuse
from novum.web.result_form import ResultForm, form_of
from novum.web.tasks_form import PRIORITIES, NewTask
from tasks_people.errors import NotHeld
from tasks_people.items import TaskItem
from tasks_people.queues import PEOPLE
from tasks_people.stack import Foremost, Stack, stack
from tasks_people.verbs import create, hold, order, people

BY_KEY = 3
MAX_PEOPLE = 200
MAX_FACTS = 30
MAX_FACT_CHARACTERS = 500


@dataclass(frozen=True)
class Row:
    """A task in the list. `number` is its key (0: none); `above` and `below` are the
    ones between which it can be moved."""

    item: TaskItem
    face: faces.Face
    number: int
    above: UUID | None
    below: UUID | None


@dataclass(frozen=True)
class Fact:
    """One entry of a flat payload."""

    name: str
    text: str

    @property
    def is_link(self) -> bool:
        return self.text.startswith(("https://", "http://"))


@page
def my(request: PageRequest) -> HttpResponse:
    """`task` in the address: that one, instead of the most important one."""
    return _page(request)


@require_POST
@page
def add(request: PageRequest) -> HttpResponse:
    """One of one's own."""
    form = NewTask(request.POST)
    if form.is_valid():
        try:
            create.create(
                request.caller,
                queue=PEOPLE,
                assignee=request.caller.handle,
                **form.fields_of_task(),
            )
        except DomainError as error:
            blame(form, error)
        else:
            return done(request, _("Added to your tasks."))
    if is_fragment(request):
        said = " ".join(str(one) for every in form.errors.values() for one in every)
        return refuse(request, Invalid(said))
    return _page(request, add=form, status=422)


@require_POST
@page
def start(request: PageRequest, task_id: UUID) -> HttpResponse:
    """It's theirs until they end it. Somebody else's: says whose."""
    people.start(request.caller, task_id=task_id)
    return done(request, _("It's yours.") if not is_fragment(request) else "")


@require_POST
@page
def finish(request: PageRequest, task_id: UUID) -> HttpResponse:
    """What doesn't fit comes back in its form, each problem at its field."""
    seen = stack(request.caller, chosen=task_id)
    now = seen.now
    is_shown = now is not None and now.item.id == task_id
    schema = now.output_schema if now and is_shown else None
    form, result = result_form.read(request, schema)
    if form.wrong and is_shown:
        return _page(request, seen=seen, said=form, status=422)
    try:
        hold.complete(request.caller, task_id=task_id, result=result)
    except OutputRejected as error:
        result_form.blame(form, error.errors)
        return _page(request, seen=seen, said=form, status=422)
    except NotHeld as error:
        if is_fragment(request):
            raise
        return _page(request, lost=(error.detail, form.typed), status=409)
    return done(request, _("Done."))


@require_POST
@page
def give_back(request: PageRequest, task_id: UUID) -> HttpResponse:
    note = posted.text(request, "note")
    hold.give_back(request.caller, task_id=task_id, note=note)
    return done(request, _("Given back. It's open for others again."))


@require_POST
@page
def decline(request: PageRequest, task_id: UUID) -> HttpResponse:
    reason = posted.text(request, "reason")
    people.decline(request.caller, task_id=task_id, reason=reason)
    return done(request, _("Declined. Whoever asked is told why."))


@require_POST
@page
def prioritize(request: PageRequest, task_id: UUID) -> HttpResponse:
    priority = posted.number(request, "priority")
    if priority is None:
        raise Invalid.at("/priority", "required", _("Choose a priority."))
    order.prioritize(request.caller, task_id=task_id, priority=priority)
    return done(request)


@require_POST
@page
def move(request: PageRequest, task_id: UUID) -> HttpResponse:
    """Before or after another one."""
    before, after = posted.uuid(request, "before"), posted.uuid(request, "after")
    place = Place.of(before, after, None)
    if place is None:
        raise Invalid(_("Say before or after which one."))
    order.reorder(request.caller, task_id=task_id, place=place)
    return done(request)


@require_POST
@page
def hand_over(request: PageRequest, task_id: UUID) -> HttpResponse:
    """To somebody, or to anybody."""
    handle = posted.text(request, "assignee").strip().lstrip("@")
    order.assign(request.caller, task_id=task_id, assignee=handle or None)
    if not handle:
        return done(request, _("It's open for anybody now."))
    return done(request, _("Handed over to @%s.") % handle)


def _page(
    request: PageRequest,
    *,
    seen: Stack | None = None,
    said: ResultForm | None = None,
    add: NewTask | None = None,
    lost: tuple[str, str] | None = None,
    status: int = 200,
) -> HttpResponse:
    """`said` is a result that didn't fit; `lost` one whose task is somebody else's."""
    caller = request.caller
    seen = seen or stack(caller, chosen=_chosen(request))
    rows = _rows(seen)
    now = seen.now
    shown = now.item.id if now else None
    others = [row for row in rows if row.item.id != shown]
    values = {
        "stack": seen,
        "now": _now(caller.actor_id, now, said) if now else None,
        "row": next((row for row in rows if row.item.id == shown), None),
        "next": others[: len(seen.next)],
        "later": others[len(seen.next) :],
        "members": _members(request) if now else [],
        "priorities": PRIORITIES,
        "form": add or NewTask(),
        "lost": lost,
        "here": reverse("my"),
        "nav": "my",
    }
    if is_fragment(request):
        response = render(request, "my/my.html#stack", values, status=status)
        response["Cache-Control"] = "no-store"
        return response
    return render(request, "my/my.html", values, status=status)


def _chosen(request: PageRequest) -> UUID | None:
    try:
        return UUID(request.GET.get("task", ""))
    except ValueError:
        return None


def _members(request: PageRequest) -> list[Any]:
    found = account_reads.members(request.caller, page_size=MAX_PEOPLE, page_token="")
    here = request.caller.actor_id
    return [one for one in found.items if not one.disabled and one.id != here]


def _rows(seen: Stack) -> list[Row]:
    items = seen.items

    def neighbour(place: int, step: int) -> UUID | None:
        other = items[place + step] if 0 <= place + step < len(items) else None
        if other is None or not _are_peers(other, items[place]):
            return None
        return other.id

    return [
        Row(
            item=item,
            face=faces.face(item.view, item.queue),
            number=place + 1 if place < BY_KEY else 0,
            above=neighbour(place, -1),
            below=neighbour(place, 1),
        )
        for place, item in enumerate(items)
    ]


def _are_peers(one: TaskItem, other: TaskItem) -> bool:
    """An order between them is one that the queue has, too."""
    here, there = one.view.card, other.view.card
    same = here.column_id == there.column_id
    return same and one.view.shade == other.view.shade == "open"


def _now(me: UUID, now: Foremost, said: ResultForm | None) -> dict[str, Any]:
    card, task = now.item.view.card, now.task
    return {
        "item": now.item,
        "task": task,
        "face": faces.face(now.item.view, now.item.queue),
        "is_mine": card.holder_id == me and now.item.state == "claimed",
        "description": markdown(task.description),
        "facts": _facts(task.payload),
        "payload": pretty(task.payload),
        "form": said or form_of(now.output_schema),
        "schema": pretty(now.output_schema),
        "attempts": now.attempts,
    }


def _facts(payload: Any) -> list[Fact]:
    """Of a payload that is flat; none where it has to be shown as JSON."""
    if not isinstance(payload, dict) or len(payload) > MAX_FACTS:
        return []
    found = []
    for name, value in payload.items():
        text = _plain(value)
        if text is None or len(text) > MAX_FACT_CHARACTERS:
            return []
        found.append(Fact(name, text))
    return found


def _plain(value: Any) -> str | None:
    if isinstance(value, list) and value:
        parts = [None if isinstance(one, list) else _plain(one) for one in value]
        return None if None in parts else ", ".join(part for part in parts if part)
    if isinstance(value, bool):
        return _("yes") if value else _("no")
    if value is None:
        return "-"
    return str(value) if isinstance(value, str | int | float) else None
