"""The one JSON form of a workspace, an actor and a token. Never a secret, but once."""

from datetime import datetime
from uuid import UUID

import msgspec

from accounts.callers import Caller
from accounts.models import Actor, WorkerToken, Workspace


class ActorRef(msgspec.Struct, frozen=True):
    """Who, in short. `kind` is `person` or `agent`."""

    id: UUID
    handle: str
    name: str
    kind: str


class WorkspaceShape(msgspec.Struct, frozen=True):
    id: UUID
    name: str
    slug: str
    key: str


class AgentShape(msgspec.Struct, frozen=True):
    """An agent seat. `last_seen_at` is the latest use of any of its tokens; at most
    `max_leases` cards are its at once (null: any number)."""

    id: UUID
    handle: str
    name: str
    skills: list[str]
    max_leases: int | None
    disabled: bool
    created_at: datetime
    last_seen_at: datetime | None


class MemberShape(msgspec.Struct, frozen=True):
    """A person or an agent of the workspace; `role` is null for agents."""

    id: UUID
    handle: str
    name: str
    kind: str
    role: str | None
    disabled: bool


class PersonShape(msgspec.Struct, frozen=True):
    """A member who is a person. What they sign in with is empty unless the reader is an
    admin or themselves; `waiting` = they have no password yet."""

    id: UUID
    handle: str
    name: str
    kind: str
    role: str
    disabled: bool
    username: str
    email: str
    theme: str
    waiting: bool
    last_sign_in: datetime | None


class TokenShape(msgspec.Struct, frozen=True):
    """A worker token without its secret. `skills` come on top of the seat's."""

    id: UUID
    agent_id: UUID
    name: str
    hint: str
    scopes: list[str]
    skills: list[str]
    expires_at: datetime | None
    revoked_at: datetime | None
    last_used_at: datetime | None
    created_at: datetime


def actor_ref(actor: Actor | None) -> ActorRef | None:
    if actor is None:
        return None
    return ActorRef(actor.pk, actor.handle, actor.name, actor.kind)


def caller_ref(caller: Caller) -> ActorRef:
    return ActorRef(caller.actor_id, caller.handle, caller.name, caller.kind)


def workspace(row: Workspace) -> WorkspaceShape:
    return WorkspaceShape(row.pk, row.name, row.slug, row.key)


def agent(actor: Actor, last_seen_at: datetime | None) -> AgentShape:
    return AgentShape(
        id=actor.pk,
        handle=actor.handle,
        name=actor.name,
        skills=sorted(actor.skills),
        max_leases=actor.max_leases,
        disabled=actor.disabled_at is not None,
        created_at=actor.created_at,
        last_seen_at=last_seen_at,
    )


def member(actor: Actor) -> MemberShape:
    return MemberShape(
        id=actor.pk,
        handle=actor.handle,
        name=actor.name,
        kind=actor.kind,
        role=actor.get_role_display() if actor.role else None,
        disabled=actor.disabled_at is not None,
    )


def person(actor: Actor, *, private: bool) -> PersonShape:
    user = actor.user
    assert user is not None
    return PersonShape(
        id=actor.pk,
        handle=actor.handle,
        name=actor.name,
        kind=actor.kind,
        role=actor.get_role_display(),
        disabled=actor.disabled_at is not None,
        username=user.username if private else "",
        email=user.email if private else "",
        theme=user.theme if private else "",
        waiting=private and not user.has_usable_password(),
        last_sign_in=user.last_login if private else None,
    )


def token(row: WorkerToken) -> TokenShape:
    return TokenShape(
        id=row.pk,
        agent_id=row.actor_id,
        name=row.name,
        hint=row.hint,
        scopes=sorted(row.scopes),
        skills=sorted(row.skills),
        expires_at=row.expires_at,
        revoked_at=row.revoked_at,
        last_used_at=row.last_used_at,
        created_at=row.created_at,
    )
