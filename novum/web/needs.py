"""Needs you: what is wrong or waits, over all boards, with what settles it."""

from collections import Counter
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_POST, require_safe

from accounts.errors import NotFound
from novum import needs as sources
from novum.operations.perform import perform
from novum.operations.registry import OPERATIONS
from novum.web.pages import PageRequest, back, done, is_fragment, page
from supervision.needs import shapes
from supervision.needs.looking import Wanted
from supervision.needs.scope import scope
from supervision.needs.shapes import Need, Needs

LABELS = {
    shapes.LAPSED: gettext_lazy("Lapsed"),
    shapes.DEAD_LETTER: gettext_lazy("Dead letter"),
    shapes.UNATTENDED: gettext_lazy("Nobody asks"),
    shapes.ENDPOINT_OFF: gettext_lazy("Webhook off"),
    shapes.SLOW: gettext_lazy("Slow"),
    shapes.LAPSING: gettext_lazy("Lapses again"),
    shapes.MISFIT: gettext_lazy("Doesn't fit"),
    shapes.REVIEW: gettext_lazy("Review"),
    shapes.ASSIGNED: gettext_lazy("Yours"),
}
# As icon and colour of the shared states.
LOOKS = {
    shapes.LAPSED: ("hourglass", "failed"),
    shapes.DEAD_LETTER: ("circle-x", "failed"),
    shapes.UNATTENDED: ("bot", "failed"),
    shapes.ENDPOINT_OFF: ("zap", "failed"),
    shapes.SLOW: ("clock", "waiting"),
    shapes.LAPSING: ("refresh-cw", "waiting"),
    shapes.MISFIT: ("circle-alert", "waiting"),
    shapes.REVIEW: ("eye", "working"),
    shapes.ASSIGNED: ("user", "working"),
}
MOST_TOGETHER = 20
# What a button on this page may call.
_CALLABLE = {
    "requeue_card": gettext_lazy("Back in its queue, with fresh attempts."),
    "revoke_lease": gettext_lazy("Taken away. The card is open again."),
    "edit_card": gettext_lazy("It's assigned to you."),
    "move_card": gettext_lazy("Moved."),
    "claim_card": gettext_lazy("Started: it's among your tasks."),
    "edit_webhook_endpoint": gettext_lazy("It's on."),
}


@dataclass(frozen=True)
class Row:
    """A need as it's shown; `key` stays as long as it does."""

    need: Need
    label: Any
    icon: str
    shade: str

    @property
    def actions(self) -> list[tuple[str, str, dict[str, str]]]:
        """Operation, label and fields, as a form sends them."""
        return [
            (
                one.operation,
                one.label,
                {
                    name: "true" if value is True else str(value)
                    for name, value in one.values.items()
                },
            )
            for one in self.need.actions
        ]

    @property
    def key(self) -> str:
        need = self.need
        what = need.card.id if need.card else need.column_id or need.link
        return f"{need.reason}-{what}".replace("/", "-")


@require_safe
@page
def needs(request: PageRequest) -> HttpResponse:
    wanted = _wanted(request)
    try:
        found = sources.needs(request.caller, wanted)
    except NotFound:
        # A link never leads to an error page.
        return redirect("needs-you")
    listed = _listed(found, wanted)
    values = {
        "found": found,
        "rows": [Row(one, LABELS[one.reason], *LOOKS[one.reason]) for one in listed],
        "reasons": [
            (one, LABELS[one], LOOKS[one][0], found.counts[one], _link(wanted, one))
            for one in shapes.REASONS
            if found.counts[one] or one == wanted.reason
        ],
        "wanted": wanted,
        "all_link": _link(wanted, None),
        "hidden": _hidden(found, wanted, len(listed)),
        "here": request.get_full_path(),
        "nav": "fleet",
        "tab": "needs-you",
    }
    if is_fragment(request):
        response = render(request, "supervision/needs.html#needs", values)
        response["Cache-Control"] = "no-store"
        return response
    values["boards"] = _boards(request)
    values["needs"] = sources.alarm(request.caller)
    return render(request, "supervision/needs.html", values)


@require_POST
@page
def act(request: PageRequest) -> HttpResponse:
    """One of the likely actions; the operation itself says who may."""
    name = request.POST.get("operation", "")
    if name not in _CALLABLE:
        raise NotFound("There is no such action here.")
    operation = next((one for one in OPERATIONS if one.name == name), None)
    if operation is None:
        raise NotFound("There is no such action here.")
    values = {
        field: request.POST[field]
        for field in operation.input.__struct_fields__
        if field in request.POST
    }
    perform(operation, request.caller, values, strict=False)
    return done(request, str(_CALLABLE[name]))


@require_safe
@page
def alarm(request: PageRequest) -> HttpResponse:
    """The badge in the bar, for pages that are open."""
    if not is_fragment(request):
        return redirect(back(request, "/needs-you"))
    values = {"needs": sources.alarm(request.caller)}
    return render(request, "supervision/_alarm.html", values)


def _wanted(request: HttpRequest) -> Wanted:
    given = request.GET
    reason = given.get("reason", "")
    try:
        board = UUID(given.get("board", ""))
    except ValueError:
        board = None
    return Wanted(
        reason=reason if reason in shapes.REASONS else None,
        board_id=board,
        mine=given.get("mine") == "yes",
    )


def _link(wanted: Wanted, reason: str | None) -> str:
    """The same filter with another reason."""
    named = {
        "reason": reason,
        "board": wanted.board_id,
        "mine": "yes" if wanted.mine else "",
    }
    query = urlencode({name: value for name, value in named.items() if value})
    return f"?{query}" if query else "?"


def _listed(found: Needs, wanted: Wanted) -> list[Need]:
    """Of all reasons together only the first ones of each; of one, all that there are."""
    if wanted.reason:
        return found.items
    seen: Counter[str] = Counter()
    listed = []
    for one in found.items:
        seen[one.reason] += 1
        if seen[one.reason] <= MOST_TOGETHER:
            listed.append(one)
    return listed


def _hidden(found: Needs, wanted: Wanted, listed: int) -> int:
    """How many there are beyond those that are listed."""
    of = [wanted.reason] if wanted.reason else shapes.REASONS
    return sum(found.counts[one] for one in of) - listed


def _boards(request: PageRequest) -> list[tuple[UUID, str]]:
    named = {one.board_id: one.board for one in scope(request.caller).places.values()}
    return sorted(named.items(), key=lambda one: one[1].casefold())
