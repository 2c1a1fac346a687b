"""The workspace itself: its name, a further one, people who sign in already."""

from typing import Any

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from accounts import reads
from accounts.errors import DomainError
from accounts.roles import WorkspaceRole
from accounts.verbs import workspaces as verbs
from novum.web import account_forms as forms
from novum.web.pages import WORKSPACE_KEY, PageRequest, done, page
from novum.web.people import members_page, roles


@page
def workspace(request: PageRequest) -> HttpResponse:
    """A POST renames it."""
    here = reads.workspace(request.caller)
    form = forms.WorkspaceName(request.POST or None, initial={"name": here.name})
    if request.method == "POST" and form.is_valid():
        try:
            verbs.edit_workspace(
                request.caller, workspace_id=here.id, **form.cleaned_data
            )
        except DomainError as error:
            forms.blame(form, error)
        else:
            return done(request, _("Saved."))
    return _page(request, form=form)


@require_POST
@page
def create(request: PageRequest) -> HttpResponse:
    """Goes there, as its owner."""
    form = forms.NewWorkspace(request.POST)
    if form.is_valid():
        try:
            made = verbs.create_workspace(request.caller, **form.cleaned_data)
        except DomainError as error:
            forms.blame(form, error)
        else:
            request.session[WORKSPACE_KEY] = str(made)
            return redirect("home")
    return _page(request, new_form=form)


@require_POST
@page
def add_person(request: PageRequest) -> HttpResponse:
    form = forms.KnownPerson(request.POST, may_make_owners=len(roles(request)) > 2)
    if form.is_valid():
        given = dict(form.cleaned_data)
        given["role"] = WorkspaceRole[given["role"].upper()]
        try:
            verbs.add_person(request.caller, **given)
        except DomainError as error:
            forms.blame(form, error)
        else:
            return done(request, _("%s is in now.") % given["username"])
    return members_page(request, known_form=form)


def _page(request: PageRequest, **more: Any) -> HttpResponse:
    name = reads.workspace(request.caller).name
    context = {
        "form": forms.WorkspaceName(initial={"name": name}),
        "new_form": forms.NewWorkspace(),
        **more,
    }
    wrong = context["form"].errors or context["new_form"].errors
    status = 422 if wrong else 200
    return render(request, "accounts/workspace.html", context, status=status)
