"""People: inviting them, what they are in the workspace, one's own profile and tokens.

No password goes through here: whoever is invited sets their own, by a one-time link.
"""

from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID

import msgspec
from django.conf import settings
from django.urls import reverse
from msgspec import Meta

from accounts import reads
from accounts.callers import Caller
from accounts.errors import Forbidden, NotFound
from accounts.pages import Page
from accounts.roles import WorkspaceRole
from accounts.shapes import PersonShape, TokenShape
from accounts.told import MAX_HANDLE_CHARACTERS
from accounts.verbs import people, profile, workspaces
from accounts.verbs.agents import Name
from accounts.verbs.links import sign_in_link
from novum.operations.agents import NewToken, Scope
from novum.operations.operation import (
    Input,
    NoInput,
    Operation,
    PageInput,
    Remembers,
)

Role = Literal["member", "admin", "owner"]
Username = Annotated[str, Meta(max_length=people.MAX_USERNAME_CHARACTERS)]
Handle = Annotated[str, Meta(max_length=MAX_HANDLE_CHARACTERS)]


class PersonInput(Input, frozen=True):
    person_id: UUID


class CreatePerson(Input, frozen=True):
    username: Annotated[Username, Meta(description="What they sign in with.")]
    handle: Annotated[Handle, Meta(description="Empty: made from the user name.")] = ""
    name: Name = ""
    email: Annotated[str, Meta(max_length=people.MAX_EMAIL_CHARACTERS)] = ""
    role: Role = "member"


class AddPerson(Input, frozen=True):
    username: Username
    role: Role = "member"


class EditPerson(PersonInput, frozen=True):
    role: Role | None = None
    disabled: bool | None = None


class EditProfile(Input, frozen=True):
    name: Name | None = None
    handle: Handle | None = None
    theme: Literal["system", "light", "dark"] | None = None


class CreateMyToken(Input, frozen=True):
    name: Name
    scopes: Annotated[
        list[Scope] | None, Meta(description="Default: those of the caller.")
    ] = None
    expires_at: Annotated[datetime, Meta(tz=True)] | None = None


class MyTokenInput(Input, frozen=True):
    token_id: UUID


class NewPerson(msgspec.Struct, frozen=True):
    """`sign_in_url` is where they set their password, once; null when an
    Idempotency-Key repeats."""

    person: PersonShape
    sign_in_url: str | None


class SignInLink(msgspec.Struct, frozen=True):
    url: str


def list_people(caller: Caller, given: PageInput) -> Page[PersonShape]:
    return reads.people(caller, page_size=given.page_size, page_token=given.page_token)


def create_person(caller: Caller, given: CreatePerson) -> NewPerson:
    person_id = people.create_person(
        caller,
        username=given.username,
        handle=given.handle,
        name=given.name,
        email=given.email,
        role=WorkspaceRole[given.role.upper()],
    )
    person = reads.person(caller, person_id=person_id)
    return NewPerson(person, _link(caller, person_id))


def get_person(caller: Caller, given: PersonInput) -> PersonShape:
    return reads.person(caller, person_id=given.person_id)


def add_person(caller: Caller, given: AddPerson) -> PersonShape:
    person_id = workspaces.add_person(
        caller, username=given.username, role=WorkspaceRole[given.role.upper()]
    )
    return reads.person(caller, person_id=person_id)


def edit_person(caller: Caller, given: EditPerson) -> PersonShape:
    people.edit_member(
        caller,
        member_id=given.person_id,
        role=WorkspaceRole[given.role.upper()] if given.role else None,
        disabled=given.disabled,
    )
    return reads.person(caller, person_id=given.person_id)


def get_sign_in_link(caller: Caller, given: PersonInput) -> SignInLink:
    """For somebody without a password, or who has lost theirs. It works once."""
    return SignInLink(_link(caller, given.person_id))


def _link(caller: Caller, person_id: UUID) -> str:
    user_id, token = sign_in_link(caller, member_id=person_id)
    site: str = settings.NOVUM_URL.rstrip("/")
    return site + reverse("welcome", args=[user_id, token])


def get_profile(caller: Caller, given: NoInput) -> PersonShape:
    _require_person(caller)
    return reads.me(caller)


def edit_profile(caller: Caller, given: EditProfile) -> PersonShape:
    """The same in every workspace of the person."""
    _require_person(caller)
    now = reads.me(caller)
    profile.edit_profile(
        caller,
        name=now.name if given.name is None else given.name,
        handle=now.handle if given.handle is None else given.handle,
        theme=given.theme or now.theme,
    )
    return reads.me(caller)


def list_my_tokens(caller: Caller, given: NoInput) -> Page[TokenShape]:
    _require_person(caller)
    return Page(reads.my_tokens(caller))


def create_my_token(caller: Caller, given: CreateMyToken) -> NewToken:
    scopes = sorted(caller.scopes) if given.scopes is None else given.scopes
    token_id, secret = profile.create_my_token(
        caller, name=given.name, scopes=scopes, expires_at=given.expires_at
    )
    return NewToken(_my_token(caller, token_id), secret)


def revoke_my_token(caller: Caller, given: MyTokenInput) -> TokenShape:
    profile.revoke_my_token(caller, token_id=given.token_id)
    return _my_token(caller, given.token_id)


def _my_token(caller: Caller, token_id: UUID) -> TokenShape:
    for one in reads.my_tokens(caller):
        if one.id == token_id:
            return one
    raise NotFound("You have no such token.")


def _require_person(caller: Caller) -> None:
    if caller.kind != "person":
        raise Forbidden("Only people have a profile and personal tokens.")


_PERSON = "/people/{person_id}"

OPERATIONS = (
    Operation(
        name="list_people",
        method="GET",
        path="/people",
        summary="The people of the workspace; how they sign in for admins only.",
        input=PageInput,
        output=Page[PersonShape],
        call=list_people,
        scope="read",
        who="anybody",
        errors=("bad_cursor",),
    ),
    Operation(
        name="create_person",
        method="POST",
        path="/people",
        summary="Invite somebody new: a login, and the link to set its password.",
        input=CreatePerson,
        output=NewPerson,
        call=create_person,
        scope="manage",
        who="admin",
        errors=("invalid", "username_taken", "handle_taken"),
        status=201,
        remembers=Remembers(
            lambda made: [made.person.id],
            lambda caller, given, ids: NewPerson(
                reads.person(caller, person_id=ids[0]), None
            ),
        ),
    ),
    Operation(
        name="add_person",
        method="POST",
        path="/people:add",
        summary="Let somebody in who signs in on this server already.",
        input=AddPerson,
        output=PersonShape,
        call=add_person,
        scope="manage",
        who="admin",
        errors=("invalid", "already_member", "handle_taken"),
        status=201,
        remembers=Remembers(
            lambda made: [made.id],
            lambda caller, given, ids: reads.person(caller, person_id=ids[0]),
        ),
    ),
    Operation(
        name="get_person",
        method="GET",
        path=_PERSON,
        summary="One person; how they sign in for admins only.",
        input=PersonInput,
        output=PersonShape,
        call=get_person,
        scope="read",
        who="anybody",
    ),
    Operation(
        name="edit_person",
        method="PATCH",
        path=_PERSON,
        summary="Change somebody's role, shut them out or let them in again.",
        input=EditPerson,
        output=PersonShape,
        call=edit_person,
        scope="manage",
        who="admin",
        errors=("last_owner",),
    ),
    Operation(
        name="get_sign_in_link",
        method="GET",
        path=f"{_PERSON}/sign-in-link",
        summary="A one-time link by which a person sets a new password.",
        input=PersonInput,
        output=SignInLink,
        call=get_sign_in_link,
        scope="manage",
        who="admin",
    ),
    Operation(
        name="get_profile",
        method="GET",
        path="/me/profile",
        summary="The caller's own profile.",
        input=NoInput,
        output=PersonShape,
        call=get_profile,
        scope="read",
        who="person",
    ),
    Operation(
        name="edit_profile",
        method="PATCH",
        path="/me/profile",
        summary="Change what is given of one's own profile.",
        input=EditProfile,
        output=PersonShape,
        call=edit_profile,
        scope="manage",
        who="person",
        errors=("invalid", "handle_taken"),
    ),
    Operation(
        name="list_my_tokens",
        method="GET",
        path="/me/tokens",
        summary="The caller's personal tokens, without their secrets.",
        input=NoInput,
        output=Page[TokenShape],
        call=list_my_tokens,
        scope="read",
        who="person",
    ),
    Operation(
        name="create_my_token",
        method="POST",
        path="/me/tokens",
        summary="A token that acts as the caller; its secret is shown this once.",
        input=CreateMyToken,
        output=NewToken,
        call=create_my_token,
        scope="manage",
        who="person",
        errors=("invalid",),
        status=201,
        remembers=Remembers(
            lambda made: [made.token.id],
            lambda caller, given, ids: NewToken(_my_token(caller, ids[0]), None),
        ),
    ),
    Operation(
        name="revoke_my_token",
        method="POST",
        path="/me/tokens/{token_id}:revoke",
        summary="Refuse a personal token from now on.",
        input=MyTokenInput,
        output=TokenShape,
        call=revoke_my_token,
        scope="manage",
        who="person",
        repeatable=True,
        destroys=True,
    ),
)
