"""Passwords: what they must be, changing one's own."""

from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.db import transaction

from accounts.callers import Caller
from accounts.errors import FieldError, Forbidden, Invalid
from accounts.models import Actor, User

# Hashing a longer one would only burn time.
MAX_PASSWORD_CHARACTERS = 1_000


def password_errors(
    password: str, user: User, pointer: str = "/password"
) -> list[FieldError]:
    """Why nobody should have this password, by AUTH_PASSWORD_VALIDATORS."""
    if len(password) > MAX_PASSWORD_CHARACTERS:
        return [FieldError(pointer, "too_long", "That's too long.")]
    try:
        validate_password(password, user)
    except ValidationError as error:
        return [FieldError(pointer, "bad_password", text) for text in error.messages]
    return []


@transaction.atomic
def change_password(caller: Caller, *, old: str, new: str) -> None:
    """Other places where the person is signed in are signed out by it. Raises Invalid,
    Forbidden (tokens and agents)."""
    if caller.token_id:
        raise Forbidden("A token can't change the password. Sign in.")
    user = locked_user(caller)
    if len(old) > MAX_PASSWORD_CHARACTERS or not user.check_password(old):
        raise Invalid.at("/old", "wrong_password", "That isn't your password.")
    errors = password_errors(new, user, "/new")
    if errors:
        raise Invalid(errors=errors)
    user.set_password(new)
    user.save(update_fields=["password"])


def locked_user(caller: Caller) -> User:
    """The caller's login. Raises Forbidden for agents."""
    actor = Actor.objects.get(pk=caller.actor_id)
    if actor.user_id is None:
        raise Forbidden("Only people have a profile.")
    return User.objects.select_for_update(no_key=True).get(pk=actor.user_id)
