"""The Tasks page: all queues' tasks, open, claimed, done and failed."""

from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_safe

from accounts.errors import DomainError, Invalid, NotFound
from boards import reads
from novum.web.account_forms import blame
from novum.web.pages import PageRequest, done, is_fragment, page
from novum.web.tasks_form import NewTaskAnywhere
from tasks_people.errors import UnknownQueue
from tasks_people.listing import STATES, TaskFilter
from tasks_people.overview import Overview, more, overview
from tasks_people.verbs import create


@dataclass(frozen=True)
class Filtering:
    """The filter of one request. `problem` says what of it doesn't exist."""

    queue: str
    who: str
    problem: str = ""

    @property
    def wanted(self) -> TaskFilter:
        if self.problem:
            return TaskFilter()
        return TaskFilter(queue=self.queue or None, who=self.who or None)

    @property
    def is_active(self) -> bool:
        return bool(self.queue or self.who)

    @property
    def query(self) -> str:
        """The same as a query string, without a question mark."""
        named = {"queue": self.queue, "who": self.who}
        return urlencode({name: value for name, value in named.items() if value})


@require_http_methods(["GET", "HEAD", "POST"])
@page
def tasks(request: PageRequest) -> HttpResponse:
    """A POST adds a task."""
    given = request.GET
    found = Filtering(
        given.get("queue", "").strip()[:60],
        given.get("who", "").strip().lstrip("@")[:40],
    )
    try:
        seen = overview(request.caller, found.wanted)
    except (UnknownQueue, Invalid) as error:
        # A link never leads to an error page.
        found = Filtering(found.queue, found.who, problem=error.detail)
        seen = overview(request.caller, TaskFilter())
    if request.method == "POST":
        return _add(request, found, seen)
    return _page(request, found, seen)


@require_safe
@page
def older(request: PageRequest, state: str) -> HttpResponse:
    """The next tasks of a state: as a part of its column, or a page of its own."""
    if state not in STATES:
        raise NotFound
    given = request.GET
    found = Filtering(given.get("queue", "")[:60], given.get("who", "")[:40])
    items, token = more(
        request.caller, found.wanted, state=state, page_token=given.get("after", "")
    )
    values = {
        "items": items,
        "token": token,
        "state": state,
        "filter": found,
        "nav": "tasks",
    }
    part = "_older" if is_fragment(request) else "older"
    return render(request, f"tasks/{part}.html", values)


@require_safe
@page
def task(request: PageRequest, task_id: UUID) -> HttpResponse:
    """Where one is: for links that know no board."""
    found = reads.card(request.caller, card_id=task_id)
    return redirect("card", board_id=found.board_id, card_id=task_id)


def _add(request: PageRequest, found: Filtering, seen: Overview) -> HttpResponse:
    form = NewTaskAnywhere(request.POST, people=seen.people)
    if form.is_valid():
        try:
            create.create(request.caller, **form.fields_of_task())
        except DomainError as error:
            blame(form, error)
        else:
            return done(request, _("Added to the queue %s.") % form.data["queue"])
    return _page(request, found, seen, form=form)


def _page(
    request: PageRequest,
    found: Filtering,
    seen: Overview,
    form: NewTaskAnywhere | None = None,
) -> HttpResponse:
    values: dict[str, Any] = {
        "seen": seen,
        "filter": found,
        "nav": "tasks",
    }
    if is_fragment(request) and form is None:
        response = render(request, "tasks/tasks.html#states", values)
        response["Cache-Control"] = "no-store"
        return response
    values |= {
        "form": form or NewTaskAnywhere(people=seen.people, initial=_initial(found)),
        "persons": [one for one in seen.people if one.kind == "person"],
        "agents": [one for one in seen.people if one.kind == "agent"],
    }
    status = 422 if form is not None else 200
    template = "tasks/tasks.html" + ("#new" if is_fragment(request) else "")
    return render(request, template, values, status=status)


def _initial(found: Filtering) -> dict[str, str]:
    """What is added while a queue is looked at belongs there."""
    return {"queue": found.queue} if found.queue and not found.problem else {}
