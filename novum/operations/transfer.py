"""Boards out and in, and files of other tools in."""

from base64 import b64decode
from uuid import UUID

from accounts.callers import Caller
from accounts.errors import Invalid
from novum.operations.given.transfer import (
    ExportBoard,
    FileInput,
    ImportBoard,
    ImportFile,
    ImportInput,
)
from novum.operations.operation import Download, Operation, Remembers
from transfer import export, reads
from transfer.contract import MAX_FILE_BYTES
from transfer.files.options import Options
from transfer.shapes import BoardImport, ExportedBoard, ImportShape, Preview, Target
from transfer.verbs import imports

# JSON writes a file's bytes in up to 4/3 as many, as base64.
_BODY_BYTES = MAX_FILE_BYTES // 2 * 3
_PATIENCE_SECONDS = 270


def export_board(caller: Caller, given: ExportBoard) -> Download:
    """Everything but who may do what there, and events: columns with contracts, cards,
    archived ones too, comments, ended leases. A card at work is told as open. Import it
    anywhere and export it again: the same bytes. No secrets are in it."""
    file = export.export_board(caller, board_id=given.board_id)
    return Download(f"{file.name}.json", file.size, file.content)


def import_board(caller: Caller, given: ImportBoard) -> BoardImport:
    """A new board of yours with new ids and card numbers; all of it or nothing. People
    and agents are found by handle, others kept as disabled seats. More than 1,000 cards
    are left to the worker: watch `state` with get_import."""
    import_id = imports.import_board(
        caller, document=given.document, name=given.name, again=given.again
    )
    return _board_import(caller, import_id)


def preview_import(caller: Caller, given: FileInput) -> Preview:
    """Trello's JSON, CSV or a board of Novum, in `text` or `base64`: what would become
    of it, with the first 20 cards and each row that can't be taken. Call again with
    options until it's right, then import_file with `import_id`. Kept for a day."""
    run, reading = imports.take_file(
        caller,
        content=_content(given),
        file_name=given.file_name,
        options=given.options,
    )
    return reads.previewed(caller, run, reading)


def import_file(caller: Caller, given: ImportFile) -> ImportShape:
    """Without `board_id` on a new board. All of the file's cards or none; rows that can't
    be cards are skipped and listed. More than 1,000 are left to the worker: watch
    `state` with get_import."""
    target = Target(
        name=given.board_name, board_id=given.board_id, column_id=given.column_id
    )
    if given.import_id is not None:
        _only(given)
        said = given.options
        import_id = imports.begin_import(
            caller,
            import_id=given.import_id,
            target=target,
            options=None if said == Options() else said,
            again=given.again,
        )
    else:
        import_id = imports.import_content(
            caller,
            content=_content(given),
            file_name=given.file_name,
            options=given.options,
            target=target,
            again=given.again,
        )
    return reads.import_shape(caller, import_id=import_id)


def get_import(caller: Caller, given: ImportInput) -> ImportShape:
    """Your own, or any as admin. While `state` is running, `staged` of `total` cards are
    ready; on the board they come together."""
    return reads.import_shape(caller, import_id=given.import_id)


def _content(given: FileInput) -> bytes:
    if (given.text is None) == (given.base64 is None):
        raise Invalid.at("/text", "required", "Give the file as text or as base64.")
    if given.text is not None:
        return given.text.encode()
    try:
        return b64decode(given.base64 or "", validate=True)
    except ValueError:
        raise Invalid.at("/base64", "invalid", "This is no base64.") from None


def _only(given: FileInput) -> None:
    if given.text is not None or given.base64 is not None:
        detail = "Give import_id or a file, not both."
        raise Invalid.at("/import_id", "contradiction", detail)


def _board_import(caller: Caller, import_id: UUID) -> BoardImport:
    found = reads.import_shape(caller, import_id=import_id)
    return BoardImport(
        import_id, found.board_id, found.state, found.imported, found.notes
    )


OPERATIONS = (
    Operation(
        name="export_board",
        method="GET",
        path="/boards/{board_id}/export",
        summary="A board as one JSON document.",
        input=ExportBoard,
        output=ExportedBoard,
        call=export_board,
        scope="read",
        who="viewer",
        errors=("too_long_here",),
        patience_seconds=_PATIENCE_SECONDS,
    ),
    Operation(
        name="import_board",
        method="POST",
        path="/boards:import",
        summary="Make a board from an exported one.",
        input=ImportBoard,
        output=BoardImport,
        call=import_board,
        scope="manage",
        who="anybody",
        errors=("bad_file", "already_imported", "invalid_contract"),
        status=201,
        remembers=Remembers(
            lambda made: [made.import_id],
            lambda caller, given, ids: _board_import(caller, ids[0]),
        ),
        body_bytes=_BODY_BYTES,
        patience_seconds=_PATIENCE_SECONDS,
    ),
    Operation(
        name="preview_import",
        method="POST",
        path="/imports:preview",
        summary="What a file of another tool would become.",
        input=FileInput,
        output=Preview,
        call=preview_import,
        scope="manage",
        who="anybody",
        errors=("bad_file",),
        body_bytes=_BODY_BYTES,
        patience_seconds=_PATIENCE_SECONDS,
    ),
    Operation(
        name="import_file",
        method="POST",
        path="/imports",
        summary="Put a file of another tool on a board.",
        input=ImportFile,
        output=ImportShape,
        call=import_file,
        scope="manage",
        who="anybody",
        errors=("bad_file", "already_imported", "import_not_ready"),
        status=201,
        remembers=Remembers(
            lambda made: [made.id],
            lambda caller, given, ids: reads.import_shape(caller, import_id=ids[0]),
        ),
        body_bytes=_BODY_BYTES,
        patience_seconds=_PATIENCE_SECONDS,
    ),
    Operation(
        name="get_import",
        method="GET",
        path="/imports/{import_id}",
        summary="How an import goes, or what became of it.",
        input=ImportInput,
        output=ImportShape,
        call=get_import,
        scope="manage",
        who="anybody",
    ),
)
