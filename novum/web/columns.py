"""What managers set on a board and on its columns."""

from typing import Any
from uuid import UUID

from django import forms
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as lazy
from django.utils.translation import ngettext
from django.views.decorators.http import require_POST

from accounts.callers import Caller
from accounts.errors import Invalid, NotFound
from accounts.roles import BoardRole
from boards import access, reads
from boards.reads import CardFilter
from boards.verbs import boards as board_verbs
from boards.verbs import columns as verbs
from boards.verbs.clearing import archive_cards as clear
from boards.verbs.columns import MAX_WIP_LIMIT
from boards.verbs.places import Place
from leases.reads import leases
from leases.verbs.revoke import free
from leases.wall import column_views
from novum.web import posted
from novum.web.pages import PageRequest, done, page

COLORS = [
    ("", lazy("None")),
    ("red", lazy("Red")),
    ("orange", lazy("Orange")),
    ("amber", lazy("Amber")),
    ("green", lazy("Green")),
    ("teal", lazy("Teal")),
    ("blue", lazy("Blue")),
    ("violet", lazy("Violet")),
    ("pink", lazy("Pink")),
]
ROLES = [
    ("", lazy("Nobody: only people named as members see it")),
    ("viewer", lazy("Viewer: sees everything")),
    ("commenter", lazy("Commenter: may also comment")),
    ("editor", lazy("Editor: may also add, change and move cards")),
    ("manager", lazy("Manager: may also change columns and contracts")),
]
MAX_HOLDERS = 200


class ColumnForm(forms.Form):
    name = forms.CharField(max_length=100)
    color = forms.CharField(max_length=20, required=False)
    wip_limit = forms.IntegerField(min_value=1, max_value=MAX_WIP_LIMIT, required=False)


class BoardForm(forms.Form):
    name = forms.CharField(max_length=100)
    description = forms.CharField(max_length=10_000, required=False)
    default_role = forms.ChoiceField(choices=ROLES, required=False)


@page
def settings(request: PageRequest, board_id: UUID, column_id: UUID) -> HttpResponse:
    column = reads.column(request.caller, board_id=board_id, column_id=column_id)
    given: dict[str, Any] = {
        "name": column.name,
        "color": column.color,
        "wip_limit": column.wip_limit,
    }
    form = ColumnForm(request.POST if request.method == "POST" else given)
    if request.method == "POST" and form.is_valid():
        try:
            verbs.edit_column(
                request.caller,
                board_id=board_id,
                column_id=column_id,
                **form.cleaned_data,
            )
            return done(request, _("Saved."))
        except Invalid as error:
            note(form, error)
    status = 422 if request.method == "POST" else 200
    shown = {**_about(request, board_id), **_column(request, board_id, column_id)}
    shown |= {"form": form, "colors": COLORS, "column": column}
    return render(request, "columns/settings.html", shown, status=status)


@require_POST
@page
def add(request: PageRequest, board_id: UUID) -> HttpResponse:
    name = posted.text(request, "name")
    verbs.create_column(request.caller, board_id=board_id, name=name)
    return done(request, _("Column added."))


@require_POST
@page
def move(request: PageRequest, board_id: UUID, column_id: UUID) -> HttpResponse:
    """One place to the left or to the right."""
    order = [one.id for one in reads.columns(request.caller, board_id=board_id)]
    if column_id not in order:
        raise NotFound
    at = order.index(column_id)
    if request.POST.get("to") == "left":
        place = Place(before=order[at - 1]) if at else None
    else:
        place = Place(after=order[at + 1]) if at + 1 < len(order) else None
    if place:
        verbs.move_column(
            request.caller, board_id=board_id, column_id=column_id, place=place
        )
    return done(request, _("Column moved."))


@require_POST
@page
def archive_cards(
    request: PageRequest, board_id: UUID, column_id: UUID
) -> HttpResponse:
    count = clear(
        request.caller, board_id=board_id, column_id=column_id, free=_free(request)
    )
    text = ngettext("%(n)d card archived.", "%(n)d cards archived.", count)
    return done(request, text % {"n": count})


@require_POST
@page
def delete(request: PageRequest, board_id: UUID, column_id: UUID) -> HttpResponse:
    verbs.delete_column(
        request.caller,
        board_id=board_id,
        column_id=column_id,
        move_cards_to=posted.uuid(request, "move_cards_to"),
        free=_free(request),
    )
    messages.success(request, _("Column deleted."))
    return redirect("board", board_id=board_id)


@page
def board_settings(request: PageRequest, board_id: UUID) -> HttpResponse:
    board = reads.board(request.caller, board_id=board_id)
    given: dict[str, Any] = {
        "name": board.name,
        "description": board.description,
        "default_role": board.default_role or "",
    }
    form = BoardForm(request.POST if request.method == "POST" else given)
    if request.method == "POST" and form.is_valid():
        said = form.cleaned_data
        role = said.pop("default_role")
        try:
            board_verbs.edit_board(
                request.caller,
                board_id=board_id,
                default_role=BoardRole[role.upper()] if role else None,
                **said,
            )
            return done(request, _("Saved."))
        except Invalid as error:
            note(form, error)
    shown = {**_about(request, board_id), "form": form, "roles": ROLES}
    shown["heads"] = column_views(board_id, CardFilter())
    shown["holders"] = holders(request.caller, board_id)
    status = 422 if request.method == "POST" else 200
    return render(request, "columns/board_settings.html", shown, status=status)


@require_POST
@page
def archive_board(request: PageRequest, board_id: UUID) -> HttpResponse:
    board_verbs.archive_board(request.caller, board_id=board_id, free=_free(request))
    return done(request, _("Board archived."))


@require_POST
@page
def restore_board(request: PageRequest, board_id: UUID) -> HttpResponse:
    board_verbs.restore_board(request.caller, board_id=board_id)
    return done(request, _("Board restored."))


def holders(caller: Caller, board_id: UUID, column_id: UUID | None = None) -> list[str]:
    """The handles of those who work on cards there, each once."""
    found = leases(
        caller,
        board_id=board_id,
        column_id=column_id,
        page_size=MAX_HOLDERS,
        page_token="",
    )
    return sorted({one.holder.handle for one in found.items if one.holder})


def note(form: forms.Form, error: Invalid) -> None:
    """Put what the domain says at the fields it's about."""
    for one in error.errors:
        name = one.pointer.strip("/").split("/")[0]
        form.add_error(name if name in form.fields else None, one.detail)
    if not error.errors:
        form.add_error(None, error.detail)


def _free(request: PageRequest) -> Any:
    return free(request.caller) if posted.flag(request, "force") else None


def _about(request: PageRequest, board_id: UUID) -> dict[str, Any]:
    # Managers even if archived, so that it can be restored.
    access.require(request.caller, board_id, BoardRole.MANAGER, archived_too=True)
    return {"board": reads.board(request.caller, board_id=board_id), "nav": "boards"}


def _column(request: PageRequest, board_id: UUID, column_id: UUID) -> dict[str, Any]:
    columns = reads.columns(request.caller, board_id=board_id)
    at = [one.id for one in columns].index(column_id)
    (head,) = column_views(board_id, CardFilter(), only=[column_id])
    return {
        "columns": columns,
        "others": [one for one in columns if one.id != column_id],
        "is_first": at == 0,
        "is_last": at == len(columns) - 1,
        "head": head,
        "holders": holders(request.caller, board_id, column_id),
    }
