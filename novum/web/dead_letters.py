"""Dead letters: what failed for good, by reason, and the buttons that mend it."""

from datetime import timedelta
from typing import Any
from uuid import UUID

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import (
    require_http_methods,
    require_POST,
    require_safe,
)

from accounts.callers import Caller
from accounts.errors import Invalid, NotFound
from accounts.pages import BadCursor
from boards.errors import VersionMismatch
from leases.reads import server_time
from novum.web import posted
from novum.web.letters_filter import Asked, asked
from novum.web.pages import PageRequest, back, done, is_fragment, page
from supervision import inspector
from supervision.bulk import actions
from supervision.bulk.one import retry_one
from supervision.bulk.planning import Selection
from supervision.bulk.rules import Doing
from supervision.letters import groups

PAGE_SIZE, RESULTS_SIZE, RECENT, FIRST_GROUPS = 20, 100, 5, 10
VERBS = ("retry", "move", "discard")
# A running action that nobody has touched for so long has no worker.
STALLED = timedelta(seconds=10)
_FLEET = {"nav": "fleet", "tab": "dead-letters"}


@require_safe
@page
def dead_letters(request: PageRequest) -> HttpResponse:
    caller, asking = request.caller, asked(request.GET)
    where = inspector.places(caller)
    try:
        found = inspector.look(
            caller,
            asking.wanted,
            where,
            page_size=PAGE_SIZE,
            page_token=request.GET.get("page", ""),
        )
    except (BadCursor, NotFound):
        return redirect("dead-letters")
    # Which groups there are doesn't depend on the one that's unfolded.
    grouped = groups(caller, asked(_but_group(asking)).wanted)
    unfolded = asking.wanted.group
    total = grouped.total
    if unfolded is not None:
        total = sum(one.count for one in grouped.groups if one.group == unfolded)
    names = {one.id: one.name for one in where}
    recent = actions.actions(caller, page_size=RECENT, page_token="")
    shown: dict[str, Any] = {
        "asking": asking,
        "letters": found.items,
        "next_page": found.next_page_token,
        "groups": [
            (one, sorted({names[id] for id in one.failed_in if id in names}))
            for one in grouped.groups
        ],
        "groups_more": len(grouped.groups) - FIRST_GROUPS,
        "is_deep": unfolded in {one.group for one in grouped.groups[FIRST_GROUPS:]},
        "total": total,
        "all_total": grouped.total,
        "places": where,
        "boards": dict.fromkeys((one.board_id, one.board) for one in where),
        "may_act": any(one.may_put for one in where),
        "recent": recent.items,
        "here": request.get_full_path(),
        **_FLEET,
    }
    template = "dead_letters/list.html"
    if is_fragment(request):
        template += "#letters"
    return render(request, template, shown)


@require_safe
@page
def check(request: PageRequest) -> HttpResponse:
    """The dry run: what would happen, before it's confirmed."""
    caller, given = request.caller, request.GET
    verb = given.get("do", "")
    if verb not in VERBS:
        raise NotFound
    asking = asked(given)
    doing = Doing(verb, column_id=_uuid(given.get("to", "")))
    shown: dict[str, Any] = {
        "verb": verb,
        "asking": asking,
        "cards": given.getlist("card"),
        "is_all": "all" in given,
        "back": f"{reverse('dead-letters')}?{asking.query}",
        "to": doing.column_id,
        **_FLEET,
    }
    if verb == "move":
        shown["places"] = [one for one in inspector.places(caller) if one.may_put]
        shown["target"] = next(
            (one for one in shown["places"] if one.id == doing.column_id), None
        )
    if not shown["cards"] and not shown["is_all"]:
        shown["nothing"] = True
    elif verb != "move" or shown["target"]:
        # What fails from now on isn't meant.
        shown["until"] = (asking.wanted.until or server_time()).isoformat()
        found = actions.dry_run(caller, doing, _selection(given, asking))
        shown["plan"] = found.plan
        shown["number"] = found.plan.will + found.plan.unchecked
    return render(request, "dead_letters/check.html", shown)


@require_POST
@page
def run(request: PageRequest) -> HttpResponse:
    verb = posted.text(request, "do")
    if verb not in VERBS:
        raise NotFound
    reason = posted.text(request, "reason").strip()[:1000]
    if verb == "discard" and not reason:
        raise Invalid.at("/reason", "required", _("Say why: it stays in the history."))
    doing = Doing(verb, column_id=posted.uuid(request, "to"), reason=reason)
    begun = actions.start(
        request.caller,
        doing,
        _selection(request.POST, asked(request.POST)),
        expect=posted.number(request, "expect"),
    )
    assert begun.action
    return redirect("bulk-action", action_id=begun.action.id)


@require_safe
@page
def action(request: PageRequest, action_id: UUID) -> HttpResponse:
    caller = request.caller
    found = actions.action_of(caller, action_id=action_id)
    state = request.GET.get("state", "")
    state = state if state in actions.RESULTS else ""
    results = actions.results(
        caller,
        action_id=action_id,
        state=state or None,
        page_size=RESULTS_SIZE,
        page_token=request.GET.get("page", ""),
    )
    settled = found.done + found.refused
    is_running = found.state == "running"
    shown = {
        "action": found,
        "settled": settled,
        "left": max(0, found.total - settled),
        "results": results.items,
        "next_page": results.next_page_token,
        "state": state,
        "is_running": is_running,
        "is_stalled": is_running and server_time() - found.touched_at > STALLED,
        "may_stop": is_running and actions.may_steer(caller, action_id=action_id),
        "target": _name_of(caller, found.column_id),
        **_FLEET,
    }
    template = "dead_letters/action.html"
    if is_fragment(request):
        template += "#progress"
    return render(request, template, shown)


@require_POST
@page
def stop(request: PageRequest, action_id: UUID) -> HttpResponse:
    actions.stop(request.caller, action_id=action_id)
    return done(request, _("Stopped. What is done stays done."))


@require_POST
@page
def go_on(request: PageRequest, action_id: UUID) -> HttpResponse:
    actions.go_on(request.caller, action_id=action_id)
    return done(request)


@require_http_methods(["GET", "HEAD", "POST"])
@page
def edit(request: PageRequest, card_id: UUID) -> HttpResponse:
    """One dead letter, its input to be put right, and retried in the same breath."""
    caller = request.caller
    shown: dict[str, Any] = {"text": "", "error": None, **_FLEET}
    if request.method == "POST":
        try:
            shown["text"] = posted.text(request, "payload")
            retry_one(
                caller,
                card_id=card_id,
                payload=_json(shown["text"]),
                version=posted.number(request, "version"),
            )
        except (Invalid, VersionMismatch) as error:
            shown["error"] = error
        else:
            return done(request, _("Back in its queue, with fresh attempts."))
    letter = inspector.look_at(caller, card_id, inspector.places(caller))
    shown["letter"] = letter
    if request.method != "POST":
        shown["text"] = inspector.input_of(caller, card_id)
    shown["back"] = back(request, reverse("dead-letters"))
    status = 422 if shown["error"] else 200
    return render(request, "dead_letters/edit.html", shown, status=status)


def _json(text: str) -> Any:
    return posted.json_value(text, "payload") if text.strip() else None


def _selection(given: Any, asking: Asked) -> Selection:
    """Raises NotFound for what can't be a card's id."""
    if "all" in given:
        return Selection(wanted=asking.wanted)
    ids = [_uuid(one) for one in given.getlist("card")]
    if None in ids:
        raise NotFound("There is no such card here.")
    return Selection(card_ids=[one for one in ids if one])


def _but_group(asking: Asked) -> dict[str, str]:
    return {name: value for name, value in asking.values.items() if name != "group"}


def _uuid(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None


def _name_of(caller: Caller, column_id: UUID | None) -> str:
    if column_id is None:
        return ""
    where = inspector.places(caller)
    return next((one.name for one in where if one.id == column_id), "")
