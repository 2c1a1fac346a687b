"""Set a column's contract: the whole of it, as PUT does."""

import re
from typing import Any
from uuid import UUID

import msgspec
from django.db import IntegrityError, transaction
from django.db.models import Exists, OuterRef, Q

from accounts.callers import Caller
from accounts.errors import FieldError
from accounts.roles import BoardRole
from boards import access, events
from boards.models import Card, Column
from boards.values import same_json
from boards.verbs.moving import locked_column
from leases import schemas
from leases.contract import (
    DEFAULT_LEASE_SECONDS,
    DEFAULT_MAX_ATTEMPTS,
    HIGHEST_MAX_ATTEMPTS,
    MAX_BACKOFF_SECONDS,
    MAX_BACKOFF_STEPS,
    MAX_CONCURRENCY_LIMIT,
    MAX_LEASE_SECONDS,
    MAX_PAUSE_CHARACTERS,
    MIN_LEASE_SECONDS,
    QUEUE_NAME,
)
from leases.errors import CardsHeld, InvalidContract
from leases.models import Contract, Lease
from leases.reads import contract_shape
from leases.shapes import ContractShape
from leases.statements.gate import shut
from leases.verbs.reasons import too_long
from leases.verbs.revoke import free_cards
from leases.verbs.slots import lay_out
from leases.verbs.tidy import dead_letter_exhausted

_QUEUE = re.compile(QUEUE_NAME)


class Terms(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A contract as it's set. What is left out or null takes its default; times are
    seconds. `lease_ttl_seconds` null: leases of people never lapse."""

    enabled: bool | None = None
    paused: bool | None = None
    pause_reason: str | None = None
    queue: str | None = None
    lease_ttl_seconds: int | msgspec.UnsetType | None = msgspec.UNSET
    max_attempts: int | None = None
    backoff_seconds: list[int] | None = None
    on_success_column_id: UUID | None = None
    on_failure_column_id: UUID | None = None
    concurrency_limit: int | None = None
    input_schema: Any = None
    output_schema: Any = None


@transaction.atomic
def set_contract(
    caller: Caller,
    *,
    board_id: UUID,
    column_id: UUID,
    terms: Terms,
    force: bool = False,
) -> ContractShape:
    """Replace the contract (design section 5). Managers.

    Enabling makes the column's cards open; disabling makes them plain cards and is
    refused while some are being worked on (CardsHeld), unless `force` takes them away.
    A lower limit stops new claims only. A new input schema has every card judged again.
    Raises NotFound, Forbidden, InvalidContract (naming every field that doesn't fit).
    """
    access.require(caller, board_id, BoardRole.MANAGER)
    return apply_terms(
        caller, board_id=board_id, column_id=column_id, terms=terms, force=force
    )


@transaction.atomic
def apply_terms(
    caller: Caller,
    *,
    board_id: UUID,
    column_id: UUID,
    terms: Terms,
    force: bool = False,
) -> ContractShape:
    """`set_contract` for verbs that have asked themselves whether the caller may."""
    _check(board_id, terms)
    shut(column_id)
    column = locked_column(board_id, column_id, alone=True)
    old = _locked_contract(caller, column)
    new = _applied(old, terms, column)
    if old.enabled and not new.enabled:
        _free_all(caller, column, force)
    _save(new)
    if new.concurrency_limit and new.concurrency_limit != old.concurrency_limit:
        lay_out(column, new.concurrency_limit)
    _follow(old, new, column)
    _record(caller, old, new, column)
    return contract_shape(new)


def _check(board_id: UUID, terms: Terms) -> None:
    errors = [*_range_errors(terms), *_backoff_errors(terms.backoff_seconds or [])]
    errors += too_long("pause_reason", terms.pause_reason or "", MAX_PAUSE_CHARACTERS)
    if terms.queue is not None and not _QUEUE.fullmatch(terms.queue):
        errors.append(
            FieldError(
                "/queue",
                "bad_name",
                "A queue name has small letters, digits, hyphens and underscores.",
            )
        )
    errors += _column_errors(board_id, terms)
    for name in ("input_schema", "output_schema"):
        try:
            if getattr(terms, name) is not None:
                schemas.accept(getattr(terms, name))
        except schemas.BadSchema as bad:
            errors.append(FieldError(f"/{name}{bad.pointer}", "bad_schema", bad.detail))
    if errors:
        raise InvalidContract(errors=errors)


_RANGES = {
    "lease_ttl_seconds": (MIN_LEASE_SECONDS, MAX_LEASE_SECONDS),
    "max_attempts": (1, HIGHEST_MAX_ATTEMPTS),
    "concurrency_limit": (1, MAX_CONCURRENCY_LIMIT),
}


def _range_errors(terms: Terms) -> list[FieldError]:
    errors = []
    for name, (low, high) in _RANGES.items():
        value = getattr(terms, name)
        if isinstance(value, int) and not low <= value <= high:
            detail = f"{name} is {low} to {high}."
            errors.append(FieldError(f"/{name}", "out_of_range", detail))
    return errors


def _backoff_errors(steps: list[int]) -> list[FieldError]:
    if len(steps) > MAX_BACKOFF_STEPS:
        return [
            FieldError(
                "/backoff_seconds", "too_long", f"At most {MAX_BACKOFF_STEPS} steps."
            )
        ]
    errors = []
    for i, step in enumerate(steps):
        if not 0 <= step <= MAX_BACKOFF_SECONDS:
            detail = f"Each step is 0 to {MAX_BACKOFF_SECONDS} seconds."
            errors.append(FieldError(f"/backoff_seconds/{i}", "out_of_range", detail))
        elif i and step < steps[i - 1]:
            detail = "A later attempt never waits shorter than the one before it."
            errors.append(FieldError(f"/backoff_seconds/{i}", "falling", detail))
    return errors


def _column_errors(board_id: UUID, terms: Terms) -> list[FieldError]:
    errors = []
    for name in ("on_success_column_id", "on_failure_column_id"):
        wanted = getattr(terms, name)
        here = Column.objects.filter(pk=wanted, board_id=board_id, archived_at=None)
        if wanted and not here.exists():
            detail = "There is no such column on this board."
            errors.append(FieldError(f"/{name}", "unknown_column", detail))
    return errors


def _locked_contract(caller: Caller, column: Column) -> Contract:
    found = Contract.objects.select_for_update().filter(pk=column.pk).first()
    return found or Contract(column=column, workspace_id=caller.workspace_id, version=0)


def _applied(old: Contract, terms: Terms, column: Column) -> Contract:
    ttl = terms.lease_ttl_seconds
    return Contract(
        column=column,
        workspace_id=old.workspace_id,
        enabled=bool(terms.enabled),
        paused=bool(terms.paused),
        pause_reason=(terms.pause_reason or "") if terms.paused else "",
        queue=terms.queue or old.queue or _free_name(old, column),
        lease_ttl_seconds=DEFAULT_LEASE_SECONDS if ttl is msgspec.UNSET else ttl,
        max_attempts=terms.max_attempts or DEFAULT_MAX_ATTEMPTS,
        backoff_seconds=terms.backoff_seconds or [],
        on_success_column_id=terms.on_success_column_id,
        on_failure_column_id=terms.on_failure_column_id,
        concurrency_limit=terms.concurrency_limit,
        input_schema=terms.input_schema,
        output_schema=terms.output_schema,
        version=old.version + 1,
    )


def _free_name(old: Contract, column: Column) -> str:
    """The column's name as a queue's, with a number behind it where it's taken."""
    base = re.sub(r"[^a-z0-9]+", "-", column.name.lower()).strip("-")[:50] or "queue"
    taken = set(
        Contract.objects.filter(
            workspace_id=old.workspace_id, queue__startswith=base
        ).values_list("queue", flat=True)
    )
    number, name = 1, base
    while name in taken:
        number += 1
        name = f"{base}-{number}"
    return name


def _free_all(caller: Caller, column: Column, force: bool) -> None:
    held = Card.objects.locked().select_related("holder")
    cards = list(held.filter(column=column, state=Card.State.CLAIMED).order_by("id"))
    if cards and not force:
        names = sorted({f"@{card.holder.handle}" for card in cards if card.holder})
        raise CardsHeld(
            f"{len(cards)} of its cards are being worked on by {', '.join(names)}."
            " With `force` they're taken away.",
            holders=names,
            count=len(cards),
        )
    free_cards(caller, cards, reason="The queue was switched off.")


def _save(new: Contract) -> None:
    try:
        with transaction.atomic():
            new.save(force_insert=new.version == 1, force_update=new.version > 1)
    except IntegrityError as error:
        if "contract_queue_once_per_workspace" not in str(error):
            raise
        detail = f"Another column already is the queue {new.queue!r}."
        raise InvalidContract(errors=[FieldError("/queue", "taken", detail)]) from error


def _follow(old: Contract, new: Contract, column: Column) -> None:
    """What the change means for the column and for its cards."""
    column.is_queue = new.enabled
    column.checks_input = new.enabled and new.input_schema is not None
    column.save(update_fields=["is_queue", "checks_input"])
    cards = Card.objects.filter(column=column)
    if new.enabled and not old.enabled:
        _open(cards, column)
    if old.enabled and not new.enabled:
        cards.filter(state=Card.State.OPEN).update(state=Card.State.NONE)
    if new.enabled and (not old.enabled or _has_new_rules(old, new)):
        fits = None if column.checks_input else True
        cards.update(fits=fits, misfit=None)
    if new.enabled and new.max_attempts < old.max_attempts:
        while dead_letter_exhausted(column.pk):
            pass


def _has_new_rules(old: Contract, new: Contract) -> bool:
    return not same_json(old.input_schema, new.input_schema)


def _open(cards: Any, column: Column) -> None:
    """Plain cards become jobs, and so do those that another queue has finished. What
    this queue itself has finished stays finished."""
    done_here = Lease.objects.filter(
        card_id=OuterRef("pk"), column=column, state=Lease.State.COMPLETED
    )
    arrived = Q(state=Card.State.NONE) | Q(state=Card.State.DONE) & ~Exists(done_here)
    cards.filter(arrived).update(state=Card.State.OPEN, attempts=0)


def _record(caller: Caller, old: Contract, new: Contract, column: Column) -> None:
    types = [events.CONTRACT_UPDATED]
    if new.paused != old.paused:
        types.append(events.COLUMN_PAUSED if new.paused else events.COLUMN_RESUMED)
    for type in types:
        events.record(
            caller,
            type,
            board=column.board_id,
            column_id=column.pk,
            data={
                "queue": new.queue,
                "enabled": new.enabled,
                "paused": new.paused,
                "pause_reason": new.pause_reason,
                "version": new.version,
            },
        )
