"""Dead letters: cards that failed for good, looked after one by one or many at once."""

from typing import Any

from accounts.callers import Caller
from accounts.errors import Invalid
from accounts.moments import keepable
from accounts.pages import Page
from boards import reads
from boards.shapes import CardShape
from novum.operations.cards import version_of
from novum.operations.given.dead_letters import (
    BulkActionInput,
    DiscardDeadLetters,
    ListBulkResults,
    ListDeadLetterGroups,
    ListDeadLetters,
    ManyDeadLetters,
    MoveDeadLetters,
    RetryDeadLetter,
)
from novum.operations.operation import Operation, PageInput
from supervision import letters
from supervision.bulk import actions
from supervision.bulk.actions import Bulk, BulkActionShape, BulkResult
from supervision.bulk.one import retry_one
from supervision.bulk.planning import Selection
from supervision.bulk.rules import Doing
from supervision.letters import DeadLetterShape, LetterFilter, LetterGroups


def list_dead_letters(caller: Caller, given: ListDeadLetters) -> Page[DeadLetterShape]:
    """Failed and still there, newest first, of all boards that you can see; what was
    called off or archived isn't one. A card's attempts: list_leases with its id."""
    return letters.letters(
        caller,
        _wanted(given),
        page_size=given.page_size,
        page_token=given.page_token,
    )


def list_dead_letter_groups(
    caller: Caller, given: ListDeadLetterGroups
) -> LetterGroups:
    """Similar reasons count as one: numbers, ids, quoted text, paths and times are
    placeholders in `group`; status and exit codes stay."""
    return letters.groups(caller, _wanted(given))


def retry_dead_letters(caller: Caller, given: ManyDeadLetters) -> Bulk:
    """To the queues they failed in, with fresh attempts; history stays. A dry run,
    unless `dry_run` is false: how many `will` run, and why others won't (input schema,
    queue gone, retried by somebody). Up to 200 are done at once, the others in chunks
    by the worker: get_bulk_action."""
    return _many(caller, Doing("retry"), given)


def move_dead_letters(caller: Caller, given: MoveDeadLetters) -> Bulk:
    """To the end of a column, by the rules of retry_dead_letters (dry run first). In a
    queue they are open there, elsewhere they stay failed."""
    return _many(caller, Doing("move", column_id=given.to_column_id), given)


def discard_dead_letters(caller: Caller, given: DiscardDeadLetters) -> Bulk:
    """Archives them, with a reason in their history (restore_card brings one back), by
    the rules of retry_dead_letters (dry run first)."""
    return _many(caller, Doing("discard", reason=given.reason), given)


def retry_dead_letter(caller: Caller, given: RetryDeadLetter) -> CardShape:
    """At once; with `payload` its input is put right in the same transaction. 422
    `does_not_fit` names what the queue's input schema has against it, and changes
    nothing."""
    retry_one(
        caller,
        card_id=given.card_id,
        payload=given.payload,
        version=version_of(given.if_match),
    )
    return reads.card(caller, card_id=given.card_id)


def list_bulk_actions(caller: Caller, given: PageInput) -> Page[BulkActionShape]:
    """Latest first: those all of whose boards you can see."""
    return actions.actions(
        caller, page_size=given.page_size, page_token=given.page_token
    )


def get_bulk_action(caller: Caller, given: BulkActionInput) -> BulkActionShape:
    return actions.action_of(caller, action_id=given.bulk_action_id)


def list_bulk_results(caller: Caller, given: ListBulkResults) -> Page[BulkResult]:
    """In the order of their turns: done, refused (and why) or waiting."""
    return actions.results(
        caller,
        action_id=given.bulk_action_id,
        state=given.state,
        page_size=given.page_size,
        page_token=given.page_token,
    )


def run_bulk_action(caller: Caller, given: BulkActionInput) -> BulkActionShape:
    """The worker goes on by itself. Where none runs: does more of it here, for five
    seconds at most; call again while it's `running`."""
    return actions.go_on(caller, action_id=given.bulk_action_id)


def stop_bulk_action(caller: Caller, given: BulkActionInput) -> BulkActionShape:
    """What is done stays done, what is waiting is left alone. For who started it, or
    editors of all its boards."""
    return actions.stop(caller, action_id=given.bulk_action_id)


def _wanted(given: Any) -> LetterFilter:
    return LetterFilter(
        board_id=given.board_id,
        column_id=given.column_id,
        group=getattr(given, "group", None),
        agent=given.agent,
        since=keepable(given.since, "/since"),
        until=keepable(given.until, "/until"),
        text=given.q,
        labels=tuple(one for one in given.labels.split(",") if one),
    )


def _many(caller: Caller, doing: Doing, given: ManyDeadLetters) -> Bulk:
    if (given.card_ids is None) == (given.filter is None):
        raise Invalid.at("/card_ids", "required", "Say one of card_ids and filter.")
    wanted = _wanted(given.filter) if given.filter is not None else None
    selection = Selection(given.card_ids, wanted)
    if given.dry_run:
        return actions.dry_run(caller, doing, selection)
    return actions.start(caller, doing, selection, expect=given.expect)


_LETTERS, _ACTION = "/dead-letters", "/bulk-actions/{bulk_action_id}"
_MANY = ("invalid", "conflict", "selection_changed")

OPERATIONS = (
    Operation(
        name="list_dead_letters",
        method="GET",
        path=_LETTERS,
        summary="Cards that failed for good, with why and in whose hands.",
        input=ListDeadLetters,
        output=Page[DeadLetterShape],
        call=list_dead_letters,
        scope="read",
        who="viewer",
        errors=("bad_cursor",),
    ),
    Operation(
        name="list_dead_letter_groups",
        method="GET",
        path=f"{_LETTERS}:groups",
        summary="Dead letters counted by reason, similar ones folded.",
        input=ListDeadLetterGroups,
        output=LetterGroups,
        call=list_dead_letter_groups,
        scope="read",
        who="viewer",
    ),
    Operation(
        name="retry_dead_letter",
        method="POST",
        path=f"{_LETTERS}/{{card_id}}:retry",
        summary="Retry one dead letter, with other input if need be.",
        input=RetryDeadLetter,
        output=CardShape,
        call=retry_dead_letter,
        scope="write",
        who="editor",
        errors=("not_a_dead_letter", "does_not_fit", "version_mismatch", "conflict"),
        destroys=True,
    ),
    Operation(
        name="retry_dead_letters",
        method="POST",
        path=f"{_LETTERS}:retry",
        summary="Retry chosen dead letters, or all that match; a dry run first.",
        input=ManyDeadLetters,
        output=Bulk,
        call=retry_dead_letters,
        scope="write",
        who="editor",
        errors=_MANY,
    ),
    Operation(
        name="move_dead_letters",
        method="POST",
        path=f"{_LETTERS}:move",
        summary="Move chosen dead letters, or all that match; a dry run first.",
        input=MoveDeadLetters,
        output=Bulk,
        call=move_dead_letters,
        scope="write",
        who="editor",
        errors=_MANY,
        destroys=True,
    ),
    Operation(
        name="discard_dead_letters",
        method="POST",
        path=f"{_LETTERS}:discard",
        summary="Archive chosen dead letters, or all that match; a dry run first.",
        input=DiscardDeadLetters,
        output=Bulk,
        call=discard_dead_letters,
        scope="write",
        who="editor",
        errors=_MANY,
        destroys=True,
    ),
    Operation(
        name="list_bulk_actions",
        method="GET",
        path="/bulk-actions",
        summary="What was done, or is being done, to many dead letters.",
        input=PageInput,
        output=Page[BulkActionShape],
        call=list_bulk_actions,
        scope="read",
        who="anybody",
        errors=("bad_cursor",),
    ),
    Operation(
        name="get_bulk_action",
        method="GET",
        path=_ACTION,
        summary="How far a bulk action is.",
        input=BulkActionInput,
        output=BulkActionShape,
        call=get_bulk_action,
        scope="read",
        who="viewer",
    ),
    Operation(
        name="list_bulk_results",
        method="GET",
        path=f"{_ACTION}/results",
        summary="What became of each card of a bulk action.",
        input=ListBulkResults,
        output=Page[BulkResult],
        call=list_bulk_results,
        scope="read",
        who="viewer",
        errors=("bad_cursor",),
    ),
    Operation(
        name="run_bulk_action",
        method="POST",
        path=f"{_ACTION}:run",
        summary="Go on with a bulk action here and now.",
        input=BulkActionInput,
        output=BulkActionShape,
        call=run_bulk_action,
        scope="write",
        who="editor",
    ),
    Operation(
        name="stop_bulk_action",
        method="POST",
        path=f"{_ACTION}:stop",
        summary="Stop a bulk action after the chunk under way.",
        input=BulkActionInput,
        output=BulkActionShape,
        call=stop_bulk_action,
        scope="write",
        who="editor",
        repeatable=True,
        destroys=True,
    ),
)
