"""From a bearer token or a signed-in person to a `Caller`.

Tokens are looked up at most every two seconds per process, so a revoked one is refused
within two seconds (design section 8); `last_used_at` is written at most once a minute.
"""

from collections.abc import Iterable
from datetime import timedelta
from time import monotonic
from typing import Any
from uuid import UUID

from django.db.models import Q
from django.db.models.functions import Now

from accounts.callers import Caller
from accounts.errors import Unauthenticated
from accounts.models import Actor, WorkerToken
from accounts.roles import WorkspaceRole
from accounts.tokens import digest, is_well_formed

CACHE_SECONDS = 2.0
CACHE_ENTRIES = 10_000
USED_EVERY = timedelta(minutes=1)
ALL_SCOPES = frozenset(WorkerToken.Scope.values)

_cache: dict[bytes, tuple[float, Caller]] = {}


def caller_of_token(token: str) -> Caller:
    """Raises `Unauthenticated` for unknown, expired, revoked and disabled alike."""
    if not token.isascii():
        raise Unauthenticated
    key = digest(token)
    known = _cache.get(key)
    if known and monotonic() - known[0] < CACHE_SECONDS:
        return known[1]
    if not is_well_formed(token):
        raise Unauthenticated
    caller = _look_up(key)
    if len(_cache) >= CACHE_ENTRIES:
        _cache.clear()
    _cache[key] = (monotonic(), caller)
    return caller


def _look_up(key: bytes) -> Caller:
    row = (
        WorkerToken.objects.select_related("actor__workspace")
        .filter(digest=key, revoked_at=None, actor__disabled_at=None)
        .filter(Q(expires_at=None) | Q(expires_at__gt=Now()))
        .filter(Q(actor__user=None) | Q(actor__user__is_active=True))
        .first()
    )
    if row is None:
        _cache.pop(key, None)
        raise Unauthenticated
    WorkerToken.objects.filter(
        Q(last_used_at=None) | Q(last_used_at__lt=Now() - USED_EVERY), pk=row.pk
    ).update(last_used_at=Now())
    return _caller(row.actor, frozenset(row.scopes), row.pk, row.skills)


def caller_now(caller: Caller) -> Caller:
    """The same caller after a while, by a fresh look at the token. Raises
    `Unauthenticated`."""
    if caller.token_id is None:
        return caller
    row = WorkerToken.objects.filter(pk=caller.token_id).first()
    if row is None:
        raise Unauthenticated
    return _look_up(bytes(row.digest))


def caller_of_user(user: Any, workspace_id: UUID | None = None) -> Caller:
    """The person in the named workspace, or in their first one."""
    actors = (
        Actor.objects.enabled()
        .select_related("workspace")
        .filter(user=user)
        .order_by("created_at", "id")
    )
    if workspace_id:
        actors = actors.filter(workspace_id=workspace_id)
    actor = actors.first()
    if actor is None or not user.is_active:
        raise Unauthenticated("You are signed in, but a member of no workspace.")
    return _caller(actor, ALL_SCOPES, None)


def caller_of_actor(actor: Actor) -> Caller:
    """For commands and seeds on the server itself: everything the actor may do."""
    return _caller(actor, ALL_SCOPES, None)


def forget_tokens() -> None:
    """Ask the database again at the next call (after a revoke in this process)."""
    _cache.clear()


def _caller(
    actor: Actor,
    scopes: frozenset[str],
    token_id: UUID | None,
    skills: Iterable[str] = (),
) -> Caller:
    return Caller(
        workspace_id=actor.workspace_id,
        workspace_key=actor.workspace.key,
        actor_id=actor.pk,
        kind=actor.kind,
        handle=actor.handle,
        name=actor.name,
        role=WorkspaceRole(actor.role) if actor.role else None,
        scopes=scopes,
        token_id=token_id,
        skills=frozenset(actor.skills).union(skills),
        max_leases=actor.max_leases,
    )
