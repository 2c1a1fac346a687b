"""The pages of endpoints and deliveries, for admins."""

import json
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.timezone import now
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST

from accounts.callers import Caller
from accounts.errors import DomainError
from accounts.pages import MAX_PAGE_SIZE
from boards import reads as board_reads
from novum.web.account_forms import blame
from novum.web.pages import PageRequest, done, is_fragment, page
from webhooks import reads
from webhooks.doors import forms
from webhooks.shapes import Hour
from webhooks.verbs import endpoints as verbs
from webhooks.verbs import resend as again

DELIVERIES_PER_PAGE = 50
STATES = ("pending", "delivered", "failed")
# Of the sparkline, in pixels.
BAR_WIDTH, BAR_STEP, HEIGHT = 4, 6, 24


@never_cache
@page
def endpoints(request: PageRequest) -> HttpResponse:
    """A POST makes an endpoint and shows its secret, in this very answer."""
    caller = request.caller
    caller.require_admin()
    form = forms.Endpoint(
        request.POST or None,
        boards=_boards(caller),
        initial={"types": ["card.lease.*"], "format": "standard"},
    )
    if request.method == "POST" and form.is_valid():
        try:
            endpoint_id, secret = verbs.create_endpoint(caller, **form.given())
        except DomainError as error:
            blame(form, error)
        else:
            return _endpoint(request, endpoint_id, secret=secret)
    token = request.GET.get("page", "")
    found = reads.endpoints(caller, page_size=MAX_PAGE_SIZE, page_token=token)
    context = {
        "form": form,
        "endpoints": [(one, sparkline(one.hours)) for one in found.items],
        "next_page": found.next_page_token,
        "nav": "webhooks",
    }
    template = "webhooks/endpoints.html" + ("#list" if is_fragment(request) else "")
    return render(request, template, context, status=422 if form.errors else 200)


@never_cache
@page
def endpoint(request: PageRequest, endpoint_id: UUID) -> HttpResponse:
    """A POST changes it."""
    if request.method != "POST":
        return _endpoint(request, endpoint_id)
    caller = request.caller
    shape = reads.endpoint(caller, endpoint_id=endpoint_id)
    form = forms.ExistingEndpoint(request.POST, boards=_boards(caller))
    if form.is_valid():
        try:
            verbs.edit_endpoint(caller, endpoint_id=shape.id, changes=form.given())
        except DomainError as error:
            blame(form, error)
        else:
            return done(request, _("Saved."))
    return _endpoint(request, endpoint_id, form=form)


@require_POST
@page
def switch(request: PageRequest, endpoint_id: UUID) -> HttpResponse:
    """On or off."""
    enabled = request.POST.get("enabled") == "yes"
    changes = {"enabled": enabled}
    verbs.edit_endpoint(request.caller, endpoint_id=endpoint_id, changes=changes)
    return done(request, _("It's on.") if enabled else _("It's off."))


@require_POST
@page
def delete(request: PageRequest, endpoint_id: UUID) -> HttpResponse:
    verbs.delete_endpoint(request.caller, endpoint_id=endpoint_id)
    return redirect("webhooks")


@never_cache
@require_POST
@page
def rotate(request: PageRequest, endpoint_id: UUID) -> HttpResponse:
    """Shows the new secret in this very answer; it's nowhere afterwards."""
    secret = verbs.rotate_secret(request.caller, endpoint_id=endpoint_id)
    return _endpoint(request, endpoint_id, secret=secret, rotated=True)


@require_POST
@page
def test(request: PageRequest, endpoint_id: UUID) -> HttpResponse:
    delivery_id = verbs.send_test(request.caller, endpoint_id=endpoint_id)
    return redirect("webhook-delivery", delivery_id)


@require_POST
@page
def resend_failed(request: PageRequest, endpoint_id: UUID) -> HttpResponse:
    """What was given up and happened in the last `hours`."""
    hours = request.POST.get("hours", "")
    since = now() - timedelta(
        hours=min(int(hours), 24 * 366) if hours.isdecimal() else 24
    )
    count = again.resend_failed(request.caller, endpoint_id=endpoint_id, since=since)
    text = ngettext("%(n)d is sent again.", "%(n)d are sent again.", count)
    return done(request, text % {"n": count})


@page
def delivery(request: PageRequest, delivery_id: UUID) -> HttpResponse:
    shape = reads.delivery(request.caller, delivery_id=delivery_id)
    context = {
        "delivery": shape,
        "endpoint": reads.endpoint(request.caller, endpoint_id=shape.endpoint_id),
        "body": _pretty(shape.body) if shape.body else "",
        "nav": "webhooks",
    }
    template = "webhooks/delivery.html" + ("#tries" if is_fragment(request) else "")
    return render(request, template, context)


@require_POST
@page
def resend(request: PageRequest, delivery_id: UUID) -> HttpResponse:
    again.resend_delivery(request.caller, delivery_id=delivery_id)
    return done(request, _("It is sent again."))


def _endpoint(request: PageRequest, endpoint_id: UUID, **more: Any) -> HttpResponse:
    caller = request.caller
    shape = reads.endpoint(caller, endpoint_id=endpoint_id)
    state = request.GET.get("state", "")
    wanted = reads.DeliveryFilter(
        endpoint_id=endpoint_id,
        state=state if state in STATES else None,
        type=request.GET.get("type", "")[:60],
    )
    found = reads.deliveries(
        caller,
        wanted,
        page_size=DELIVERIES_PER_PAGE,
        page_token=request.GET.get("page", ""),
    )
    boards = _boards(caller)
    context = {
        "endpoint": shape,
        "spark": sparkline(shape.hours),
        "deliveries": found.items,
        "next_page": found.next_page_token,
        "wanted": wanted,
        "states": STATES,
        "form": forms.ExistingEndpoint(boards=boards, initial=forms.initial(shape)),
        "nav": "webhooks",
        **more,
    }
    template = "webhooks/endpoint.html" + (
        "#deliveries" if is_fragment(request) else ""
    )
    status = 422 if context["form"].errors else 200
    return render(request, template, context, status=status)


def _boards(caller: Caller) -> list[tuple[UUID, str]]:
    found = board_reads.boards(
        caller, archived=False, page_size=MAX_PAGE_SIZE, page_token=""
    )
    return [(one.id, one.name) for one in found.items]


def _pretty(body: Any) -> str:
    return json.dumps(json.loads(bytes(body)), indent=2, ensure_ascii=False)


def sparkline(hours: list[Hour]) -> dict[str, Any]:
    """Bars for the tries of each hour, failures below, as wholes of an SVG."""
    most = max((one.delivered + one.failed for one in hours), default=0)
    bars = []
    for number, one in enumerate(hours):
        good, bad = (
            max(2, round(HEIGHT * part / most)) if part else 0
            for part in (one.delivered, one.failed)
        )
        x = number * BAR_STEP
        bars += [("spark-good", x, HEIGHT - bad - good, good)] if good else []
        bars += [("spark-bad", x, HEIGHT - bad, bad)] if bad else []
    return {
        "bars": bars,
        "width": BAR_STEP * len(hours),
        "height": HEIGHT,
        "bar": BAR_WIDTH,
        "delivered": sum(one.delivered for one in hours),
        "failed": sum(one.failed for one in hours),
    }
