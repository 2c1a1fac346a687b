"""Agent seats: their workers' tokens, what they hold, stopping them."""

from datetime import UTC, datetime, time
from typing import Any
from uuid import UUID

import msgspec
from django.conf import settings
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.template.loader import render_to_string
from django.utils.timezone import now
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST

from accounts import reads
from accounts.errors import DomainError
from accounts.pages import MAX_PAGE_SIZE
from accounts.verbs import agents as verbs
from leases.at_work import held_by, holding, queues_for
from leases.verbs.revoke import stop_agent
from novum.web import account_forms as forms
from novum.web import posted
from novum.web.pages import PageRequest, done, is_fragment, page
from supervision.agents.figures import agent_detail, figures_of


@page
def agents(request: PageRequest) -> HttpResponse:
    """A POST makes a seat and goes there, where it gets its first token."""
    form = forms.Seat(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            agent_id = verbs.create_agent(request.caller, **form.cleaned_data)
        except DomainError as error:
            forms.blame(form, error)
        else:
            return redirect("agent", agent_id)
    token = request.GET.get("page", "")
    seats = reads.agents(request.caller, page_size=MAX_PAGE_SIZE, page_token=token)
    context = {
        "form": form,
        "seats": figures_of(request.caller, seats.items),
        "next_page": seats.next_page_token,
        "nav": "fleet",
        "tab": "agents",
    }
    status = 422 if form.errors else 200
    template = "accounts/agents.html" + ("#seats" if is_fragment(request) else "")
    return render(request, template, context, status=status)


@page
def agent(request: PageRequest, agent_id: UUID) -> HttpResponse:
    if is_fragment(request):
        seat = reads.agent(request.caller, agent_id=agent_id)
        held = held_by(request.caller, holder_id=agent_id)
        context = {"seat": seat, "held": held, "total": _total(request, agent_id)}
        return render(request, "accounts/agent.html#held", context)
    return _agent(request, agent_id)


@require_POST
@page
def edit(request: PageRequest, agent_id: UUID) -> HttpResponse:
    """`name`, `disabled` (yes, no), `skills`, `max_leases`: whichever was sent."""
    disabled, skills = request.POST.get("disabled"), request.POST.get("skills")
    limit: Any = msgspec.UNSET
    if "max_leases" in request.POST:
        limit = posted.number(request, "max_leases")
    verbs.edit_agent(
        request.caller,
        agent_id=agent_id,
        name=request.POST.get("name"),
        disabled=None if disabled is None else disabled == "yes",
        skills=None if skills is None else forms.names(skills),
        max_leases=limit,
    )
    return done(request, _("Saved."))


@require_POST
@page
def stop(request: PageRequest, agent_id: UUID) -> HttpResponse:
    """Take back everything that it holds; its workers learn it at their next call. With
    `disable` nobody comes back for more."""
    seat = reads.agent(request.caller, agent_id=agent_id)
    count = stop_agent(
        request.caller,
        agent_id=agent_id,
        reason=posted.text(request, "reason").strip(),
        disable=posted.flag(request, "disable"),
    )
    text = ngettext(
        "%(count)d card was taken back from %(name)s.",
        "%(count)d cards were taken back from %(name)s.",
        count,
    )
    return done(request, text % {"count": count, "name": seat.name})


@never_cache
@require_POST
@page
def create_token(request: PageRequest, agent_id: UUID) -> HttpResponse:
    """Shows the secret in this very answer; it's nowhere afterwards."""
    form = forms.WorkerToken(request.POST)
    if form.is_valid():
        given = dict(form.cleaned_data)
        if day := given["expires_at"]:
            given["expires_at"] = datetime.combine(day, time.max, UTC)
        try:
            _id, secret = verbs.create_token(request.caller, agent_id=agent_id, **given)
        except DomainError as error:
            forms.blame(form, error)
        else:
            queues = queues_for(agent_id, request.caller)
            ready = _snippets(secret, queues[0] if queues else None)
            return _agent(request, agent_id, secret=secret, queues=queues, **ready)
    return _agent(request, agent_id, form=form)


@require_POST
@page
def revoke_token(request: PageRequest, agent_id: UUID, token_id: UUID) -> HttpResponse:
    verbs.revoke_token(request.caller, agent_id=agent_id, token_id=token_id)
    return done(request, _("The token is revoked."))


def _agent(request: PageRequest, agent_id: UUID, **more: Any) -> HttpResponse:
    caller = request.caller
    detail = agent_detail(caller, agent_id=agent_id)
    tokens = None
    if caller.is_admin():
        tokens = reads.tokens(
            caller, agent_id=agent_id, page_size=MAX_PAGE_SIZE, page_token=""
        )
    context = {
        "seat": detail.figures.agent,
        "held": held_by(caller, holder_id=agent_id),
        "total": detail.figures.holds,
        "detail": detail,
        "tokens": tokens,
        "form": forms.WorkerToken(),
        "now": now(),
        "nav": "fleet",
        "tab": "agents",
        **more,
    }
    status = 422 if context["form"].errors else 200
    return render(request, "accounts/agent.html", context, status=status)


def _total(request: PageRequest, agent_id: UUID) -> int:
    """Of all that it holds; the page lists the latest of it."""
    return holding(request.caller).get(agent_id, 0)


def _snippets(secret: str, queue: Any) -> dict[str, str]:
    """Ready to paste: an agent by MCP; and where there's a queue that the seat may
    claim from, one call that claims and a whole worker."""
    context = {"url": settings.NOVUM_URL.rstrip("/"), "secret": secret}
    names = ["mcp"]
    if queue is not None:
        context["board_id"] = str(queue.column.board_id)
        context["column_id"] = str(queue.column_id)
        names += ["curl", "worker"]
    return {
        name: render_to_string(f"accounts/snippets/{name}.txt", context).strip()
        for name in names
    }
