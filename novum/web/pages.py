"""What every page does: who is it, in which workspace, and errors people understand."""

import json
from collections.abc import Callable
from functools import wraps
from typing import Any
from uuid import UUID

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.views import redirect_to_login
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.http import url_has_allowed_host_and_scheme

from accounts import reads
from accounts.callers import Caller
from accounts.credentials import caller_of_user
from accounts.errors import DomainError, NotFound, Unauthenticated
from novum import needs
from novum.parts import parts
from novum.problems import problem_of
from tasks_people import inbox

WORKSPACE_KEY = "workspace"

View = Callable[..., HttpResponse]


class PageRequest(HttpRequest):
    """A request that `page` has let pass."""

    caller: Caller


def page(view: View) -> View:
    """For signed-in members. Sets `request.caller`; a domain error becomes a notice on
    the page it came from (a fragment gets it as an event), NotFound a 404."""

    @wraps(view)
    def wrapped(request: Any, *args: Any, **kwargs: Any) -> HttpResponse:
        if not request.user.is_authenticated:
            return _to_sign_in(request)
        try:
            request.caller = _caller(request)
        except Unauthenticated:
            return render(request, "accounts/no_workspace.html", status=403)
        try:
            return view(request, *args, **kwargs)
        except NotFound as error:
            if request.method == "GET" and not is_fragment(request):
                raise Http404(error.detail) from error
            return refuse(request, error)
        except DomainError as error:
            return refuse(request, error)

    return wrapped


def is_fragment(request: HttpRequest) -> bool:
    """Asked by htmx or by our own fetch, which take a part instead of a page."""
    return "HX-Request" in request.headers


def refuse(request: HttpRequest, error: DomainError) -> HttpResponse:
    """Nothing was changed; say why, where the person is looking."""
    problem = problem_of(error)
    text = problem.detail
    if problem.errors:
        text = " ".join(one.detail for one in problem.errors)
    if is_fragment(request):
        response = HttpResponse(status=problem.status)
        response["HX-Trigger"] = json.dumps({"toast": {"text": text, "problem": True}})
        response["HX-Reswap"] = "none"
        return response
    messages.error(request, text)
    return redirect(back(request))


def done(request: HttpRequest, text: str = "", **event: Any) -> HttpResponse:
    """Changed. A fragment hears it as events, a form goes back to its page."""
    if is_fragment(request):
        response = HttpResponse(status=204)
        told = {"toast": {"text": text}} if text else {}
        response["HX-Trigger"] = json.dumps({**told, **event})
        return response
    if text:
        messages.success(request, text)
    return redirect(back(request))


def back(request: HttpRequest, otherwise: str = "/") -> str:
    """`next` of the form, else where the request came from, on this host only."""
    for target in (request.POST.get("next"), request.headers.get("Referer")):
        if target and is_here(request, target):
            return target
    return otherwise


def is_here(request: HttpRequest, target: str) -> bool:
    """Whether it's an address on this host. A word alone is none: `redirect` would take
    it for the name of a view."""
    return target.startswith(("/", "http://", "https://")) and (
        url_has_allowed_host_and_scheme(
            target, {request.get_host()}, request.is_secure()
        )
    )


def context(request: HttpRequest) -> dict[str, Any]:
    """Of every template: the caller and the workspaces to choose from."""
    caller = getattr(request, "caller", None)
    if caller is None:
        return {}
    workspaces = reads.workspaces_of(request.user)
    here = (one for one in workspaces if one.id == caller.workspace_id)
    return {
        "caller": caller,
        "workspace": next(here, None) or reads.workspace(caller),
        "workspaces": workspaces,
        # Asked for by pages with a bell only.
        "unread": lambda: inbox.unread(caller),
        "needs": lambda: needs.remembered_alarm(caller),
        "live_me": f"{settings.NOVUM_LIVE_URL.replace('http', 'ws', 1)}/live/me",
        "nav_entries": [
            entry for part in parts("pages") for entry in part.entries(caller)
        ],
    }


def _caller(request: HttpRequest) -> Caller:
    chosen = request.session.get(WORKSPACE_KEY)
    try:
        return caller_of_user(request.user, UUID(chosen) if chosen else None)
    except Unauthenticated:
        # No longer a member of the one that was chosen: the first one, if any.
        request.session.pop(WORKSPACE_KEY, None)
        return caller_of_user(request.user)


def _to_sign_in(request: HttpRequest) -> HttpResponse:
    """A real page, never one inside a fragment."""
    if is_fragment(request):
        response = HttpResponse(status=401)
        response["HX-Redirect"] = f"/sign-in?next={back(request)}"
        return response
    return redirect_to_login(request.get_full_path(), "/sign-in")
