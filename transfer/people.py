"""Whom a document means: by handle, or a seat that stands for somebody who isn't here."""

from collections.abc import Iterable, Iterator
from uuid import UUID

from django.db import IntegrityError, transaction

from accounts.callers import Caller
from accounts.errors import Conflict
from accounts.ids import new_id
from accounts.models import Actor
from boards.models import ClockTimestamp
from transfer.models import Former
from transfer.shapes import BoardDocument


def handles_of(document: BoardDocument) -> set[str]:
    return {handle for handle in _named(document) if handle is not None}


def _named(document: BoardDocument) -> Iterator[str | None]:
    for card in document.cards:
        yield card.assignee
        yield card.created_by
        for comment in card.comments:
            yield comment.author
        for lease in card.leases:
            yield lease.holder
            yield lease.cancel_requested_by


def find_actors(caller: Caller, handles: Iterable[str]) -> dict[str, UUID]:
    """Those that there are: who has the handle here, else who stands for one."""
    wanted = list(handles)
    here = Actor.objects.in_workspace(caller.workspace_id).filter(handle__in=wanted)
    former = Former.objects.filter(workspace_id=caller.workspace_id, handle__in=wanted)
    return dict(former.values_list("handle", "pk")) | dict(
        here.values_list("handle", "pk")
    )


def name_missing(handles: set[str], known: dict[str, UUID]) -> dict[str, UUID]:
    """Ids for those that are to be made."""
    return {handle: new_id() for handle in sorted(handles - known.keys())}


def make_former(caller: Caller, missing: dict[str, UUID]) -> None:
    """Disabled seats, in the caller's transaction. They leave the handles themselves
    free for whoever comes. Raises Conflict when another import has just made them."""
    if not missing:
        return
    taken = set(
        Actor.objects.in_workspace(caller.workspace_id)
        .filter(handle__startswith="former-")
        .values_list("handle", flat=True)
    )
    seats, formers = [], []
    for handle, pk in missing.items():
        free = _free(handle, taken)
        taken.add(free)
        seats.append(
            Actor(
                id=pk,
                workspace_id=caller.workspace_id,
                kind=Actor.Kind.AGENT,
                handle=free,
                name=f"{handle} (former)",
                disabled_at=ClockTimestamp(),
            )
        )
        formers.append(
            Former(actor_id=pk, workspace_id=caller.workspace_id, handle=handle)
        )
    try:
        with transaction.atomic():
            Actor.objects.bulk_create(seats)
            Former.objects.bulk_create(formers)
    except IntegrityError as error:
        detail = "Another import has just named the same people. Import once more."
        raise Conflict(detail) from error


def _free(handle: str, taken: set[str]) -> str:
    base = f"former-{handle}"[:35].rstrip("-")
    name, number = base, 1
    while name in taken:
        number += 1
        name = f"{base}-{number}"
    return name
