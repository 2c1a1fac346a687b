"""Agent seats and their worker tokens."""

import re
from collections.abc import Sequence
from datetime import datetime
from typing import Annotated
from uuid import UUID

import msgspec
from django.db import IntegrityError, transaction
from django.db.models.functions import Now

from accounts.callers import Caller
from accounts.credentials import forget_tokens
from accounts.errors import Conflict, Invalid, NotFound
from accounts.models import Actor, WorkerToken
from accounts.moments import keepable
from accounts.skills import skills_of
from accounts.tokens import AGENT_PREFIX, digest, mint
from accounts.told import told

HANDLE = re.compile(r"[a-z0-9][a-z0-9-]{0,38}")
MAX_NAME_CHARACTERS = 100
MAX_TOKENS_PER_AGENT = 500
HIGHEST_MAX_LEASES = 10_000
Name = Annotated[str, told(maxLength=MAX_NAME_CHARACTERS)]
# Enough to do the work; managing boards is given on purpose.
DEFAULT_SCOPES = ("read", "work", "write")


class HandleTaken(Conflict):
    """Somebody in this workspace already has that handle."""

    code = "handle_taken"


@transaction.atomic
def create_agent(
    caller: Caller,
    *,
    handle: str,
    name: str = "",
    skills: Sequence[str] = (),
    max_leases: int | None = None,
) -> UUID:
    """A seat for an agent, without a token yet. Admins. Raises Invalid, HandleTaken."""
    caller.require_admin()
    handle = handle.removeprefix("@")
    if not HANDLE.fullmatch(handle):
        raise Invalid.at(
            "/handle",
            "bad_handle",
            "A handle has 1 to 39 small letters, digits and hyphens.",
        )
    actor = Actor(
        workspace_id=caller.workspace_id,
        kind=Actor.Kind.AGENT,
        handle=handle,
        name=_name(name or handle),
        skills=skills_of(skills, "/skills"),
        max_leases=_limit(max_leases),
    )
    try:
        with transaction.atomic():
            actor.save()
    except IntegrityError as error:
        if "actor_handle_once_per_workspace" not in str(error):
            raise
        raise HandleTaken(f"@{handle} is taken in this workspace.") from error
    return actor.pk


@transaction.atomic
def edit_agent(
    caller: Caller,
    *,
    agent_id: UUID,
    name: str | None = None,
    disabled: bool | None = None,
    skills: Sequence[str] | None = None,
    max_leases: int | msgspec.UnsetType | None = msgspec.UNSET,
) -> UUID:
    """Change a seat. Disabled: its tokens are refused within two seconds; what it holds
    comes back when the leases lapse. Skills and the limit count for claims from then
    on, in other processes after two seconds. Admins. Raises NotFound, Invalid."""
    actor = _locked(caller, agent_id)
    if name is not None:
        actor.name = _name(name)
    if disabled is not None and disabled != (actor.disabled_at is not None):
        actor.disabled_at = Now() if disabled else None
    if skills is not None:
        actor.skills = skills_of(skills, "/skills")
    if max_leases is not msgspec.UNSET:
        actor.max_leases = _limit(max_leases)
    actor.save()
    forget_tokens()
    return actor.pk


@transaction.atomic
def create_token(
    caller: Caller,
    *,
    agent_id: UUID,
    name: str,
    scopes: Sequence[str] = DEFAULT_SCOPES,
    expires_at: datetime | None = None,
    skills: Sequence[str] = (),
) -> tuple[UUID, str]:
    """A token for one more worker of the seat, and its secret, which is nowhere
    afterwards. Admins. Raises NotFound, Invalid."""
    actor = _locked(caller, agent_id)
    unknown = sorted(set(scopes) - set(WorkerToken.Scope.values))
    if unknown or not scopes:
        known = ", ".join(WorkerToken.Scope.values)
        raise Invalid.at("/scopes", "unknown_scope", f"Scopes are {known}.")
    if WorkerToken.objects.filter(actor=actor, revoked_at=None).count() >= (
        MAX_TOKENS_PER_AGENT
    ):
        raise Invalid(f"A seat has at most {MAX_TOKENS_PER_AGENT} tokens in force.")
    secret = mint(AGENT_PREFIX)
    token = WorkerToken.objects.create(
        workspace_id=caller.workspace_id,
        actor=actor,
        name=_name(name),
        digest=digest(secret),
        hint=f"{AGENT_PREFIX}…{secret[-4:]}",
        scopes=sorted(set(scopes)),
        skills=skills_of(skills, "/skills"),
        expires_at=keepable(expires_at, "/expires_at"),
        created_by_id=caller.actor_id,
    )
    return token.pk, secret


@transaction.atomic
def revoke_token(caller: Caller, *, agent_id: UUID, token_id: UUID) -> UUID:
    """From now on (at most two seconds in other processes) the token is refused. What
    was claimed with it comes back when the leases lapse. Idempotent. Admins."""
    actor = _locked(caller, agent_id)
    tokens = WorkerToken.objects.filter(pk=token_id, actor=actor)
    if not tokens.exists():
        raise NotFound("This agent has no such token.")
    tokens.filter(revoked_at=None).update(revoked_at=Now())
    forget_tokens()
    return token_id


def _locked(caller: Caller, agent_id: UUID) -> Actor:
    seat = Actor.objects.in_workspace(caller.workspace_id).agents().filter(pk=agent_id)
    if not seat.exists():
        raise NotFound("There is no such agent here.")
    caller.require_admin()
    return seat.select_for_update(no_key=True).get()


def _limit(leases: int | None) -> int | None:
    if leases is not None and not 1 <= leases <= HIGHEST_MAX_LEASES:
        raise Invalid.at(
            "/max_leases", "out_of_range", f"max_leases is 1 to {HIGHEST_MAX_LEASES}."
        )
    return leases


def _name(text: str) -> str:
    long = len(text) > MAX_NAME_CHARACTERS
    text = text.strip()
    if long or not text or not text.isprintable():
        raise Invalid.at(
            "/name",
            "bad_name",
            f"A name has 1 to {MAX_NAME_CHARACTERS} characters that can be seen.",
        )
    return text
