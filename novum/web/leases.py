"""Leases over all boards: who holds what, what is stuck, what became of the rest."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.http import HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.dateparse import parse_datetime
from django.utils.timezone import now
from django.utils.translation import ngettext
from django.views.decorators.http import require_http_methods, require_safe

from accounts import reads
from accounts.errors import DomainError, NotFound
from accounts.pages import MAX_PAGE_SIZE, BadCursor
from accounts.roles import BoardRole
from novum.web import posted
from novum.web.faces import Chip, Who
from novum.web.pages import PageRequest, done, is_fragment, page
from supervision.holds.filtering import LeaseFilter
from supervision.holds.looking import STATES, count_active, seen_leases
from supervision.holds.revoking import MAX_PER_CALL, revoke_many
from supervision.holds.shapes import LeaseSeen, RevokedMany
from supervision.needs.scope import Scope, scope

SHOWN = 50
ENDED_AS = ("completed", "failed", "expired", "released", "revoked")
# Of one press of the button; what is left takes another one.
MOST_CALLS = 10


@dataclass(frozen=True)
class Filtering:
    """The filter of one request, as the address has it."""

    state: str
    where: LeaseFilter
    page: str = ""

    def query(self, **other: Any) -> str:
        """The same as a query string, with something else in it."""
        named = {
            "state": "" if self.state == "active" else self.state,
            "board": self.where.board_id,
            "column": self.where.column_id,
            "agent": self.where.agent_id,
            "token": self.where.token_id,
            "ended": self.where.ended_as,
            **other,
        }
        return urlencode({name: value for name, value in named.items() if value})

    @property
    def is_active(self) -> bool:
        where = self.where
        return any(
            (where.board_id, where.column_id, where.agent_id, where.token_id)
        ) or bool(where.ended_as)


@dataclass(frozen=True)
class Row:
    """A lease as it's shown; `chip` is None once it has ended."""

    lease: LeaseSeen
    chip: Chip | None
    may_revoke: bool


@require_safe
@page
def leases(request: PageRequest) -> HttpResponse:
    found = _filtering(request.GET)
    try:
        values = _listed(request, found)
    except (NotFound, BadCursor):
        # A link never leads to an error page.
        return redirect("leases")
    if is_fragment(request):
        response = render(request, "supervision/leases.html#leases", values)
        response["Cache-Control"] = "no-store"
        return response
    return render(request, "supervision/leases.html", values | _choices(request, found))


@require_http_methods(["GET", "HEAD", "POST"])
@page
def revoke(request: PageRequest) -> HttpResponse:
    """Of one (`lease`), of several, or of all that match a filter. Says first how many
    of whom it would be; the same form again with `confirmed` does it."""
    sent = request.POST if request.method == "POST" else request.GET
    found = _filtering(sent)
    ids = [one for text in sent.getlist("lease") if (one := _uuid(text))]
    confirmed = request.method == "POST" and bool(sent.get("confirmed"))
    where = _of_filter(found, sent) if not ids else None
    outcome = _revoke(request, ids, where, confirmed=confirmed)
    if confirmed and not outcome.refused and not outcome.left:
        text = ngettext(
            "%(count)d lease was revoked.",
            "%(count)d leases were revoked.",
            outcome.revoked,
        )
        return done(request, text % {"count": outcome.revoked})
    values = {
        "outcome": outcome,
        "ids": ids,
        "found": found,
        "stuck": bool(where and where.stuck),
        "confirmed": confirmed,
        "problems": [one for one in outcome.results if one.error],
        "reason": sent.get("reason", ""),
        "back": "?".join(filter(None, [reverse("leases"), found.query()])),
        "nav": "fleet",
        "tab": "leases",
    }
    is_refused = confirmed and outcome.refused > 0 and not outcome.revoked
    status = 403 if is_refused else 200
    return render(request, "supervision/revoke.html", values, status=status)


def _revoke(
    request: PageRequest,
    ids: list[UUID],
    where: LeaseFilter | None,
    *,
    confirmed: bool,
) -> RevokedMany:
    """As many calls as it takes, within reason. Raises what the verb does."""
    for _number in range(MOST_CALLS):
        outcome = revoke_many(
            request.caller,
            lease_ids=ids[:MAX_PER_CALL],
            wanted=where,
            reason=posted.text(request, "reason"),
            dry_run=not confirmed,
        )
        if not (confirmed and outcome.left and outcome.revoked):
            break
    return outcome


def _listed(request: PageRequest, found: Filtering) -> dict[str, Any]:
    caller = request.caller
    listed = seen_leases(
        caller, found.state, found.where, page_size=SHOWN, page_token=found.page
    )
    active, stuck = count_active(caller, found.where)
    managed = _managed(scope(caller))
    matching = stuck if found.state == "stuck" else active
    return {
        "rows": [_row(one, managed) for one in listed.items],
        "next_page": listed.next_page_token,
        "next_query": found.query(page=listed.next_page_token),
        "active": active,
        "stuck": stuck,
        "matching": matching,
        "found": found,
        "tabs": [
            (state, found.query(state="" if state == "active" else state, ended=""))
            for state in STATES
        ],
        "all_query": found.query(ended=""),
        "may_revoke_all": bool(managed) and found.state != "ended" and matching > 0,
        "here": request.get_full_path(),
        "nav": "fleet",
        "tab": "leases",
    }


def _choices(request: PageRequest, found: Filtering) -> dict[str, Any]:
    """What the filter offers."""
    caller = request.caller
    places = list(scope(caller).places.values())
    agents = reads.agents(caller, page_size=MAX_PAGE_SIZE, page_token="")
    agent_id = found.where.agent_id
    tokens: list[Any] = []
    if agent_id and caller.is_admin():
        try:
            tokens = reads.tokens(
                caller, agent_id=agent_id, page_size=MAX_PAGE_SIZE, page_token=""
            ).items
        except DomainError:
            tokens = []
    return {
        "boards": sorted(
            {one.board_id: one.board for one in places}.items(),
            key=lambda one: one[1].casefold(),
        ),
        "columns": [
            one
            for one in places
            if one.enabled and found.where.board_id in (None, one.board_id)
        ],
        "agents": agents.items,
        "tokens": tokens,
        "ended_as": ENDED_AS,
    }


def _row(lease: LeaseSeen, managed: set[UUID]) -> Row:
    chip = None
    if lease.state == "active" and lease.holder:
        until = lease.expires_at
        chip = Chip(
            lease.id,
            Who(lease.holder.kind, lease.holder.handle, lease.holder.name),
            str(lease.attempt),
            until.isoformat() if until else "",
            f"{until:%H:%M:%S}" if until else "",
            lease.seconds or 0,
            lease.renewals,
        )
    may = chip is not None and lease.board_id in managed
    return Row(lease, chip, may)


def _managed(seen: Scope) -> set[UUID]:
    return {
        one.board_id for one in seen.places.values() if one.role >= BoardRole.MANAGER
    }


def _filtering(given: QueryDict) -> Filtering:
    state = given.get("state", "active")
    ended = given.get("ended", "")
    state = state if state in STATES else "active"
    return Filtering(
        state=state,
        where=LeaseFilter(
            board_id=_uuid(given.get("board", "")),
            column_id=_uuid(given.get("column", "")),
            agent_id=_uuid(given.get("agent", "")),
            token_id=_uuid(given.get("token", "")),
            ended_as=ended if state == "ended" and ended in ENDED_AS else None,
        ),
        page=given.get("page", ""),
    )


def _of_filter(found: Filtering, sent: QueryDict) -> LeaseFilter:
    """All that match, claimed before the page asked whether it may."""
    where = vars(found.where) | {
        "ended_as": None,
        "stuck": found.state == "stuck",
        "claimed_before": _moment(sent.get("as_of", "")) or now(),
    }
    return LeaseFilter(**where)


def _moment(text: str) -> datetime | None:
    try:
        return parse_datetime(text)
    except ValueError:
        return None


def _uuid(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None
