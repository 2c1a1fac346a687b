"""Logins, which belong to no workspace: whoever runs the server ends them."""

from uuid import UUID

from django.db import transaction

from accounts.credentials import forget_tokens
from accounts.errors import Forbidden, NotFound
from accounts.models import Actor, User
from accounts.verbs.people import keep_an_owner, shut_out


@transaction.atomic
def set_login_active(*, by: User, user_id: UUID, active: bool) -> None:
    """Shut somebody out of all their workspaces at once, with their tokens, or let them
    in again (within two seconds in other processes). Cards that they hold without end
    are given back with it. Superusers. Raises NotFound, Forbidden, LastOwner."""
    if not by.is_active or not by.is_superuser:
        raise Forbidden("Only whoever runs the server may do that.", needs="superuser")
    mine = Actor.objects.filter(user_id=user_id)
    # The owners before the login, and all of them: as whoever changes owners does.
    owners = Actor.objects.filter(workspace__in=mine.values("workspace")).owners()
    list(owners.order_by("id").select_for_update(no_key=True))
    user = User.objects.select_for_update(no_key=True).filter(pk=user_id).first()
    if user is None:
        raise NotFound("Nobody signs in with that.")
    if user.is_active == active:
        return
    user.is_active = active
    user.save(update_fields=["is_active"])
    forget_tokens()
    if active:
        return
    for actor in mine.enabled().owners().order_by("id"):
        keep_an_owner(actor.workspace_id)
    for actor in mine.order_by("id"):
        shut_out.send(Actor, caller=None, actor_id=actor.pk)
