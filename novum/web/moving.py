"""Moving cards, putting them away, adding new ones: by drag, keys, menu or form."""

import json
from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django import forms
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from accounts.errors import Conflict, DomainError, Invalid, NotFound
from boards import reads
from boards.errors import CardHeld, VersionMismatch
from boards.neighbours import Spot, spot
from boards.verbs.cards import (
    NewCard,
    archive_card,
    create_cards,
    restore_card,
)
from boards.verbs.moving import move_card
from boards.verbs.places import Place
from leases.verbs.revoke import free
from leases.wall import card_views
from novum.web.pages import PageRequest, back, is_fragment, page, refuse

UNDOABLE = "undoable"
PLACES = ("before", "after", "position")


class MoveForm(forms.Form):
    """`disordered`: it was dropped where the order by priority doesn't leave it."""

    column = forms.UUIDField(required=False)
    before = forms.UUIDField(required=False)
    after = forms.UUIDField(required=False)
    position = forms.ChoiceField(
        choices=[("top", "top"), ("bottom", "bottom")], required=False
    )
    version = forms.IntegerField(required=False, min_value=1)
    force = forms.BooleanField(required=False)
    disordered = forms.BooleanField(required=False)

    def place(self) -> Place | None:
        given = self.cleaned_data
        return Place.of(given["before"], given["after"], given["position"] or None)


class AddForm(forms.Form):
    """`titles`: several, one a line."""

    title = forms.CharField(required=False)
    titles = forms.CharField(required=False)


@require_http_methods(["GET", "POST"])
@page
def move(request: PageRequest, board_id: UUID, card_id: UUID) -> HttpResponse:
    """GET: the menu of all columns; POST: put the card there."""
    was = _spot(request, board_id, card_id)
    if request.method == "GET":
        columns = reads.columns(request.caller, board_id=board_id)
        return _ask(request, "_move_menu", was, card_id, columns=columns)
    form = _valid(MoveForm(request.POST))
    said = form.cleaned_data
    holder = _holder(request, card_id) if said["force"] else ""
    try:
        move_card(
            request.caller,
            card_id=card_id,
            column_id=said["column"],
            place=form.place(),
            version=said["version"],
            free=free(request.caller) if said["force"] else None,
        )
    except CardHeld as held:
        return _held(request, was, card_id, held)
    except (VersionMismatch, Conflict) as late:
        return _too_late(request, board_id, card_id, late)
    return _moved(request, was, card_id, disordered=said["disordered"], holder=holder)


@require_POST
@page
def archive(request: PageRequest, board_id: UUID, card_id: UUID) -> HttpResponse:
    was = _spot(request, board_id, card_id)
    said = _valid(MoveForm(request.POST)).cleaned_data
    holder = _holder(request, card_id) if said["force"] else ""
    try:
        archive_card(
            request.caller,
            card_id=card_id,
            version=said["version"],
            free=free(request.caller) if said["force"] else None,
        )
    except CardHeld as held:
        return _held(request, was, card_id, held)
    except VersionMismatch as late:
        return _too_late(request, board_id, card_id, late)
    text = _("Archived “%(title)s”") % {"title": _short(was.title)}
    text = _with_loss(text, holder)
    undo = {"url": _url("restore-card", board_id, card_id), "fields": {}}
    told = {"archived": {"card": str(card_id)}, UNDOABLE: _undoable(text, undo)}
    return _told(request, board_id, card_id, text, told)


@require_POST
@page
def restore(request: PageRequest, board_id: UUID, card_id: UUID) -> HttpResponse:
    was = _spot(request, board_id, card_id)
    restore_card(request.caller, card_id=card_id)
    text = _("Restored “%(title)s”") % {"title": _short(was.title)}
    told = {"toast": {"text": text}}
    return _told(request, board_id, card_id, text, told, [card_id])


@require_POST
@page
def add(request: PageRequest, board_id: UUID, column_id: UUID) -> HttpResponse:
    """One card by its title, or one for every line of `titles`."""
    said = _valid(AddForm(request.POST)).cleaned_data
    lines = [line for line in said["titles"].splitlines() if line.strip()]
    ids = create_cards(
        request.caller,
        board_id=board_id,
        column_id=column_id,
        cards=[NewCard(title=line) for line in lines or [said["title"]]],
    )
    text = _("Added at the end of the column")
    if lines:
        text = _("Added %(count)d cards") % {"count": len(ids)}
    told = {"added": {"cards": [str(one) for one in ids], "text": text}}
    return _told(request, board_id, ids[-1], text, told, ids)


def _spot(request: PageRequest, board_id: UUID, card_id: UUID) -> Spot:
    found = spot(request.caller, card_id=card_id)
    if found.board_id != board_id:
        raise NotFound("There is no such card on this board.")
    return found


def _valid(form: Any) -> Any:
    if not form.is_valid():
        raise Invalid(" ".join(one for all_ in form.errors.values() for one in all_))
    return form


def _holder(request: PageRequest, card_id: UUID) -> str:
    """Who is about to lose the card, if anybody."""
    views = card_views(request.caller.workspace_key, [card_id])
    lease = views[0].lease if views else None
    return lease.holder.name if lease else ""


def _with_loss(text: str, holder: str) -> str:
    """`text`, and what no undo gives back."""
    if not holder:
        return text
    return _("%(done)s. %(holder)s has lost it, and undoing won't change that.") % {
        "done": text,
        "holder": holder,
    }


def _moved(
    request: PageRequest, was: Spot, card_id: UUID, *, disordered: bool, holder: str
) -> HttpResponse:
    now = spot(request.caller, card_id=card_id)
    text = _("Moved to %(column)s") % {"column": now.column_name}
    if now.column_id == was.column_id:
        text = _("Moved within %(column)s") % {"column": now.column_name}
    if disordered:
        text = _("%(moved)s. Cards of a higher priority always stand first.") % {
            "moved": text
        }
    text = _with_loss(text, holder)
    fields = {"column": was.column_id, "after": was.after, "before": was.before}
    undo = {
        "url": _url("move-card", was.board_id, card_id),
        "fields": {
            "version": now.version,
            **{name: str(value) for name, value in fields.items() if value},
        },
    }
    told = {UNDOABLE: _undoable(text, undo)}
    return _told(request, was.board_id, card_id, text, told, [card_id])


def _undoable(text: str, undo: dict[str, Any]) -> dict[str, Any]:
    return {"text": text, "label": _("Undo"), **undo}


def _told(
    request: PageRequest,
    board_id: UUID,
    card_id: UUID,
    text: str,
    told: dict[str, Any],
    shown: Sequence[UUID] = (),
) -> HttpResponse:
    """A script gets the cards as they are now and the events; a form goes back."""
    if not is_fragment(request):
        messages.success(request, text)
        board = reverse("board", args=[board_id])
        # A browser keeps no fragment in `next`, so say where to look.
        return redirect(f"{back(request, board).partition('#')[0]}#card-{card_id}")
    views = card_views(request.caller.workspace_key, shown) if shown else []
    response = render(request, "boards/_cards.html", {"views": views})
    response["HX-Reswap"] = "none"
    response["HX-Trigger"] = json.dumps(told)
    return response


def _held(
    request: PageRequest, was: Spot, card_id: UUID, error: CardHeld
) -> HttpResponse:
    """Ask first, and let the same form say it again with `force`."""
    said = {name: request.POST.get(name) for name in ("column", *PLACES, "next")}
    repeated = {name: value for name, value in said.items() if value}
    return _ask(
        request,
        "_move_dialog",
        was,
        card_id,
        status=409,
        holder=error.facts["holder"],
        repeated=repeated,
        action=request.path,
        archiving=request.path.endswith("/archive"),
    )


def _too_late(
    request: PageRequest, board_id: UUID, card_id: UUID, error: DomainError
) -> HttpResponse:
    """Somebody else was faster: say where the card is now."""
    if "column_id" not in error.facts:
        raise error
    now = spot(request.caller, card_id=card_id)
    error.detail = _(
        "Somebody else has just changed this card. It's in %(column)s now; look again."
    ) % {"column": now.column_name}
    if is_fragment(request):
        return refuse(request, error)
    messages.error(request, error.detail)
    return redirect(f"{reverse('board', args=[board_id])}#card-{card_id}")


def _ask(
    request: PageRequest,
    name: str,
    was: Spot,
    card_id: UUID,
    *,
    status: int = 200,
    **more: Any,
) -> HttpResponse:
    """A question as a part for a dialog, or as a page of its own."""
    board = reverse("board", args=[was.board_id])
    part = f"boards/{name}.html"
    facts = {"spot": was, "card_id": card_id, "next": board, "part": part, **more}
    template = part if is_fragment(request) else "boards/asking.html"
    response = render(request, template, facts, status=status)
    if is_fragment(request):
        response["HX-Reswap"] = "none"
    return response


def _url(name: str, board_id: UUID, card_id: UUID) -> str:
    return reverse(name, args=[board_id, card_id])


def _short(title: str) -> str:
    return title if len(title) <= 60 else f"{title[:59]}…"
