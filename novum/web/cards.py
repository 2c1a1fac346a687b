"""One card: the drawer over the board, or a page of its own when opened cold."""

from typing import Any
from uuid import UUID

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from accounts import reads as account_reads
from accounts.callers import Caller
from accounts.errors import Invalid, NotFound
from accounts.roles import BoardRole
from boards import reads
from boards.history import history
from boards.neighbours import beside
from boards.shapes import CardShape
from boards.verbs import comments
from leases.timeline import timeline
from leases.verbs.cancel import request_cancel
from leases.verbs.requeue import requeue as requeue_card
from leases.verbs.revoke import revoke as revoke_lease
from novum.web import card_fields, faces, inbox, posted, steering
from novum.web.card_fields import FIELDS, Entry, FieldChanged
from novum.web.durations import words
from novum.web.markdown import render as markdown
from novum.web.pages import PageRequest, done, is_fragment, page

MAX_ASSIGNEES = MAX_COMMENTS = 200


@page
def card(request: PageRequest, board_id: UUID, card_id: UUID) -> HttpResponse:
    found = reads.card(request.caller, card_id=card_id)
    if found.board_id != board_id and not is_fragment(request):
        return redirect("card", board_id=found.board_id, card_id=card_id)
    return _sheet(request, found)


@require_POST
@page
def edit(
    request: PageRequest, board_id: UUID, card_id: UUID, name: str
) -> HttpResponse:
    """Save one field; what doesn't fit or came too late stays in its form."""
    if name not in FIELDS:
        raise NotFound
    text, seen = posted.text(request, "value"), posted.text(request, "seen")
    version = posted.number(request, "version")
    try:
        card_fields.save(
            request.caller,
            card_id=card_id,
            name=name,
            text=text,
            version=version,
            seen=seen,
        )
    except (Invalid, FieldChanged) as error:
        found = reads.card(request.caller, card_id=card_id)
        fresh = card_fields.entry(found, name)
        theirs = error.theirs if isinstance(error, FieldChanged) else None
        said = Entry(name, text, fresh.version, fresh.seen, error.detail, theirs)
        status = 409 if isinstance(error, FieldChanged) else 422
        return _sheet(request, found, status=status, said=said)
    return done(request, _("Saved.") if not is_fragment(request) else "")


@require_POST
@page
def preview(request: PageRequest, board_id: UUID, card_id: UUID) -> HttpResponse:
    """The description as it would look; nothing is saved."""
    found = reads.card(request.caller, card_id=card_id)
    text = posted.text(request, "value")
    handles = frozenset(one.handle for one in _members(request.caller))
    html = markdown(text, handles)
    if is_fragment(request):
        return HttpResponse(html or _("Nothing to preview."))
    version = posted.number(request, "version") or found.version
    said = Entry("description", text, version, posted.text(request, "seen"))
    return _sheet(request, found, said=said, preview=html)


@require_POST
@page
def comment(request: PageRequest, board_id: UUID, card_id: UUID) -> HttpResponse:
    text = posted.text(request, "text")
    try:
        comments.add_comment(request.caller, card_id=card_id, text=text)
    except Invalid as error:
        if is_fragment(request):
            raise
        found = reads.card(request.caller, card_id=card_id)
        said = Entry("comment", text, 0, "", error.detail)
        return _sheet(request, found, status=422, said=said)
    return done(request, _("Comment added.") if not is_fragment(request) else "")


@require_POST
@page
def comment_edit(
    request: PageRequest, board_id: UUID, card_id: UUID, comment_id: UUID
) -> HttpResponse:
    text = posted.text(request, "text")
    comments.edit_comment(
        request.caller, card_id=card_id, comment_id=comment_id, text=text
    )
    return done(request, _("Comment changed."))


@require_POST
@page
def comment_delete(
    request: PageRequest, board_id: UUID, card_id: UUID, comment_id: UUID
) -> HttpResponse:
    comments.delete_comment(request.caller, card_id=card_id, comment_id=comment_id)
    return done(request, _("Comment deleted."))


@require_POST
@page
def requeue(request: PageRequest, board_id: UUID, card_id: UUID) -> HttpResponse:
    requeue_card(request.caller, card_id=card_id)
    return done(request, _("Back in its queue, with fresh attempts."))


@require_POST
@page
def revoke(request: PageRequest, board_id: UUID, card_id: UUID) -> HttpResponse:
    """Take the card away from its holder."""
    lease_id = posted.uuid(request, "lease")
    if lease_id is None:
        raise NotFound
    reason = posted.text(request, "reason")
    revoke_lease(request.caller, lease_id=lease_id, reason=reason)
    return done(request, _("Taken away. The card is open again."))


@require_POST
@page
def call_off(request: PageRequest, board_id: UUID, card_id: UUID) -> HttpResponse:
    """The card isn't to be done: at once, or as soon as its holder has heard."""
    reason = posted.text(request, "reason")
    answer = request_cancel(request.caller, card_id=card_id, reason=reason)
    if answer.cancelled:
        return done(request, _("Called off."))
    return done(request, _("Its holder is asked to stop."))


def _members(caller: Caller) -> list[Any]:
    found = account_reads.members(caller, page_size=MAX_ASSIGNEES, page_token="")
    return found.items


def _sheet(
    request: PageRequest,
    found: CardShape,
    *,
    status: int = 200,
    said: Entry | None = None,
    preview: str = "",
) -> HttpResponse:
    """`said` is what somebody typed that isn't saved."""
    shown = {**_around(request, found), **_entries(found, said), "preview": preview}
    template = "cards/_sheet.html" if is_fragment(request) else "cards/card.html"
    return render(request, template, shown, status=status)


def _entries(found: CardShape, said: Entry | None) -> dict[str, Any]:
    entries = {name: card_fields.entry(found, name) for name in FIELDS}
    entries["comment"] = Entry("comment", "", 0, "")
    if said:
        entries[said.name] = said
    return {"entries": entries, "said": said}


def _around(request: PageRequest, found: CardShape) -> dict[str, Any]:
    caller = request.caller
    board = reads.board(caller, board_id=found.board_id)
    role = BoardRole[board.your_role.upper()]
    members = _members(caller)
    handles = frozenset(one.handle for one in members)
    columns = reads.columns(caller, board_id=found.board_id)
    remarks = reads.comments(
        caller,
        card_id=found.id,
        page_size=MAX_COMMENTS,
        page_token=request.GET.get("comments", ""),
    )
    before = request.GET.get("before", "")
    attempts = timeline(caller, card_id=found.id)
    shown = {
        "board": board,
        "card": found,
        "view": attempts.card,
        "chip": faces.chip(attempts.card) if attempts.card else None,
        "column": next((one for one in columns if one.id == found.column_id), None),
        "columns": columns,
        "beside": beside(caller, card_id=found.id),
        "members": members,
        "description": markdown(found.description, handles),
        "comments": [(one, markdown(one.text, handles)) for one in remarks.items],
        "more_comments": remarks.next_page_token,
        "timeline": attempts,
        "attempts": [
            (
                one,
                words(int(one.lasted.total_seconds())),
                card_fields.pretty(one.output),
            )
            for one in attempts.entries
        ],
        "history": history(
            caller,
            card_id=found.id,
            before=int(before) if before.isdecimal() and len(before) < 19 else None,
        ),
        "output": card_fields.pretty(found.output),
        "thread": inbox.thread(caller, found.id),
        "why": steering.why(caller, found.id) if "why" in request.GET else None,
        "is_wondered_at": steering.is_wondered_at(found, attempts.entries),
        "may_comment": role >= BoardRole.COMMENTER and board.archived_at is None,
        "may_edit": role >= BoardRole.EDITOR and board.archived_at is None,
        "may_manage": role >= BoardRole.MANAGER and board.archived_at is None,
        "nav": "boards",
    }
    return {**shown, **steering.calling_off(caller, found, attempts.card, shown)}
