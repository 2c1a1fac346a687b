"""People: one's own profile, the workspace's members, a board's members."""

from typing import Any
from uuid import UUID

from django.contrib.auth import update_session_auth_hash
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.timezone import now
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_POST

from accounts import reads
from accounts.errors import DomainError
from accounts.pages import MAX_PAGE_SIZE
from accounts.roles import BoardRole, WorkspaceRole
from accounts.verbs.links import sign_in_link
from accounts.verbs.passwords import change_password
from accounts.verbs.people import create_person, edit_member
from accounts.verbs.profile import create_my_token, edit_profile, revoke_my_token
from boards import reads as boards
from boards.verbs.boards import edit_board, set_board_member
from novum.web import account_forms as forms
from novum.web.inbox import mail_kinds
from novum.web.pages import PageRequest, done, page

PEOPLE_PER_PAGE = 100


@page
def profile(request: PageRequest) -> HttpResponse:
    me = reads.me(request.caller)
    known = {"name": me.name, "handle": me.handle, "theme": me.theme}
    form = forms.Profile(request.POST or None, initial=known)
    if request.method == "POST" and form.is_valid():
        try:
            edit_profile(request.caller, **form.cleaned_data)
        except DomainError as error:
            forms.blame(form, error)
        else:
            return done(request, _("Saved."))
    return _profile(request, form=form)


@sensitive_post_parameters("old", "new")
@require_POST
@page
def password(request: PageRequest) -> HttpResponse:
    form = forms.ChangePassword(request.POST)
    if form.is_valid():
        try:
            change_password(request.caller, **form.cleaned_data)
        except DomainError as error:
            forms.blame(form, error)
        else:
            user: Any = request.user
            user.refresh_from_db()
            # This place stays signed in, all others don't.
            update_session_auth_hash(request, user)
            return done(request, _("Your password is changed."))
    return _profile(request, password_form=form)


@never_cache
@require_POST
@page
def create_token(request: PageRequest) -> HttpResponse:
    """Shows the secret in this very answer; it's nowhere afterwards."""
    form = forms.TokenName(request.POST)
    if form.is_valid():
        try:
            _id, secret = create_my_token(request.caller, **form.cleaned_data)
        except DomainError as error:
            forms.blame(form, error)
        else:
            return _profile(request, secret=secret)
    return _profile(request, token_form=form)


@require_POST
@page
def revoke_token(request: PageRequest, token_id: UUID) -> HttpResponse:
    revoke_my_token(request.caller, token_id=token_id)
    return done(request, _("The token is revoked."))


def _profile(request: PageRequest, **more: Any) -> HttpResponse:
    me = reads.me(request.caller)
    known = {"name": me.name, "handle": me.handle, "theme": me.theme}
    kinds, sends_mail = mail_kinds(request.caller)
    context = {
        "mail_kinds": kinds,
        "sends_mail": sends_mail,
        "form": forms.Profile(initial=known),
        "password_form": forms.ChangePassword(),
        "token_form": forms.TokenName(),
        "tokens": reads.my_tokens(request.caller),
        "me": me,
        "now": now(),
        **more,
    }
    wrong = any(
        form.errors for form in context.values() if isinstance(form, forms.Form)
    )
    status = 422 if wrong else 200
    return render(request, "accounts/profile.html", context, status=status)


@sensitive_post_parameters("password")
@never_cache
@page
def members(request: PageRequest) -> HttpResponse:
    """A POST creates a person; without a password it answers with their link."""
    form = _person_form(request, request.POST or None)
    if request.method == "POST" and form.is_valid():
        given = dict(form.cleaned_data)
        given["password"] = given["password"] or None
        given["role"] = WorkspaceRole[given["role"].upper()]
        try:
            member_id = create_person(request.caller, **given)
        except DomainError as error:
            forms.blame(form, error)
        else:
            if given["password"]:
                return done(request, _("%s can sign in now.") % given["name"])
            return members_page(
                request, link=_link(request, member_id), of=given["name"]
            )
    return members_page(request, form=form)


@require_POST
@page
def edit(request: PageRequest, member_id: UUID) -> HttpResponse:
    """`role` or `disabled` (yes, no), whichever button it was."""
    role, disabled = request.POST.get("role"), request.POST.get("disabled")
    edit_member(
        request.caller,
        member_id=member_id,
        role=WorkspaceRole[role.upper()] if role in dict(forms.ROLES) else None,
        disabled=None if disabled is None else disabled == "yes",
    )
    return done(request, _("Saved."))


@never_cache
@require_POST
@page
def link(request: PageRequest, member_id: UUID) -> HttpResponse:
    """A new one-time link for somebody who has lost their password."""
    return members_page(request, link=_link(request, member_id))


def members_page(request: PageRequest, **more: Any) -> HttpResponse:
    token = request.GET.get("page", "")
    people = reads.people(request.caller, page_size=PEOPLE_PER_PAGE, page_token=token)
    agents = reads.agents(request.caller, page_size=MAX_PAGE_SIZE, page_token="")
    context = {
        "people": people,
        "agents": agents,
        "form": _person_form(request, None),
        "known_form": forms.KnownPerson(may_make_owners=len(roles(request)) > 2),
        "roles": roles(request),
        "nav": "members",
        **more,
    }
    wrong = context["form"].errors or context["known_form"].errors
    status = 422 if wrong else 200
    return render(request, "accounts/members.html", context, status=status)


def _person_form(request: PageRequest, data: Any) -> forms.Person:
    return forms.Person(data, may_make_owners=len(roles(request)) > 2)


def roles(request: PageRequest) -> Any:
    """Those that the caller may give."""
    is_owner = request.caller.role == WorkspaceRole.OWNER
    return forms.ROLES if is_owner else forms.ROLES[:2]


def _link(request: HttpRequest, member_id: UUID) -> str:
    caller = request.caller  # type: ignore[attr-defined]
    user_id, token = sign_in_link(caller, member_id=member_id)
    return request.build_absolute_uri(reverse("welcome", args=[user_id, token]))


@page
def board_members(request: PageRequest, board_id: UUID) -> HttpResponse:
    """A POST gives a role, or takes it away (`role` empty)."""
    caller = request.caller
    if request.method == "POST":
        role = request.POST.get("role", "")
        set_board_member(
            caller,
            board_id=board_id,
            handle=request.POST.get("handle", ""),
            role=_board_role(role),
        )
        return done(request, _("Saved."))
    board = boards.board(caller, board_id=board_id)
    named = boards.board_members(caller, board_id=board_id)
    everybody = reads.members(caller, page_size=MAX_PAGE_SIZE, page_token="").items
    present = {member.actor.handle for member in named}
    others = [
        (one.handle, f"{one.name} (@{one.handle})")
        for one in everybody
        if not one.disabled and one.handle not in present
    ]
    context = {
        "board": board,
        "named": named,
        "form": forms.BoardMember(people=others),
        "others": others,
        "roles": forms.BOARD_ROLES,
        "nav": "boards",
    }
    return render(request, "accounts/board_members.html", context)


@require_POST
@page
def board_default(request: PageRequest, board_id: UUID) -> HttpResponse:
    """What everybody may do there who has no role of their own; empty = nothing."""
    role = _board_role(request.POST.get("role", ""))
    edit_board(request.caller, board_id=board_id, default_role=role)
    return redirect(reverse("board-members", args=[board_id]))


def _board_role(text: str) -> BoardRole | None:
    return BoardRole[text.upper()] if text in dict(forms.BOARD_ROLES) else None
