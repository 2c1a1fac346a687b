"""Start, watch and stop what is done to many dead letters."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

import msgspec
from django.db import connection, transaction

from accounts.callers import Caller
from accounts.errors import Conflict, DomainError, NotFound
from accounts.pages import Page, cut_page, paged
from accounts.roles import BoardRole
from accounts.shapes import ActorRef, actor_ref
from boards import access
from boards.models import ClockTimestamp
from boards.shapes import card_key
from supervision.bulk.planning import (
    Plan,
    Selection,
    check_target,
    chosen,
    plan,
)
from supervision.bulk.rules import Doing
from supervision.bulk.running import run_on
from supervision.errors import SelectionChanged
from supervision.models import BulkAction, BulkItem

# So many cards are done before the call answers, in so many seconds at most.
AT_ONCE, AT_ONCE_SECONDS = 200, 5.0
RESULTS = ("done", "refused", "waiting")


class BulkActionShape(msgspec.Struct, frozen=True):
    """Of `total` cards so many are `done` or `refused`; `state` is running, finished or
    stopped. `column_id` is where a move goes, `reason` why it's discarded."""

    id: UUID
    verb: str
    column_id: UUID | None
    reason: str
    by: ActorRef | None
    state: str
    total: int
    done: int
    refused: int
    created_at: datetime
    touched_at: datetime
    ended_at: datetime | None
    stopped_by: ActorRef | None


class BulkResult(msgspec.Struct, frozen=True):
    """A card of an action: done, refused (`code` and `detail` say why) or waiting."""

    card_id: UUID
    board_id: UUID
    key: str
    title: str
    state: str
    code: str
    detail: str
    at: datetime | None


class Bulk(msgspec.Struct, frozen=True):
    """`plan` is what would happen, or what was to be expected when the `action` (null
    in a dry run) began."""

    dry_run: bool
    plan: Plan
    action: BulkActionShape | None


def dry_run(caller: Caller, doing: Doing, selection: Selection) -> Bulk:
    """What `start` would do now; changes nothing. Raises NotFound, Forbidden (the
    caller may do it to none of them)."""
    check_target(caller, doing)
    ids, beyond = chosen(caller, selection)
    return Bulk(True, plan(caller, doing, ids, beyond=beyond)[0], None)


def start(
    caller: Caller, doing: Doing, selection: Selection, *, expect: int | None = None
) -> Bulk:
    """Begin; up to 200 cards are done when it answers, the worker does the others.

    `expect` is the number that a dry run gave. Raises SelectionChanged when it's
    another one now, NotFound, Forbidden, Conflict (nothing to do).
    """
    check_target(caller, doing)
    ids, beyond = chosen(caller, selection)
    if not ids:
        raise Conflict("No dead letter matches.")
    planned, verdicts = plan(caller, doing, ids, beyond=beyond)
    if expect is not None and expect != planned.will + planned.unchecked:
        raise SelectionChanged(will=planned.will, refused=planned.refused)
    boards = sorted({one.card.board_id for one in verdicts})
    action = _made(caller, doing, ids, boards)
    if len(ids) <= AT_ONCE:
        run_on(action.pk, AT_ONCE_SECONDS)
    return Bulk(False, planned, action_of(caller, action_id=action.pk))


def go_on(caller: Caller, *, action_id: UUID) -> BulkActionShape:
    """Do more of it here and now, for five seconds at most, where no worker does.
    Raises NotFound, Forbidden."""
    action = _seen(caller, action_id)
    _check_may(caller, action)
    run_on(action.pk, AT_ONCE_SECONDS)
    return action_of(caller, action_id=action_id)


@transaction.atomic
def stop(caller: Caller, *, action_id: UUID) -> BulkActionShape:
    """What is done stays done, the others are left alone. Its starter, or editors of
    all its boards; idempotent. Raises NotFound, Forbidden."""
    _check_may(caller, _seen(caller, action_id))
    # After the chunk that is under way.
    action = BulkAction.objects.select_for_update(no_key=True).get(pk=action_id)
    if action.state == BulkAction.State.RUNNING:
        action.state = BulkAction.State.STOPPED
        action.stopped_by_id = caller.actor_id
        action.ended_at = ClockTimestamp()
        action.save(update_fields=["state", "stopped_by", "ended_at"])
    return action_of(caller, action_id=action_id)


def may_steer(caller: Caller, *, action_id: UUID) -> bool:
    """Whether the caller may stop it, or go on with it. Raises NotFound."""
    try:
        _check_may(caller, _seen(caller, action_id))
    except DomainError as error:
        if isinstance(error, NotFound):
            raise
        return False
    return True


def action_of(caller: Caller, *, action_id: UUID) -> BulkActionShape:
    """For those who see all its boards. Raises NotFound."""
    return _shape(_seen(caller, action_id))


@paged
def actions(
    caller: Caller, *, page_size: int, page_token: str
) -> Page[BulkActionShape]:
    """Those that one may see, latest first. Raises BadCursor."""
    rows = BulkAction.objects.select_related("actor", "stopped_by").filter(
        workspace_id=caller.workspace_id,
        boards__contained_by=access.visible_board_ids(caller),
    )
    return cut_page(rows, ("-id",), tuple[UUID], page_size, page_token, _shape)


@paged
def results(
    caller: Caller,
    *,
    action_id: UUID,
    state: str | None,
    page_size: int,
    page_token: str,
) -> Page[BulkResult]:
    """A line per card, in the order of their turns. Raises NotFound, BadCursor."""
    rows = BulkItem.objects.filter(action=_seen(caller, action_id))
    if state:
        rows = rows.filter(state=state)
    rows = rows.select_related("card")

    def shape(row: BulkItem) -> BulkResult:
        return BulkResult(
            card_id=row.card_id,
            board_id=row.card.board_id,
            key=card_key(caller.workspace_key, row.card.number),
            title=row.card.title,
            state=row.state,
            code=row.code,
            detail=row.detail,
            at=row.at,
        )

    return cut_page(rows, ("number",), tuple[int], page_size, page_token, shape)


@transaction.atomic
def _made(
    caller: Caller, doing: Doing, ids: Sequence[UUID], boards: list[UUID]
) -> BulkAction:
    action = BulkAction.objects.create(
        workspace_id=caller.workspace_id,
        actor_id=caller.actor_id,
        token_id=caller.token_id,
        verb=doing.verb,
        column_id=doing.column_id,
        reason=doing.reason,
        boards=boards,
        total=len(ids),
    )
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO supervision_bulkitem"
            " (action_id, number, card_id, state, code, detail)"
            " SELECT %s, number, card_id, 'waiting', '', ''"
            " FROM unnest(%s::uuid[]) WITH ORDINALITY AS t (card_id, number)",
            [action.pk, list(ids)],
        )
    return action


def _seen(caller: Caller, action_id: UUID) -> BulkAction:
    action = (
        BulkAction.objects.select_related("actor", "stopped_by")
        .filter(pk=action_id, workspace_id=caller.workspace_id)
        .first()
    )
    if action is None or not all(access.can_see(caller, one) for one in action.boards):
        raise NotFound("There is no such action here.")
    return action


def _check_may(caller: Caller, action: BulkAction) -> None:
    if action.actor_id != caller.actor_id:
        for board_id in action.boards:
            access.require(caller, board_id, BoardRole.EDITOR)


def _shape(row: BulkAction) -> BulkActionShape:
    return BulkActionShape(
        id=row.pk,
        verb=row.verb,
        column_id=row.column_id,
        reason=row.reason,
        by=actor_ref(row.actor),
        state=row.state,
        total=row.total,
        done=row.done,
        refused=row.refused,
        created_at=row.created_at,
        touched_at=row.touched_at,
        ended_at=row.ended_at,
        stopped_by=actor_ref(row.stopped_by),
    )
