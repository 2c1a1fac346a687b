"""Imports, and what a file would make, for those who brought it."""

from collections import Counter
from typing import Any
from uuid import UUID

import msgspec

from accounts.blank import is_blank
from accounts.callers import Caller
from accounts.errors import NotFound
from boards import access
from boards.verbs.text import MAX_NAME_CHARACTERS
from transfer.contract import PREVIEWED_PROBLEMS, PREVIEWED_ROWS
from transfer.files.options import Options
from transfer.files.reading import Reading, read_file
from transfer.models import ImportRun
from transfer.shapes import (
    CardPart,
    Earlier,
    ImportShape,
    Preview,
    PreviewedCard,
    Skipped,
)

_SHOWN_SKIPPED, _SHOWN_CHARACTERS = 100, 200
LISTED_IMPORTS = 20


def run_of(caller: Caller, import_id: UUID) -> ImportRun:
    """One's own, or any as admin; its file is read only where it's asked for. Raises
    NotFound."""
    rows = ImportRun.objects.filter(workspace_id=caller.workspace_id, pk=import_id)
    run = rows.select_related("actor").defer("content").first()
    if run is None or not (caller.is_admin() or run.actor_id == caller.actor_id):
        raise NotFound("There is no such import here.")
    return run


def import_shape(caller: Caller, *, import_id: UUID) -> ImportShape:
    """Raises NotFound."""
    return shape(run_of(caller, import_id))


def imports(caller: Caller) -> list[ImportShape]:
    """The latest of one's own (of all as admin) that are more than a look at a file."""
    rows = ImportRun.objects.filter(workspace_id=caller.workspace_id)
    if not caller.is_admin():
        rows = rows.filter(actor_id=caller.actor_id)
    rows = rows.exclude(state=ImportRun.State.DRAFT).defer("content")
    return [shape(row) for row in rows.order_by("-id")[:LISTED_IMPORTS]]


def skipped_rows(caller: Caller, *, import_id: UUID) -> list[Skipped]:
    """All that the report lists. Raises NotFound."""
    return _skipped(run_of(caller, import_id))


def preview(
    caller: Caller, *, import_id: UUID, options: Options | None = None
) -> Preview:
    """What the file of a draft would make. Raises NotFound, BadFile, Invalid."""
    run = run_of(caller, import_id)
    if run.state != ImportRun.State.DRAFT:
        raise NotFound("This file isn't kept any more.")
    said = options or msgspec.convert(run.options, Options)
    return previewed(caller, run, read_file(caller, bytes(run.content), said))


def previewed(caller: Caller, run: ImportRun, reading: Reading) -> Preview:
    document = reading.document
    names = [one.name for one in document.columns]
    shown = zip(reading.rows, document.cards[:PREVIEWED_ROWS], strict=False)
    return Preview(
        import_id=run.pk,
        kind=reading.kind.value,
        board=board_name(run, reading),
        columns=[
            one.name + (" (archived)" if one.archived_at else "")
            for one in document.columns
        ],
        read=reading.read,
        imports=len(document.cards),
        skips=len(reading.skipped),
        cards=[_card(row, one, names) for row, one in shown],
        problems=reading.skipped[:PREVIEWED_PROBLEMS],
        notes=reading.notes,
        earlier=earlier(caller, run),
        encoding=reading.encoding,
        delimiter=reading.delimiter,
        header=reading.header,
        dates=reading.dates,
        table=reading.table,
    )


def board_name(run: ImportRun, reading: Reading) -> str:
    """A table has no name of its own: that of its file."""
    if reading.kind == ImportRun.Kind.TABLE:
        stem = run.file_name.rpartition(".")[0].strip()[:MAX_NAME_CHARACTERS]
        if stem and not is_blank(stem):
            return stem
    return reading.document.board.name


def earlier(caller: Caller, run: ImportRun) -> list[Earlier]:
    """Imports of the very same file into this workspace, latest first."""
    rows = (
        ImportRun.objects.filter(
            workspace_id=caller.workspace_id,
            sha256=run.sha256,
            state__in=[
                ImportRun.State.DONE,
                ImportRun.State.WAITING,
                ImportRun.State.RUNNING,
            ],
        )
        .exclude(pk=run.pk)
        .select_related("actor")
        .defer("content", "report")
        .order_by("-id")[:5]
    )
    return [
        Earlier(
            id=row.pk,
            by=f"@{row.actor.handle}",
            at=row.ended_at or row.created_at,
            imported=row.imported,
            board_id=row.board_id if _seen(caller, row.board_id) else None,
        )
        for row in rows
    ]


def _seen(caller: Caller, board_id: UUID | None) -> bool:
    return board_id is not None and access.can_see(caller, board_id)


def shape(row: ImportRun) -> ImportShape:
    return ImportShape(
        id=row.pk,
        state=row.state,
        kind=row.kind,
        file_name=row.file_name,
        board_id=row.board_id,
        total=row.total,
        staged=row.staged,
        read=row.read,
        imported=row.imported,
        skipped=row.skipped,
        notes=row.report.get("notes", []),
        skipped_rows=_skipped(row)[:_SHOWN_SKIPPED],
        error=row.error,
        created_at=row.created_at,
        ended_at=row.ended_at,
    )


def _skipped(row: ImportRun) -> list[Skipped]:
    return msgspec.convert(row.report.get("skipped", []), list[Skipped])


def _card(row: int, part: CardPart, names: list[str]) -> PreviewedCard:
    return PreviewedCard(
        row=row,
        column=names[part.column],
        title=_cut(part.title),
        description=_cut(part.description),
        labels=part.labels,
        priority=part.priority,
        assignee=part.assignee,
        due=part.due,
        done=part.state == "done",
        archived=part.archived_at is not None,
        more=_more(part),
    )


def _more(part: CardPart) -> dict[str, str]:
    found: dict[str, Any] = dict(part.properties)
    if part.payload is not None:
        found["payload"] = part.payload
    counts = Counter(comments=len(part.comments), attempts=len(part.leases))
    found |= {name: count for name, count in counts.items() if count}
    return {
        name: _cut(one if isinstance(one, str) else msgspec.json.encode(one).decode())
        for name, one in found.items()
    }


def _cut(text: str) -> str:
    if len(text) <= _SHOWN_CHARACTERS:
        return text
    return text[: _SHOWN_CHARACTERS - 1] + "…"
