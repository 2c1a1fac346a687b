"""Complete: the work is done, its result is on the card, the card moves on."""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

import msgspec
from django.utils.crypto import constant_time_compare

from accounts.callers import Caller
from accounts.errors import DomainError, FieldError
from accounts.roles import BoardRole
from boards import access
from leases import handed, schemas
from leases.errors import OutputRejected, SeatAtCapacity
from leases.handed import Handed, Terms
from leases.models import Lease
from leases.shapes import Ended, EndedItem, EndedMany, Refused
from leases.statements import completing
from leases.statements.renewing import look
from leases.verbs.claim import claim, nothing
from leases.verbs.holding import (
    MAX_LEASES_PER_CALL,
    at_most,
    ended,
    held,
    only,
)
from leases.verbs.refusing import refused


class Result(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a holder brings back for one lease."""

    lease_id: UUID
    lease_token: str
    output: Any = None
    properties: dict[str, Any] | None = None


def complete(
    caller: Caller,
    *,
    lease_id: UUID,
    lease_token: str,
    output: Any = None,
    properties: dict[str, Any] | None = None,
    claim_next: bool = False,
) -> Ended:
    """End the lease with a result, in one transaction: store `output`, merge
    `properties`, move the card to the success column, free the place.

    A queue as destination gets the card open with fresh attempts, anyone's to claim.
    Repeated with the same receipt: the first result, `replayed`. `claim_next` then
    claims from the same column. Raises LeaseLost, and OutputRejected (the lease stays,
    no attempt is lost).
    """
    result = Result(lease_id, lease_token, output, properties)
    done = _at_once(caller, [result])
    answer = done.get(lease_id) or _after_a_look(caller, result)
    if not claim_next:
        return answer
    came_from = answer.lease
    try:
        following = claim(
            caller, board_id=came_from.board_id, column_id=came_from.column_id
        )
    except SeatAtCapacity:
        # Another worker of the seat was faster; what is done is done.
        following = nothing(answer.server_time, "at_capacity")
    return msgspec.structs.replace(answer, next=following)


def _at_once(caller: Caller, results: Sequence[Result]) -> dict[UUID, Ended]:
    """Ended without a look at the leases, which this process gave out: all of them where
    everything is as it was then. Of the others a look will tell."""
    known = [one for result in results if (one := _known(caller, result))]
    if len(known) < len(results):
        return {}
    rows = completing.complete_known(
        caller,
        known,
        [result.output for result in results],
        [result.properties for result in results],
    )
    for row in rows:
        handed.forget(row.id)
    return {row.id: ended(caller, row) for row in rows}


def _known(caller: Caller, result: Result) -> tuple[Handed, Terms] | None:
    """The lease and its terms; None where anything is wrong with the result."""
    found = handed.find(result.lease_id)
    if found is None:
        return None
    lease, terms = found
    if lease.workspace_id != caller.workspace_id or not (
        access.allows(caller, lease.board_id, BoardRole.EDITOR)
        and constant_time_compare(result.lease_token, lease.receipt)
    ):
        return None
    schema = terms.output_schema
    fits = schema is None or not schemas.problems(schema, result.output)
    return found if fits else None


def _after_a_look(caller: Caller, result: Result) -> Ended:
    row = only(held(caller, {result.lease_id: result.lease_token}))
    answer = _complete(caller, [result], {result.lease_id: row})[result.lease_id]
    if isinstance(answer, DomainError):
        raise answer
    return answer


def complete_many(caller: Caller, *, results: Sequence[Result]) -> EndedMany:
    """Complete many, each of them whole and with an answer of its own.

    Raises Invalid (too many, or one lease twice).
    """
    at_most(MAX_LEASES_PER_CALL, results)
    receipts = {result.lease_id: result.lease_token for result in results}
    at_most(len(receipts), results)
    answers: dict[UUID, Ended | DomainError] = {**_at_once(caller, results)}
    others = [result for result in results if result.lease_id not in answers]
    if others:
        found = held(caller, {one.lease_id: one.lease_token for one in others})
        answers |= _complete(caller, others, found)
    return EndedMany([_item(one.lease_id, answers[one.lease_id]) for one in results])


def _item(lease_id: UUID, answer: Ended | DomainError) -> EndedItem:
    if isinstance(answer, DomainError):
        return EndedItem(lease_id, error=Refused(answer.code, answer.detail))
    return EndedItem(lease_id, ended=answer)


def _complete(
    caller: Caller, results: Sequence[Result], found: Mapping[UUID, Any]
) -> dict[UUID, Ended | DomainError]:
    # Judged before any lock is taken: a slow schema must not hold up the column.
    rows = {
        result.lease_id: _judged(found[result.lease_id], result) for result in results
    }
    active = [
        result
        for result in results
        if not isinstance(rows[result.lease_id], DomainError)
        and rows[result.lease_id].state == Lease.State.ACTIVE
    ]
    done = {}
    if active:
        done = {
            row.id: row
            for row in completing.complete(
                caller,
                [result.lease_id for result in active],
                [result.output for result in active],
                [result.properties for result in active],
            )
        }
    late = [result.lease_id for result in active if result.lease_id not in done]
    rows |= look(caller.workspace_id, late) if late else {}
    return {
        result.lease_id: _answer(caller, result.lease_id, rows, done)
        for result in results
    }


def _judged(row: Any, result: Result) -> Any:
    """The row, or the error instead of it."""
    if isinstance(row, DomainError):
        return row
    handed.note_terms(row)
    if row.output_schema is None:
        return row
    if row.state != Lease.State.ACTIVE:
        return row
    problems = schemas.problems(msgspec.json.decode(row.output_schema), result.output)
    if not problems:
        return row
    return OutputRejected(
        errors=[
            FieldError("/output" + problem.pointer, problem.code, problem.detail)
            for problem in problems
        ]
    )


def _answer(
    caller: Caller, lease_id: UUID, rows: Mapping[UUID, Any], done: Mapping[UUID, Any]
) -> Ended | DomainError:
    if lease_id in done:
        return ended(caller, done[lease_id])
    row = rows[lease_id]
    if isinstance(row, DomainError):
        return row
    if row.state == Lease.State.COMPLETED:
        return ended(caller, row, replayed=True)
    return refused(caller, row, "complete")
