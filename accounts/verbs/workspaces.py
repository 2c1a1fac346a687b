"""Workspaces: further ones, their names, and people who come into a further one."""

import re
from uuid import UUID

from django.db import transaction

from accounts.callers import Caller
from accounts.errors import Conflict, FieldError, Invalid, NotFound
from accounts.models import Actor, User, Workspace
from accounts.roles import WorkspaceRole
from accounts.verbs.passwords import locked_user
from accounts.verbs.people import (
    free_slug,
    one_workspace_at_a_time,
    only_owners_make_owners,
    save_named,
)
from accounts.verbs.text import visible_name

DEFAULT_KEY = "NOV"
MAX_KEY_CHARACTERS = 8
_KEY = re.compile(r"[A-Z][A-Z0-9]{1,7}")


class AlreadyMember(Conflict):
    """They are a member of this workspace already."""

    code = "already_member"


@transaction.atomic
def create_workspace(caller: Caller, *, name: str, key: str = DEFAULT_KEY) -> UUID:
    """A further workspace, owned by the caller, who is a person and an admin where they
    are. Its cards are called after `key`, such as NOV-12. Raises Invalid, Forbidden."""
    caller.require_admin()
    user = locked_user(caller)
    name, errors = visible_name(name)
    long = len(key) > MAX_KEY_CHARACTERS
    key = key.strip().upper()
    if long or not _KEY.fullmatch(key):
        detail = "A key has 2 to 8 letters and digits, a letter first."
        errors.append(FieldError("/key", "bad_key", detail))
    if errors:
        raise Invalid(errors=errors)
    one_workspace_at_a_time()
    made = Workspace.objects.create(name=name, key=key, slug=free_slug(name))
    Actor.objects.create(
        workspace=made,
        kind=Actor.Kind.PERSON,
        handle=user.handle,
        name=caller.name,
        user=user,
        role=WorkspaceRole.OWNER,
    )
    return made.pk


@transaction.atomic
def edit_workspace(caller: Caller, *, workspace_id: UUID, name: str) -> UUID:
    """Rename the caller's workspace. Admins. Raises NotFound, Forbidden, Invalid."""
    if workspace_id != caller.workspace_id:
        raise NotFound("You are a member of no such workspace.")
    caller.require_admin()
    row = Workspace.objects.select_for_update(no_key=True).get(pk=workspace_id)
    row.name, errors = visible_name(name)
    if errors:
        raise Invalid(errors=errors)
    row.save(update_fields=["name"])
    return row.pk


@transaction.atomic
def add_person(
    caller: Caller, *, username: str, role: WorkspaceRole = WorkspaceRole.MEMBER
) -> UUID:
    """Somebody who signs in on this server already becomes a member here, too, with the
    name and handle that they have elsewhere. Admins; owners are made by owners. Raises
    Invalid, AlreadyMember, HandleTaken (an agent here has it)."""
    caller.require_admin()
    only_owners_make_owners(caller, role)
    user = User.objects.select_for_update(no_key=True).filter(
        username=username.strip(), is_active=True
    )
    found = user.first()
    if found is None:
        detail = "Nobody signs in with that name."
        raise Invalid.at("/username", "unknown_username", detail)
    memberships = Actor.objects.filter(user=found).order_by("created_at")
    if memberships.filter(workspace_id=caller.workspace_id).exists():
        raise AlreadyMember
    elsewhere = memberships.first()
    actor = Actor(
        workspace_id=caller.workspace_id,
        kind=Actor.Kind.PERSON,
        handle=found.handle,
        name=elsewhere.name if elsewhere else found.get_username(),
        user=found,
        role=role,
    )
    save_named(found, actor)
    return actor.pk
