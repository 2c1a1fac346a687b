"""Who am I, what do I hold."""

from datetime import datetime
from uuid import UUID

import msgspec
from django.conf import settings

from accounts import reads
from accounts.callers import Caller
from accounts.pages import Page
from accounts.shapes import ActorRef, MemberShape, WorkspaceShape, caller_ref
from leases.reads import held_by_caller, server_time
from leases.shapes import LeaseShape
from novum.operations.operation import NoInput, Operation, PageInput


class Me(msgspec.Struct, frozen=True):
    """The caller. `live_url` is where streams are served, and `waiting_url` where
    claims with `wait_seconds` go (and every other call may). `skills`
    are those of seat and token; null `max_leases`: any number of cards at once."""

    actor: ActorRef
    role: str | None
    scopes: list[str]
    skills: list[str]
    max_leases: int | None
    token_id: UUID | None
    workspace: WorkspaceShape
    url: str
    live_url: str
    waiting_url: str
    server_time: datetime


def get_me(caller: Caller, given: NoInput) -> Me:
    return Me(
        actor=caller_ref(caller),
        role=caller.role.name.lower() if caller.role else None,
        scopes=sorted(caller.scopes),
        skills=sorted(caller.skills),
        max_leases=caller.max_leases,
        token_id=caller.token_id,
        workspace=reads.workspace(caller),
        url=settings.NOVUM_URL,
        live_url=settings.NOVUM_LIVE_URL,
        waiting_url=settings.NOVUM_LIVE_URL,
        server_time=server_time(),
    )


def list_my_leases(caller: Caller, given: PageInput) -> Page[LeaseShape]:
    return held_by_caller(
        caller, page_size=given.page_size, page_token=given.page_token
    )


def list_members(caller: Caller, given: PageInput) -> Page[MemberShape]:
    return reads.members(caller, page_size=given.page_size, page_token=given.page_token)


OPERATIONS = (
    Operation(
        name="get_me",
        method="GET",
        path="/me",
        summary="Who the credential is, what it may do, where waiting calls go.",
        input=NoInput,
        output=Me,
        call=get_me,
        scope="read",
        who="anybody",
    ),
    Operation(
        name="list_my_leases",
        method="GET",
        path="/me/leases",
        summary="What the caller's seat holds now, latest first.",
        input=PageInput,
        output=Page[LeaseShape],
        call=list_my_leases,
        scope="read",
        who="anybody",
        errors=("bad_cursor",),
    ),
    Operation(
        name="list_members",
        method="GET",
        path="/members",
        summary="People and agents of the workspace, by whose handles cards are"
        " assigned.",
        input=PageInput,
        output=Page[MemberShape],
        call=list_members,
        scope="read",
        who="anybody",
        errors=("bad_cursor",),
    ),
)
