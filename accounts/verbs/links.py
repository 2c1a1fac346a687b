"""One-time links: how somebody gets their first password, or a new one.

Nothing of a link is stored: it's an HMAC over the user's password and last sign-in
(Django's PasswordResetTokenGenerator), so it ends with its use, with a sign-in and
after PASSWORD_RESET_TIMEOUT seconds.
"""

from uuid import UUID

from django.contrib.auth.tokens import default_token_generator
from django.db import transaction

from accounts.callers import Caller
from accounts.errors import Forbidden, Invalid, NotFound
from accounts.models import Actor, User
from accounts.roles import WorkspaceRole
from accounts.verbs.passwords import password_errors


class LinkUsedUp(NotFound):
    """This link was used before, or is too old. Ask for a new one."""

    code = "link_used_up"


def sign_in_link(caller: Caller, *, member_id: UUID) -> tuple[UUID, str]:
    """The two parts of a link by which the person sets a password. Admins, for people
    of no other workspace; only owners for owners. Raises NotFound, Forbidden."""
    actor = (
        Actor.objects.in_workspace(caller.workspace_id)
        .select_related("user")
        .filter(pk=member_id, kind=Actor.Kind.PERSON)
        .first()
    )
    if actor is None or actor.user is None:
        raise NotFound("There is no such person here.")
    caller.require_admin()
    if actor.role == WorkspaceRole.OWNER and caller.role != WorkspaceRole.OWNER:
        raise Forbidden("Only owners make links for owners.", needs="owner")
    # Whoever has the link is that person, also where the caller has no say.
    elsewhere = Actor.objects.filter(user=actor.user).exclude(pk=actor.pk).exists()
    if elsewhere or (actor.user.is_staff and actor.pk != caller.actor_id):
        raise Forbidden(
            "They have rights outside of this workspace: whoever runs the server sets"
            " their password, in the admin pages."
        )
    return actor.user.pk, default_token_generator.make_token(actor.user)


def user_of_link(user_id: UUID, token: str) -> User:
    """Raises LinkUsedUp."""
    user = User.objects.filter(pk=user_id, is_active=True).first()
    if user is None or not default_token_generator.check_token(user, token):
        raise LinkUsedUp
    return user


@transaction.atomic
def follow_link(*, user_id: UUID, token: str, password: str) -> User:
    """Set the password; the link is used up. Raises LinkUsedUp, Invalid."""
    User.objects.select_for_update(no_key=True).filter(pk=user_id).first()
    user = user_of_link(user_id, token)
    errors = password_errors(password, user)
    if errors:
        raise Invalid(errors=errors)
    user.set_password(password)
    user.save(update_fields=["password"])
    return user
