"""Boards out as files, and files in."""

import csv
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import FileResponse, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import content_disposition_header, urlencode
from django.utils.translation import gettext as _
from django.views.decorators.http import (
    require_http_methods,
    require_POST,
    require_safe,
)

from accounts.errors import DomainError, Invalid, NotFound
from novum.problems import problem_of
from novum.web import transfer_form as forms
from novum.web.pages import PageRequest, page
from transfer import export as exporting
from transfer import reads
from transfer.contract import MAX_FILE_BYTES
from transfer.errors import AlreadyImported
from transfer.files.options import Options
from transfer.shapes import ImportShape, Preview
from transfer.targets import target_boards
from transfer.verbs import imports

MEGABYTES = MAX_FILE_BYTES // 1024 // 1024
_LIKE_A_FORMULA = ("=", "+", "-", "@", "\t", "\r")


@require_safe
@page
def export(request: PageRequest, board_id: UUID) -> Any:
    """As a file to keep."""
    file = exporting.export_board(request.caller, board_id=board_id)
    return FileResponse(
        file.content,
        as_attachment=True,
        filename=f"{file.name}.json",
        content_type="application/json",
    )


@require_http_methods(["GET", "HEAD", "POST"])
@page
def upload(request: PageRequest) -> HttpResponse:
    """A POST keeps the file and shows what would become of it. `into`: where it's to
    go, from the page of a board."""
    problem = ""
    if request.method == "POST":
        try:
            return redirect(_address(_kept(request), request.GET.get("into", "")))
        except DomainError as error:
            problem = problem_of(error).detail
    values = {
        "problem": problem,
        "imports": reads.imports(request.caller),
        "megabytes": MEGABYTES,
        "nav": "boards",
    }
    return render(
        request, "transfer/upload.html", values, status=422 if problem else 200
    )


def _address(import_id: UUID, into: str) -> str:
    address = reverse("import-run", args=[import_id])
    return f"{address}?{urlencode({'into': into})}" if into else address


def _kept(request: PageRequest) -> UUID:
    file = request.FILES.get("file")
    if file is None:
        raise Invalid(_("Choose a file."))
    if (file.size or 0) > MAX_FILE_BYTES:
        raise Invalid(_("A file has at most %s MB.") % MEGABYTES)
    return imports.keep_file(
        request.caller, content=file.read(), file_name=file.name or ""
    )


@require_http_methods(["GET", "HEAD", "POST"])
@page
def run(request: PageRequest, import_id: UUID) -> HttpResponse:
    """A draft's preview, then how far it is, then the report. A POST begins it."""
    found = reads.import_shape(request.caller, import_id=import_id)
    if request.method == "POST":
        return _begun(request, found)
    if found.state == "draft":
        return _draft(request, found)
    values = {"one": found, "nav": "boards", "percent": _percent(found)}
    return render(request, "transfer/run.html", values)


def _begun(request: PageRequest, found: ImportShape) -> HttpResponse:
    try:
        chosen = forms.said(request.POST)
        imports.begin_import(
            request.caller,
            import_id=found.id,
            target=forms.target_of(request.POST),
            options=chosen.options,
            again="again" in request.POST,
        )
    except AlreadyImported:
        return _draft(request, found, asks=True)
    except NotFound:
        raise
    except DomainError as error:
        return _draft(request, found, problem=_sentence(error))
    return redirect("import-run", found.id)


def _draft(
    request: PageRequest, found: ImportShape, *, problem: str = "", asks: bool = False
) -> HttpResponse:
    sent = request.POST if request.method == "POST" else request.GET
    preview, chosen = None, forms.Said(Options(), "")
    unread = ""
    try:
        chosen = forms.said(sent)
        preview = reads.preview(
            request.caller,
            import_id=found.id,
            options=None if chosen.is_default else chosen.options,
        )
    except NotFound:
        raise
    except DomainError as error:
        unread = _sentence(error)
    shown = forms.reading(chosen, preview)
    values: dict[str, Any] = {
        "one": found,
        "preview": preview,
        "unread": unread,
        "problem": problem,
        "asks": asks,
        "again": "again" in sent,
        "into": sent.get("into", "new"),
        "board_name": sent.get("board_name", preview.board if preview else ""),
        "reading": shown,
        "chosen": shown.fields(),
        "nav": "boards",
        **_choices(request, preview),
    }
    return render(
        request, "transfer/draft.html", values, status=422 if problem or asks else 200
    )


def _choices(request: PageRequest, preview: Preview | None) -> dict[str, Any]:
    whole = preview is not None and preview.kind == "novum"
    boards = [] if whole else target_boards(request.caller)
    return {
        "groups": forms.choices(boards),
        "encodings": forms.ENCODING_NAMES.items(),
        "delimiters": forms.DELIMITERS,
        "dates": forms.DATES,
        "faults": forms.FAULTS,
        "role_names": forms.ROLE_NAMES.items(),
    }


def _sentence(error: DomainError) -> str:
    problem = problem_of(error)
    told = [one.detail for one in problem.errors[:5] if one.detail != problem.detail]
    return " ".join([problem.detail, *told])


def _percent(found: ImportShape) -> int:
    return found.staged * 100 // found.total if found.total else 0


@require_POST
@page
def discard(request: PageRequest, import_id: UUID) -> HttpResponse:
    imports.discard_import(request.caller, import_id=import_id)
    messages.success(request, _("The file is forgotten; nothing was imported."))
    return redirect("import")


@require_safe
@page
def skipped(request: PageRequest, import_id: UUID) -> HttpResponse:
    """The rows that weren't taken, and why. No cell of it is a formula to Excel."""
    response = HttpResponse(content_type="text/csv; charset=utf-8")
    name = content_disposition_header(True, "skipped.csv")
    response["Content-Disposition"] = name or "attachment"
    # So that Excel takes it for UTF-8.
    response.write("\ufeff")
    writer = csv.writer(response)
    writer.writerow(["row", "title", "reason"])
    for one in reads.skipped_rows(request.caller, import_id=import_id):
        writer.writerow([one.row, _plain(one.title), _plain(one.reason)])
    return response


def _plain(text: str) -> str:
    return f"'{text}" if text.startswith(_LIKE_A_FORMULA) else text
