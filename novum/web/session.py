"""Coming in and going out: sign-in, sign-out, the first run, one-time links."""

from typing import Any
from uuid import UUID

from django.conf import settings
from django.contrib import messages
from django.contrib.auth import authenticate, login, logout
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_POST

from accounts.errors import DomainError, TooManyRequests
from accounts.reads import is_set_up
from accounts.verbs.links import LinkUsedUp, follow_link, user_of_link
from accounts.verbs.people import set_up
from novum import limits
from novum.problems import refusal_headers
from novum.web import account_forms as forms
from novum.web.pages import is_here

BACKEND = "django.contrib.auth.backends.ModelBackend"
# One account gets a fourth of what one address may try: many addresses at one account
# are an attack, many accounts at one address can be an office.
ACCOUNT_SHARE = 4


@sensitive_post_parameters("password")
@never_cache
def sign_in(request: HttpRequest) -> HttpResponse:
    """Goes on to `next`, on this host only."""
    if request.user.is_authenticated:
        return redirect(_next(request))
    if not is_set_up():
        return redirect("first-run")
    form = forms.SignIn(request.POST or None)
    status = 200
    if request.method == "POST":
        status = 422
        if form.is_valid():
            try:
                user: Any = _identified(request, **form.cleaned_data)
            except TooManyRequests as error:
                return _too_many(request, form, error)
            if user is not None:
                login(request, user)
                return redirect(_next(request))
            form.add_error(None, _("That user name and password don't go together."))
    context = {"form": form, "next": _next(request)}
    return render(request, "accounts/sign_in.html", context, status=status)


@require_POST
def sign_out(request: HttpRequest) -> HttpResponse:
    logout(request)
    messages.success(request, _("You are signed out."))
    return redirect("sign-in")


@sensitive_post_parameters("password")
@never_cache
def first_run(request: HttpRequest) -> HttpResponse:
    """Only while there is nobody; the page is gone afterwards."""
    if is_set_up():
        return redirect("sign-in")
    form = forms.FirstRun(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            user = set_up(**form.cleaned_data)
        except DomainError as error:
            forms.blame(form, error)
        else:
            login(request, user, BACKEND)
            return redirect("home")
    status = 422 if form.errors else 200
    return render(request, "accounts/first_run.html", {"form": form}, status=status)


@sensitive_post_parameters("password")
@never_cache
def welcome(request: HttpRequest, user_id: UUID, token: str) -> HttpResponse:
    """Where a one-time link leads: set a password, and be signed in."""
    try:
        user = user_of_link(user_id, token)
    except LinkUsedUp as error:
        told = {"problem": error.detail}
        return render(request, "accounts/welcome.html", told, status=404)
    form = forms.NewPassword(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            user = follow_link(user_id=user_id, token=token, **form.cleaned_data)
        except DomainError as error:
            forms.blame(form, error)
        else:
            login(request, user, BACKEND)
            return redirect("home")
    context = {"form": form, "username": user.get_username()}
    status = 422 if form.errors else 200
    return render(request, "accounts/welcome.html", context, status=status)


def _identified(request: HttpRequest, *, username: str, password: str) -> Any:
    """The user, or None. Every try counts, against the address and the account, before
    the password is looked at. Raises TooManyRequests."""
    limit = settings.RATE_LIMITS["guess"]
    address: Any = request
    limits.count(limits.address_of(address), "sign-in", limit)
    account = username.casefold()[:150]
    limits.count(f"account:{account}", "sign-in", -(-limit // ACCOUNT_SHARE))
    return authenticate(request, username=username, password=password)


def _too_many(
    request: HttpRequest, form: forms.SignIn, error: TooManyRequests
) -> HttpResponse:
    seconds = error.retry_after_seconds
    text = _("Too many tries. Wait %(seconds)s seconds and try again.")
    form.add_error(None, text % {"seconds": seconds})
    context = {"form": form, "next": _next(request)}
    response = render(request, "accounts/sign_in.html", context, status=429)
    for name, value in refusal_headers(error).items():
        response[name] = value
    return response


def _next(request: HttpRequest) -> str:
    target = request.POST.get("next") or request.GET.get("next") or ""
    return target if is_here(request, target) else "/"
