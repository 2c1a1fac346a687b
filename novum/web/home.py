"""Home: the workspace's boards and who is at work on them."""

from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from accounts import reads
from accounts.errors import DomainError, NotFound
from accounts.roles import BoardRole
from boards.reads import board as read_board
from boards.verbs.boards import archive_board, restore_board
from leases.at_work import overview
from leases.verbs.revoke import free
from leases.verbs.start_board import start_board
from novum.web import account_forms as forms
from novum.web.pages import WORKSPACE_KEY, PageRequest, done, page


@page
def home(request: PageRequest) -> HttpResponse:
    """A POST makes a board and goes there."""
    form = forms.NewBoard(request.POST or None)
    if request.method == "POST" and form.is_valid():
        given = dict(form.cleaned_data)
        role = None if given.pop("private") else BoardRole.EDITOR
        try:
            board_id = start_board(request.caller, default_role=role, **given)
        except DomainError as error:
            forms.blame(form, error)
        else:
            return redirect("board", board_id)
    context = {"form": form, "seen": overview(request.caller), "nav": "boards"}
    status = 422 if form.errors else 200
    return render(request, "home.html", context, status=status)


@page
def counts(request: PageRequest) -> HttpResponse:
    """What home asks for every few seconds: all that moves on it."""
    seen = overview(request.caller)
    return render(request, "home/_counts.html", {"seen": seen, "fresh": True})


@page
def archive(request: PageRequest, board_id: UUID) -> HttpResponse:
    """Asks first, and says what would be taken away from whom."""
    every = overview(request.caller).boards
    found = next((one for one in every if one.board.pk == board_id), None)
    if found is None or not found.is_managed:
        board = read_board(request.caller, board_id=board_id)
        messages.error(request, _("Only its managers archive %s.") % board.name)
        return redirect("home")
    if request.method == "POST":
        take = free(request.caller) if "force" in request.POST else None
        archive_board(request.caller, board_id=board_id, free=take)
        messages.success(request, _("%s is archived.") % found.board.name)
        return redirect("home")
    return render(request, "home/archive.html", {"one": found, "nav": "boards"})


@require_POST
@page
def restore(request: PageRequest, board_id: UUID) -> HttpResponse:
    restore_board(request.caller, board_id=board_id)
    return done(request, _("The board is back."))


@require_POST
@page
def choose_workspace(request: PageRequest) -> HttpResponse:
    chosen = request.POST.get("workspace", "")
    mine = {str(one.id): one for one in reads.workspaces_of(request.user)}
    if chosen not in mine:
        raise NotFound("You are a member of no such workspace.")
    request.session[WORKSPACE_KEY] = chosen
    # Not `done`: the page that they come from belongs to the other workspace.
    messages.success(request, _("You are in %s now.") % mine[chosen].name)
    return redirect("home")
