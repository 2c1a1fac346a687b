"""Agent seats and their worker tokens."""

from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID

import msgspec
from msgspec import Meta

from accounts import reads
from accounts.callers import Caller
from accounts.errors import NotFound
from accounts.pages import Page
from accounts.shapes import AgentShape, TokenShape
from accounts.skills import Skills as SkillList
from accounts.told import MAX_HANDLE_CHARACTERS, told
from accounts.verbs import agents
from accounts.verbs.agents import DEFAULT_SCOPES, HIGHEST_MAX_LEASES, Name
from leases.verbs.revoke import stop_agent as stop
from novum.operations.given.leases import Reason
from novum.operations.operation import Input, Operation, PageInput, Remembers

Scope = Literal["read", "work", "write", "manage"]
Skills = Annotated[
    SkillList, Meta(description="Cards that ask for skills go to who has them all.")
]
MaxLeases = Annotated[
    int,
    Meta(
        ge=1,
        le=HIGHEST_MAX_LEASES,
        description="How many cards the seat may hold at once; null: any number.",
    ),
]


class AgentInput(Input, frozen=True):
    agent_id: UUID


class CreateAgent(Input, frozen=True):
    handle: Annotated[str, told(maxLength=MAX_HANDLE_CHARACTERS)]
    name: Name = ""
    skills: Skills = []
    max_leases: MaxLeases | None = None


class EditAgent(AgentInput, frozen=True):
    name: Name | None = None
    disabled: bool | None = None
    skills: Skills | None = None
    max_leases: MaxLeases | msgspec.UnsetType | None = msgspec.UNSET


class StopAgent(AgentInput, frozen=True):
    reason: Reason = ""
    disable: Annotated[
        bool, Meta(description="Refuse the seat's tokens from now on, too.")
    ] = False


class ListTokens(PageInput, frozen=True):
    agent_id: UUID


class CreateToken(AgentInput, frozen=True):
    name: Name
    scopes: Annotated[
        list[Scope] | None, Meta(description="Default: read, work, write.")
    ] = None
    expires_at: Annotated[datetime, Meta(tz=True)] | None = None
    skills: Annotated[
        SkillList, Meta(description="Of this worker, beside those of its seat.")
    ] = []


class TokenInput(AgentInput, frozen=True):
    token_id: UUID


class NewToken(msgspec.Struct, frozen=True):
    """`secret` is given here only, once: null when an Idempotency-Key repeats."""

    token: TokenShape
    secret: str | None


class Stopped(msgspec.Struct, frozen=True):
    revoked: int


def list_agents(caller: Caller, given: PageInput) -> Page[AgentShape]:
    return reads.agents(caller, page_size=given.page_size, page_token=given.page_token)


def get_agent(caller: Caller, given: AgentInput) -> AgentShape:
    return reads.agent(caller, agent_id=given.agent_id)


def create_agent(caller: Caller, given: CreateAgent) -> AgentShape:
    agent_id = agents.create_agent(
        caller,
        handle=given.handle,
        name=given.name,
        skills=given.skills,
        max_leases=given.max_leases,
    )
    return reads.agent(caller, agent_id=agent_id)


def edit_agent(caller: Caller, given: EditAgent) -> AgentShape:
    agents.edit_agent(
        caller,
        agent_id=given.agent_id,
        name=given.name,
        disabled=given.disabled,
        skills=given.skills,
        max_leases=given.max_leases,
    )
    return get_agent(caller, given)


def stop_agent(caller: Caller, given: StopAgent) -> Stopped:
    """Its workers learn it at their next call; the cards are open again, the attempts
    not counted. They may claim again unless you `disable` the seat in the same call;
    edit_agent enables it again."""
    reads.agent(caller, agent_id=given.agent_id)
    count = stop(
        caller, agent_id=given.agent_id, reason=given.reason, disable=given.disable
    )
    return Stopped(count)


def list_tokens(caller: Caller, given: ListTokens) -> Page[TokenShape]:
    return reads.tokens(
        caller,
        agent_id=given.agent_id,
        page_size=given.page_size,
        page_token=given.page_token,
    )


def create_token(caller: Caller, given: CreateToken) -> NewToken:
    token_id, secret = agents.create_token(
        caller,
        agent_id=given.agent_id,
        name=given.name,
        scopes=DEFAULT_SCOPES if given.scopes is None else given.scopes,
        expires_at=given.expires_at,
        skills=given.skills,
    )
    return NewToken(_token(caller, token_id), secret)


def revoke_token(caller: Caller, given: TokenInput) -> TokenShape:
    token_id = agents.revoke_token(
        caller, agent_id=given.agent_id, token_id=given.token_id
    )
    return _token(caller, token_id)


def _token(caller: Caller, token_id: UUID) -> TokenShape:
    found = reads.tokens_by_ids(caller, [token_id])
    if not found:
        raise NotFound("There is no such token here.")
    return found[0]


_AGENT = "/agents/{agent_id}"

OPERATIONS = (
    Operation(
        name="list_agents",
        method="GET",
        path="/agents",
        summary="The agent seats of the workspace.",
        input=PageInput,
        output=Page[AgentShape],
        call=list_agents,
        scope="read",
        who="anybody",
        errors=("bad_cursor",),
    ),
    Operation(
        name="create_agent",
        method="POST",
        path="/agents",
        summary="A seat for an agent; its workers get tokens.",
        input=CreateAgent,
        output=AgentShape,
        call=create_agent,
        scope="manage",
        who="admin",
        errors=("invalid", "handle_taken"),
        status=201,
        remembers=Remembers(
            lambda made: [made.id],
            lambda caller, given, ids: reads.agent(caller, agent_id=ids[0]),
        ),
    ),
    Operation(
        name="get_agent",
        method="GET",
        path=_AGENT,
        summary="One agent seat.",
        input=AgentInput,
        output=AgentShape,
        call=get_agent,
        scope="read",
        who="anybody",
    ),
    Operation(
        name="edit_agent",
        method="PATCH",
        path=_AGENT,
        summary="Rename, disable or enable an agent seat.",
        input=EditAgent,
        output=AgentShape,
        call=edit_agent,
        scope="manage",
        who="admin",
        errors=("invalid",),
    ),
    Operation(
        name="stop_agent",
        method="POST",
        path=f"{_AGENT}:stop",
        summary="Take everything that the seat holds away from it.",
        input=StopAgent,
        output=Stopped,
        call=stop_agent,
        scope="manage",
        who="admin",
        repeatable=True,
        destroys=True,
    ),
    Operation(
        name="list_tokens",
        method="GET",
        path=f"{_AGENT}/tokens",
        summary="A seat's worker tokens, without their secrets.",
        input=ListTokens,
        output=Page[TokenShape],
        call=list_tokens,
        scope="manage",
        who="admin",
        errors=("bad_cursor",),
    ),
    Operation(
        name="create_token",
        method="POST",
        path=f"{_AGENT}/tokens",
        summary="A token for one more worker; its secret is shown this once.",
        input=CreateToken,
        output=NewToken,
        call=create_token,
        scope="manage",
        who="admin",
        errors=("invalid",),
        status=201,
        remembers=Remembers(
            lambda made: [made.token.id],
            lambda caller, given, ids: NewToken(_token(caller, ids[0]), None),
        ),
    ),
    Operation(
        name="revoke_token",
        method="POST",
        path=f"{_AGENT}/tokens/{{token_id}}:revoke",
        summary="Refuse a token from now on.",
        input=TokenInput,
        output=TokenShape,
        call=revoke_token,
        scope="manage",
        who="admin",
        repeatable=True,
        destroys=True,
    ),
)
