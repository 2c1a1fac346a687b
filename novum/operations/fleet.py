"""The fleet over all boards: what is held, stuck or over, taking many back, and what
each seat and worker does."""

from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID

from msgspec import Meta

from accounts.callers import Caller
from accounts.pages import Page
from novum.operations.agents import AgentInput
from novum.operations.given.leases import Reason
from novum.operations.operation import Input, Operation, PageInput
from supervision.agents.figures import agent_detail, agent_figures
from supervision.agents.shapes import AgentDetail, AgentFigures
from supervision.holds.filtering import LeaseFilter
from supervision.holds.looking import seen_leases
from supervision.holds.revoking import MAX_PER_CALL, revoke_many
from supervision.holds.shapes import LeaseSeen, RevokedMany

_FILTER = ("board_id", "column_id", "agent_id", "token_id")


class FindLeases(PageInput, frozen=True):
    """`ended_as` of those that have ended only."""

    state: Literal["active", "stuck", "ended"] = "active"
    board_id: UUID | None = None
    column_id: UUID | None = None
    agent_id: UUID | None = None
    token_id: UUID | None = None
    ended_as: (
        Literal["completed", "failed", "expired", "released", "revoked"] | None
    ) = None


class RevokeLeases(Input, frozen=True):
    """Either `lease_ids` or a filter: all active leases that match every condition."""

    lease_ids: Annotated[list[UUID], Meta(max_length=MAX_PER_CALL)] = []
    board_id: UUID | None = None
    column_id: UUID | None = None
    agent_id: UUID | None = None
    token_id: UUID | None = None
    stuck: bool = False
    claimed_before: (
        Annotated[
            datetime, Meta(tz=True, description="`as_of` of the dry run: none newer.")
        ]
        | None
    ) = None
    reason: Reason = ""
    dry_run: bool = False


def find_leases(caller: Caller, given: FindLeases) -> Page[LeaseSeen]:
    """On all boards that you can see: `active` (soonest to lapse first), `stuck`
    (lapsed and not taken over, silent for ten minutes though nearly run out, or three
    times as long at work as 95 % take there) or `ended` (latest claimed first; where
    few match, a page may be short: go on while there is a next_page_token)."""
    wanted = LeaseFilter(
        **{name: getattr(given, name) for name in _FILTER}, ended_as=given.ended_as
    )
    return seen_leases(
        caller,
        given.state,
        wanted,
        page_size=given.page_size,
        page_token=given.page_token,
    )


def revoke_leases(caller: Caller, given: RevokeLeases) -> RevokedMany:
    """Needs active leases on boards that you manage; others are refused one by one in
    `results`. First `dry_run: true`: nothing is done, `revoked` and `holders` say how
    many of whom it would be; then the same with its `as_of` as `claimed_before`. While
    `left` isn't 0 and something was revoked, call again. Holders learn it at their next
    call; the cards are open again, the attempts not counted."""
    wanted = LeaseFilter(
        **{name: getattr(given, name) for name in _FILTER},
        stuck=given.stuck,
        claimed_before=given.claimed_before,
    )
    return revoke_many(
        caller,
        lease_ids=given.lease_ids,
        wanted=wanted,
        reason=given.reason,
        dry_run=given.dry_run,
    )


def list_agent_figures(caller: Caller, given: PageInput) -> Page[AgentFigures]:
    """On boards that you can see: what each seat holds, what it says to be doing, and
    how its attempts of the last 24 hours ended and how long they took (from figures
    rolled up by the hour)."""
    return agent_figures(caller, page_size=given.page_size, page_token=given.page_token)


def get_agent_figures(caller: Caller, given: AgentInput) -> AgentDetail:
    """The same of one seat, and of each of its workers' tokens. What it holds in full:
    find_leases with its `agent_id`."""
    return agent_detail(caller, agent_id=given.agent_id)


OPERATIONS = (
    Operation(
        name="find_leases",
        method="GET",
        path="/leases",
        summary="Leases of all boards: active, stuck or ended, by whom and where.",
        input=FindLeases,
        output=Page[LeaseSeen],
        call=find_leases,
        scope="read",
        who="anybody",
        errors=("bad_cursor",),
    ),
    Operation(
        name="revoke_leases",
        method="POST",
        path="/leases:revoke",
        summary=f"Take back many cards, {MAX_PER_CALL} a call; told before by a dry run.",
        input=RevokeLeases,
        output=RevokedMany,
        call=revoke_leases,
        scope="manage",
        who="manager",
        errors=("invalid",),
        destroys=True,
    ),
    Operation(
        name="list_agent_figures",
        method="GET",
        path="/agent-figures",
        summary="What every seat holds and did in the last 24 hours.",
        input=PageInput,
        output=Page[AgentFigures],
        call=list_agent_figures,
        scope="read",
        who="anybody",
        errors=("bad_cursor",),
    ),
    Operation(
        name="get_agent_figures",
        method="GET",
        path="/agents/{agent_id}/figures",
        summary="What one seat and each of its workers hold and did.",
        input=AgentInput,
        output=AgentDetail,
        call=get_agent_figures,
        scope="read",
        who="anybody",
    ),
)
