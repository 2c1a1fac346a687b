"""The pages about queues: all of them, and one over time."""

from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_POST, require_safe

from accounts.errors import Invalid
from leases.contract import MAX_LEASE_SECONDS
from leases.verbs import pause as pausing
from novum.web import durations, posted
from novum.web.pages import PageRequest, done, is_fragment, page
from novum.web.queue_figures import as_json, as_rows
from novum.web.queues_table import boards, heads, row_of, shown, wanted_of
from supervision.stats import detail
from supervision.stats import queues as reads
from supervision.stats.queues import managed_boards, one_queue, queue_stats
from supervision.stats.shapes import QueueStats
from supervision.stats.spans import NAMES, span_of


@require_safe
@page
def queues(request: PageRequest) -> HttpResponse:
    stats = queue_stats(request.caller)
    wanted = wanted_of(request)
    values = {
        "shown": shown(stats, wanted, managed_boards(request.caller)),
        "heads": heads(wanted),
        "sum": _summed(stats),
        "count": len(stats),
        "is_cut": len(stats) >= reads.MOST_QUEUES,
        "wanted": wanted,
        "boards": boards(stats),
        "here": request.get_full_path(),
        "nav": "fleet",
        "tab": "queues",
    }
    return _answer(request, "supervision/queues.html", "queues", values)


@require_safe
@page
def queue(request: PageRequest, column_id: UUID) -> HttpResponse:
    chosen, problem = _lease_seconds(request)
    span = span_of(request.GET.get("span", ""))
    found = detail.queue_detail(
        request.caller, column_id=column_id, span=span.name, lease_seconds=chosen
    )
    may_manage = found.queue.board_id in managed_boards(request.caller)
    values = {
        "found": found,
        "queue": found.queue,
        "row": row_of(found.queue, may_manage),
        "own_length": detail.own_length(column_id),
        "chosen": chosen,
        "typed": request.GET.get("lease", "")[:20],
        "problem": problem,
        "spans": NAMES,
        "success": reads.success_rate(
            found.totals.completed, found.totals.failed, found.totals.expired
        ),
        "charts": as_json(found.series),
        "steps": as_rows(found.series),
        "here": request.get_full_path(),
        "nav": "fleet",
        "tab": "queues",
    }
    return _answer(request, "supervision/queue.html", "queue", values)


@require_POST
@page
def pause(request: PageRequest, column_id: UUID) -> HttpResponse:
    """Or drain, which is the same with an eye on those who still work."""
    seen = one_queue(request.caller, column_id=column_id)
    drains = posted.text(request, "how") == "drain"
    reason = posted.text(request, "reason").strip()
    pausing.pause(
        request.caller,
        board_id=seen.board_id,
        column_id=column_id,
        reason=reason or (_("Draining") if drains else ""),
    )
    left = one_queue(request.caller, column_id=column_id).working
    return done(request, _paused(left), **{"novum:fleet": {}})


@require_POST
@page
def resume(request: PageRequest, column_id: UUID) -> HttpResponse:
    seen = one_queue(request.caller, column_id=column_id)
    pausing.resume(request.caller, board_id=seen.board_id, column_id=column_id)
    return done(request, _("Resumed: cards are offered again."), **{"novum:fleet": {}})


def _answer(
    request: HttpRequest, template: str, part: str, values: dict[str, Any]
) -> HttpResponse:
    if not is_fragment(request):
        return render(request, template, values)
    response = render(request, f"{template}#{part}", values)
    response["Cache-Control"] = "no-store"
    return response


def _paused(left: int) -> str:
    if not left:
        return _("Paused, and nobody is at work.")
    return ngettext(
        "No new claims. %(left)d card is still at work.",
        "No new claims. %(left)d cards are still at work.",
        left,
    ) % {"left": left}


def _summed(stats: list[QueueStats]) -> dict[str, Any]:
    return {
        "depth": sum(one.depth for one in stats),
        "working": sum(one.working for one in stats),
        "failed": sum(one.failed for one in stats),
        "done_rate": sum(one.completed_per_minute for one in stats),
        "failed_rate": sum(one.failed_per_minute for one in stats),
        "paused": sum(one.state != "running" for one in stats),
    }


def _lease_seconds(request: HttpRequest) -> tuple[int | None, str]:
    """What was typed to try, and what is wrong with it."""
    typed = request.GET.get("lease", "").strip()[:20]
    if not typed:
        return None, ""
    try:
        seconds = durations.seconds_of(typed)
        if not 1 <= seconds <= MAX_LEASE_SECONDS:
            detail = _("A lease is one second to one day long.")
            raise Invalid(detail)
    except ValueError as bad:
        return None, str(bad)
    except Invalid as bad:
        return None, bad.detail
    return seconds, ""
