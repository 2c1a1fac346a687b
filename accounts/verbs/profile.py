"""What people change of themselves: name, handle, theme, personal tokens."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from django.db import transaction
from django.db.models.functions import Now

from accounts.callers import Caller
from accounts.credentials import forget_tokens
from accounts.errors import FieldError, Forbidden, Invalid, NotFound
from accounts.models import Actor, User, WorkerToken
from accounts.moments import keepable
from accounts.tokens import PERSON_PREFIX, digest, mint
from accounts.verbs.agents import HANDLE
from accounts.verbs.passwords import locked_user
from accounts.verbs.people import BAD_HANDLE, save_named
from accounts.verbs.text import visible_name

MAX_TOKENS_PER_PERSON = 50
DEFAULT_SCOPES = tuple(WorkerToken.Scope.values)


@transaction.atomic
def edit_profile(caller: Caller, *, name: str, handle: str, theme: str) -> None:
    """The same in every workspace of the person. Raises Invalid, HandleTaken."""
    user = locked_user(caller)
    handle = handle.strip().removeprefix("@")
    name, errors = visible_name(name)
    if not HANDLE.fullmatch(handle):
        errors.append(FieldError("/handle", "bad_handle", BAD_HANDLE))
    if theme not in User.Theme.values:
        known = ", ".join(User.Theme.values)
        errors.append(FieldError("/theme", "unknown_theme", f"Themes are {known}."))
    if errors:
        raise Invalid(errors=errors)
    user.handle, user.theme = handle, theme
    actors = list(Actor.objects.filter(user=user).order_by("id").select_for_update())
    for actor in actors:
        actor.name, actor.handle = name, handle
    save_named(user, *actors)
    forget_tokens()


@transaction.atomic
def create_my_token(
    caller: Caller,
    *,
    name: str,
    scopes: Sequence[str] = DEFAULT_SCOPES,
    expires_at: datetime | None = None,
) -> tuple[UUID, str]:
    """A token that acts as the person in this workspace, and its secret, which is
    nowhere afterwards. No more scopes than the caller has. Raises Invalid, Forbidden."""
    locked_user(caller)
    name, errors = visible_name(name)
    if not scopes or not set(scopes) <= set(WorkerToken.Scope.values):
        known = ", ".join(WorkerToken.Scope.values)
        errors.append(FieldError("/scopes", "unknown_scope", f"Scopes are {known}."))
    if errors:
        raise Invalid(errors=errors)
    for scope in scopes:
        caller.require_scope(scope)
    mine = WorkerToken.objects.filter(actor_id=caller.actor_id, revoked_at=None)
    if mine.count() >= MAX_TOKENS_PER_PERSON:
        raise Invalid(f"You have at most {MAX_TOKENS_PER_PERSON} tokens in force.")
    secret = mint(PERSON_PREFIX)
    token = WorkerToken.objects.create(
        workspace_id=caller.workspace_id,
        actor_id=caller.actor_id,
        name=name,
        digest=digest(secret),
        hint=f"{PERSON_PREFIX}…{secret[-4:]}",
        scopes=sorted(set(scopes)),
        expires_at=keepable(expires_at, "/expires_at"),
        created_by_id=caller.actor_id,
    )
    return token.pk, secret


@transaction.atomic
def revoke_my_token(caller: Caller, *, token_id: UUID) -> UUID:
    """Refuse it from now on (at most two seconds in other processes). Idempotent.
    Raises NotFound, Forbidden (agents)."""
    if caller.kind != Actor.Kind.PERSON:
        raise Forbidden("Only people have personal tokens.")
    mine = WorkerToken.objects.filter(pk=token_id, actor_id=caller.actor_id)
    if not mine.exists():
        raise NotFound("You have no such token.")
    mine.filter(revoked_at=None).update(revoked_at=Now())
    forget_tokens()
    return token_id
