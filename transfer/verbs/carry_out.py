"""Put a file on a board: all of it, or nothing."""

from dataclasses import dataclass, replace
from datetime import timedelta
from uuid import UUID

import msgspec
from django.db import transaction
from django.db.models import Q
from django.db.models.functions import Now
from django.utils.timezone import now

from accounts.callers import Caller
from accounts.credentials import caller_of_actor
from accounts.errors import DomainError, Invalid
from transfer import staging
from transfer.checking import check_document
from transfer.contract import MAX_LISTED, STALE_SECONDS
from transfer.files.options import Options
from transfer.files.reading import Reading, read_file
from transfer.models import ImportRun
from transfer.people import find_actors, handles_of, make_former, name_missing
from transfer.places import Places, find_places, make_places
from transfer.shapes import Target

NOBODY = "Whoever wanted this is no longer in the workspace."


class _Overtaken(Exception):
    """Somebody else has begun this import anew."""


@dataclass(frozen=True)
class _Work:
    run_id: UUID
    tries: int
    caller: Caller
    reading: Reading
    target: Target


def carry_out(caller: Caller, run: ImportRun, reading: Reading) -> None:
    """The whole of it now. Raises the domain's errors, and then nothing is there."""
    with transaction.atomic():
        run.state, run.tries = ImportRun.State.RUNNING, run.tries + 1
        run.save()
        _do(_Work(run.pk, run.tries, caller, reading, _target(run)))


def carry_out_next() -> bool:
    """The oldest import that waits, or whose worker has gone silent; False if there is
    none. What goes wrong stands in its `error`."""
    run = _take_next()
    if run is None:
        return False
    try:
        _carry_on(run)
    except _Overtaken:
        pass
    except DomainError as error:
        _fail(run, _sentence(error))
    except Exception:
        _fail(run, "That was our fault, and nothing was imported. It has been noted.")
        raise
    return True


@transaction.atomic
def _take_next() -> ImportRun | None:
    stale = now() - timedelta(seconds=STALE_SECONDS)
    waits = Q(state=ImportRun.State.WAITING)
    stuck = Q(state=ImportRun.State.RUNNING, stirred_at__lt=stale)
    run = (
        ImportRun.objects.filter(waits | stuck)
        .select_for_update(skip_locked=True, of=("self",))
        .select_related("actor__workspace")
        .order_by("id")
        .first()
    )
    if run is None:
        return None
    staging.clear(run.pk)
    run.state, run.tries, run.staged = ImportRun.State.RUNNING, run.tries + 1, 0
    run.stirred_at = now()
    run.save(update_fields=["state", "tries", "staged", "stirred_at"])
    return run


def _carry_on(run: ImportRun) -> None:
    if run.actor.disabled_at is not None:
        raise Invalid(NOBODY)
    caller = replace(caller_of_actor(run.actor), token_id=run.token_id)
    reading = read_file(caller, bytes(run.content), _options(run))
    _do(_Work(run.pk, run.tries, caller, reading, _target(run)))


def _do(work: _Work) -> None:
    document, caller = work.reading.document, work.caller
    check_document(document)
    places = find_places(caller, document, work.target)
    named = handles_of(document)
    known = find_actors(caller, named)
    missing = name_missing(named, known)
    _mine(work, total=len(document.cards))
    staging.stage(
        caller,
        work.run_id,
        document,
        places.grounds,
        known | missing,
        lambda done: _mine(work, staged=done),
    )
    _finish(work, places, missing)


def _mine(work: _Work, **news: int) -> None:
    """Write down how far it is, as long as nobody has overtaken us."""
    found = ImportRun.objects.filter(
        pk=work.run_id, tries=work.tries, state=ImportRun.State.RUNNING
    )
    if not found.update(stirred_at=Now(), **news):
        raise _Overtaken


@transaction.atomic
def _finish(work: _Work, places: Places, missing: dict[str, UUID]) -> None:
    rows = ImportRun.objects.select_for_update(of=("self",)).defer("content")
    run = rows.get(pk=work.run_id)
    if run.tries != work.tries or run.state != ImportRun.State.RUNNING:
        raise _Overtaken
    reading = work.reading
    make_former(work.caller, missing)
    board_id, column_ids = make_places(
        work.caller, reading.document, work.target, places
    )
    staging.put_in_place(work.caller, run.pk, board_id, column_ids)
    run.state, run.board_id, run.ended_at = ImportRun.State.DONE, board_id, now()
    run.read, run.imported = reading.read, len(reading.document.cards)
    run.skipped, run.content = len(reading.skipped), b""
    run.report = msgspec.to_builtins(
        {
            "notes": [*reading.notes, *_about(missing)],
            "skipped": reading.skipped[:MAX_LISTED],
        }
    )
    run.error = ""
    run.save()


def _about(missing: dict[str, UUID]) -> list[str]:
    if not missing:
        return []
    names = ", ".join(f"@{handle}" for handle in missing)
    return [f"Not in this workspace, and kept as former members: {names}."]


def _fail(run: ImportRun, error: str) -> None:
    with transaction.atomic():
        mine = ImportRun.objects.filter(
            pk=run.pk, tries=run.tries, state=ImportRun.State.RUNNING
        )
        if mine.update(state=ImportRun.State.FAILED, error=error, ended_at=Now()):
            staging.clear(run.pk)


def _sentence(error: DomainError) -> str:
    fields = error.errors if isinstance(error, Invalid) else []
    told = [f"{one.detail} ({one.pointer})" for one in fields[:5] if one.pointer]
    return " ".join(told) or error.detail


def _options(run: ImportRun) -> Options:
    return msgspec.convert(run.options, Options)


def _target(run: ImportRun) -> Target:
    return msgspec.convert(run.target, Target)
