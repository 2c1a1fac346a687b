"""Look at a file, and let it be imported."""

import hashlib
from datetime import timedelta
from typing import Any
from uuid import UUID

import msgspec
from django.db import transaction
from django.utils.timezone import now

from accounts.callers import Caller
from transfer.checking import check_document
from transfer.contract import (
    DRAFT_HOURS,
    MAX_DRAFTS,
    MAX_FILE_BYTES,
    MOST_CARDS_AT_ONCE,
)
from transfer.errors import AlreadyImported, BadFile, NotReady
from transfer.files.options import Options
from transfer.files.reading import Reading, read_file
from transfer.models import ImportRun
from transfer.places import find_places
from transfer.reads import board_name, earlier, run_of
from transfer.shapes import Target
from transfer.verbs.carry_out import carry_out

_AS_FOUND = Options()


@transaction.atomic
def take_file(
    caller: Caller,
    *,
    content: bytes,
    file_name: str = "",
    options: Options = _AS_FOUND,
) -> tuple[ImportRun, Reading]:
    """Keep a file as a draft, for a day; nothing is on a board yet.

    Raises BadFile for what can't be read, Invalid for options that don't fit it.
    """
    if len(content) > MAX_FILE_BYTES:
        size = MAX_FILE_BYTES // 1024 // 1024
        raise BadFile(f"A file has at most {size} MB.", code="too_large")
    reading = read_file(caller, content, options)
    check_document(reading.document)
    run = _draft(caller, content, file_name, options, reading.kind)
    return run, reading


def keep_file(caller: Caller, *, content: bytes, file_name: str) -> UUID:
    """The same for people, who are shown the draft next: what may be mended by reading
    it otherwise is kept, too. Raises BadFile."""
    try:
        return take_file(caller, content=content, file_name=file_name)[0].pk
    except BadFile as error:
        if not error.facts.get("mendable"):
            raise
        table = ImportRun.Kind.TABLE
        return _draft(caller, content, file_name, _AS_FOUND, table).pk


def _draft(
    caller: Caller,
    content: bytes,
    file_name: str,
    options: Options,
    kind: ImportRun.Kind,
) -> ImportRun:
    run = ImportRun.objects.create(
        workspace_id=caller.workspace_id,
        actor_id=caller.actor_id,
        token_id=caller.token_id,
        kind=kind,
        file_name=_named(file_name),
        sha256=hashlib.sha256(content).hexdigest(),
        size=len(content),
        content=content,
        options=msgspec.to_builtins(options),
    )
    _drop_drafts(caller)
    return run


@transaction.atomic
def begin_import(
    caller: Caller,
    *,
    import_id: UUID,
    target: Target,
    options: Options | None = None,
    again: bool = False,
) -> UUID:
    """Put a draft's file on a board: at once, or for the worker if it's a large one.

    Raises NotFound, Forbidden, BadFile, Invalid, NotReady, AlreadyImported (unless
    `again`), and then nothing of it is there.
    """
    run_of(caller, import_id)
    run = ImportRun.objects.select_for_update(of=("self",)).get(pk=import_id)
    if run.state != ImportRun.State.DRAFT:
        raise NotReady
    _ask_again(caller, run, again)
    if options is not None:
        run.options = msgspec.to_builtins(options)
    run.target = msgspec.to_builtins(target)
    # Whoever begins it is who makes the cards.
    run.actor_id, run.token_id = caller.actor_id, caller.token_id
    said = msgspec.convert(run.options, Options)
    reading = read_file(caller, bytes(run.content), said)
    _begin(caller, run, reading, target)
    return run.pk


def import_content(
    caller: Caller,
    *,
    content: bytes,
    file_name: str = "",
    options: Options = _AS_FOUND,
    target: Target,
    again: bool = False,
) -> UUID:
    """Both at once. Raises the same."""
    with transaction.atomic():
        run, reading = take_file(
            caller, content=content, file_name=file_name, options=options
        )
        _ask_again(caller, run, again)
        run.target = msgspec.to_builtins(target)
        _begin(caller, run, reading, target)
        return run.pk


def import_board(
    caller: Caller, *, document: Any, name: str = "", again: bool = False
) -> UUID:
    """A board as it was exported. Raises BadFile, Invalid, AlreadyImported."""
    if not isinstance(document, dict) or document.get("format") != "novum-board":
        raise BadFile('A board of Novum says "format": "novum-board".')
    return import_content(
        caller,
        content=msgspec.json.encode(document),
        target=Target(name=name),
        again=again,
    )


@transaction.atomic
def discard_import(caller: Caller, *, import_id: UUID) -> None:
    """Forget a draft. Raises NotFound, NotReady."""
    run_of(caller, import_id)
    drafts = ImportRun.objects.filter(pk=import_id, state=ImportRun.State.DRAFT)
    if not drafts.delete()[0]:
        raise NotReady


def forget_files() -> None:
    """Drafts that nobody came back to, and the files of what failed."""
    old = now() - timedelta(hours=DRAFT_HOURS)
    rows = ImportRun.objects.filter(created_at__lt=old)
    rows.filter(state=ImportRun.State.DRAFT).delete()
    rows.filter(state=ImportRun.State.FAILED).exclude(content=b"").update(content=b"")


def _begin(caller: Caller, run: ImportRun, reading: Reading, target: Target) -> None:
    check_document(reading.document)
    if target.board_id is None and not target.name:
        name = board_name(run, reading)
        run.target = msgspec.to_builtins(Target(name=name))
    # Told now, not by the worker a while later.
    find_places(caller, reading.document, target)
    run.kind, run.total = reading.kind, len(reading.document.cards)
    if run.total <= MOST_CARDS_AT_ONCE:
        carry_out(caller, run, reading)
    else:
        run.state = ImportRun.State.WAITING
        run.save()


def _ask_again(caller: Caller, run: ImportRun, again: bool) -> None:
    found = [] if again else earlier(caller, run)
    if found:
        last = found[0]
        raise AlreadyImported(
            f"This file was imported on {last.at:%Y-%m-%d %H:%M} UTC by {last.by}:"
            f" {last.imported} cards. Say `again` to import it anew.",
            import_id=last.id,
            by=last.by,
            at=last.at,
            imported=last.imported,
            board_id=last.board_id,
        )


def _named(file_name: str) -> str:
    name = "".join(one for one in file_name if one.isprintable())
    return name.replace("\\", "/").rpartition("/")[2][:200]


def _drop_drafts(caller: Caller) -> None:
    drafts = ImportRun.objects.filter(
        workspace_id=caller.workspace_id,
        actor_id=caller.actor_id,
        state=ImportRun.State.DRAFT,
    )
    kept = drafts.order_by("-id").values_list("pk", flat=True)[:MAX_DRAFTS]
    drafts.exclude(pk__in=list(kept)).delete()
