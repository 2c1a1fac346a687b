"""People: the first one, further ones, what they are in the workspace."""

import re
from typing import Any
from uuid import UUID

from django.contrib.auth.validators import UnicodeUsernameValidator
from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db import IntegrityError, connection, transaction
from django.db.models.functions import Now
from django.dispatch import Signal
from django.utils.text import slugify

from accounts.callers import Caller
from accounts.credentials import forget_tokens
from accounts.errors import Conflict, FieldError, Forbidden, Invalid, NotFound
from accounts.models import Actor, User, Workspace
from accounts.roles import WorkspaceRole
from accounts.verbs.agents import HANDLE, HandleTaken
from accounts.verbs.passwords import password_errors
from accounts.verbs.text import visible_name

MAX_USERNAME_CHARACTERS = 150
MAX_EMAIL_CHARACTERS = 254
BAD_HANDLE = "A handle has 1 to 39 small letters, digits and hyphens."
# Any number will do, as long as everybody who sets up takes the same.
_SET_UP_LOCK = 0x4E4F_5655_4D01
# With `caller` (None: whoever runs the server) and `actor_id`, in the transaction that
# shuts a person out: for those who keep something for people that must come back.
shut_out = Signal()


class AlreadySetUp(Conflict):
    """There are people here already. Sign in, or ask one of them."""

    code = "already_set_up"


class UsernameTaken(Conflict):
    """Somebody already signs in with that name."""

    code = "username_taken"


class LastOwner(Conflict):
    """A workspace keeps at least one owner. Make somebody else one first."""

    code = "last_owner"


@transaction.atomic
def set_up(*, workspace: str, username: str, name: str, password: str) -> User:
    """The first workspace and its owner, who may also use the admin pages. Only while
    there is nobody at all: of two at once the second one gets AlreadySetUp."""
    one_workspace_at_a_time()
    if User.objects.exists():
        raise AlreadySetUp
    handle = _handle_like(username)
    errors = _errors(username, handle, "", name, password)
    title, blamed = visible_name(workspace, "/workspace")
    errors += blamed
    if errors:
        raise Invalid(errors=errors)
    user = User(username=username, handle=handle, is_staff=True, is_superuser=True)
    user.set_password(password)
    user.save()
    Actor.objects.create(
        workspace=Workspace.objects.create(name=title, slug=free_slug(title)),
        kind=Actor.Kind.PERSON,
        handle=handle,
        name=name.strip(),
        user=user,
        role=WorkspaceRole.OWNER,
    )
    return user


@transaction.atomic
def create_person(
    caller: Caller,
    *,
    username: str,
    handle: str = "",
    name: str = "",
    email: str = "",
    password: str | None = None,
    role: WorkspaceRole = WorkspaceRole.MEMBER,
) -> UUID:
    """A login and a place in the caller's workspace. Without a password nobody can sign
    in as them until they follow a link (`links.sign_in_link`). Admins; owners are made
    by owners. Raises Invalid, UsernameTaken, HandleTaken."""
    caller.require_admin()
    only_owners_make_owners(caller, role)
    username = username.strip()
    handle = handle.strip().removeprefix("@") or _handle_like(username)
    name = name.strip() or username
    errors = _errors(username, handle, email, name, password)
    if errors:
        raise Invalid(errors=errors)
    user = User(username=username, handle=handle, email=email)
    if password is None:
        user.set_unusable_password()
    else:
        user.set_password(password)
    actor = Actor(
        workspace_id=caller.workspace_id,
        kind=Actor.Kind.PERSON,
        handle=handle,
        name=name,
        user=user,
        role=role,
    )
    save_named(user, actor)
    return actor.pk


@transaction.atomic
def edit_member(
    caller: Caller,
    *,
    member_id: UUID,
    role: WorkspaceRole | None = None,
    disabled: bool | None = None,
) -> UUID:
    """Change what a person is here, or shut them out and let them in again (within two
    seconds in other processes). Their history keeps their name; cards that they hold
    without end are given back with it, others when the leases lapse. Admins; only
    owners change owners. Raises NotFound, Forbidden, LastOwner."""
    actor = _locked(caller, member_id)
    owned = actor.role == WorkspaceRole.OWNER and actor.disabled_at is None
    if role is not None:
        only_owners_make_owners(caller, role)
        actor.role = role
    if disabled is not None and disabled != (actor.disabled_at is not None):
        actor.disabled_at = Now() if disabled else None
    actor.save()
    if owned:
        keep_an_owner(caller.workspace_id)
    if disabled:
        shut_out.send(Actor, caller=caller, actor_id=actor.pk)
    forget_tokens()
    return actor.pk


def keep_an_owner(workspace_id: UUID) -> None:
    """The owners' rows are locked. Whoever can't sign in doesn't count. Raises
    LastOwner."""
    owners = Actor.objects.in_workspace(workspace_id).enabled().owners()
    if not owners.filter(user__is_active=True).exists():
        raise LastOwner


def one_workspace_at_a_time() -> None:
    """Until the end of the transaction nobody else makes one."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [_SET_UP_LOCK])


def save_named(user: User, *actors: Actor) -> None:
    """Raises UsernameTaken, HandleTaken."""
    try:
        with transaction.atomic():
            user.save()
            for actor in actors:
                actor.save()
    except IntegrityError as error:
        constraint = error.__cause__.diag.constraint_name or ""  # type: ignore[union-attr]
        if "username" in constraint:
            raise UsernameTaken(f"{user.username} is taken.") from error
        if "handle" in constraint:
            raise HandleTaken(f"@{user.handle} is taken.") from error
        raise


def _locked(caller: Caller, member_id: UUID) -> Actor:
    """The person, to be changed by the caller. All owners are locked with them, so that
    two owners can't take the role from each other at once."""
    here = Actor.objects.in_workspace(caller.workspace_id).filter(
        kind=Actor.Kind.PERSON
    )
    if not here.filter(pk=member_id).exists():
        raise NotFound("There is no such person here.")
    caller.require_admin()
    rows = here.filter(pk=member_id) | here.owners()
    found = {row.pk: row for row in rows.order_by("id").select_for_update(no_key=True)}
    actor = found[member_id]
    if actor.role == WorkspaceRole.OWNER:
        only_owners_make_owners(caller, WorkspaceRole.OWNER)
    return actor


def only_owners_make_owners(caller: Caller, role: WorkspaceRole) -> None:
    if role == WorkspaceRole.OWNER and caller.role != WorkspaceRole.OWNER:
        raise Forbidden("Only owners make owners and change them.", needs="owner")


def _errors(
    username: str, handle: str, email: str, name: str, password: str | None
) -> list[FieldError]:
    errors = visible_name(name)[1]
    try:
        UnicodeUsernameValidator()(username)
        if len(username) > MAX_USERNAME_CHARACTERS:
            raise ValidationError(f"At most {MAX_USERNAME_CHARACTERS} characters.")
    except ValidationError as error:
        errors.append(FieldError("/username", "bad_username", _text(error)))
    if not HANDLE.fullmatch(handle):
        errors.append(FieldError("/handle", "bad_handle", BAD_HANDLE))
    if email:
        try:
            validate_email(email)
        except ValidationError as error:
            errors.append(FieldError("/email", "bad_email", _text(error)))
    if password is not None:
        errors += password_errors(password, User(username=username, email=email))
    return errors


def _text(error: ValidationError) -> str:
    return " ".join(error.messages)


def _handle_like(username: str) -> str:
    """A handle that looks like the name; empty when nothing of it can be in one."""
    return re.sub(r"[^a-z0-9]+", "-", slugify(username)).strip("-")[:39]


def free_slug(title: str) -> str:
    """A short name for a workspace that no other one has."""
    base = slugify(title)[:40] or "workspace"
    taken: Any = set(Workspace.objects.values_list("slug", flat=True))
    slug, number = base, 1
    while slug in taken:
        number += 1
        slug = f"{base}-{number}"
    return slug
