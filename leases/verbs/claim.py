"""Claim: the next eligible card, under one row lock (design section 3)."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any
from uuid import UUID

import msgspec
from django.db import transaction

from accounts.anew import Errand, begins_anew, errand
from accounts.callers import Caller
from accounts.errors import Invalid, NotFound
from accounts.roles import BoardRole
from accounts.shapes import ActorRef, caller_ref
from accounts.skills import skills_of
from boards import access
from boards.models import Card
from boards.nudges import Nudge, nudge
from boards.reads import cards_by_ids, column_on, require_on
from boards.shapes import CardShape, card_fields
from leases import asking, handed, reads
from leases.contract import MAX_CLAIM_COUNT, MAX_LEASE_SECONDS, MIN_LEASE_SECONDS
from leases.errors import NotAQueue
from leases.models import Lease
from leases.shapes import Attempt, Claim, Claimed, ClaimedCard, LeaseShape
from leases.statements.claim import attempts_before, take
from leases.tokens import receipt
from leases.verbs.judge import PASS_SECONDS, judge
from leases.verbs.seats import room
from leases.verbs.tidy import BATCH, dead_letter_exhausted, tidy

# Rounds of dead-lettering exhausted cards before a claim gives up (decision D5).
_ROUNDS = 20


@dataclass(frozen=True)
class Wanted:
    """Which cards of which queue, and for how long."""

    board_id: UUID
    column_id: UUID
    seconds: int | None = None
    labels: tuple[str, ...] = ()
    skills: tuple[str, ...] = ()

    @property
    def is_choice(self) -> bool:
        return bool(self.labels or self.skills)

    def take(self, caller: Caller, count: int, *, tidied: bool) -> list[Any]:
        return take(
            caller,
            self.column_id,
            count,
            self.seconds,
            tidied=tidied,
            labels=self.labels,
            asking=self.skills,
        )


@begins_anew
def claim(
    caller: Caller,
    *,
    board_id: UUID,
    column_id: UUID,
    count: int | None = None,
    lease_ttl_seconds: int | None = None,
    labels: Sequence[str] = (),
    skills: Sequence[str] = (),
) -> Claimed:
    """Lease the next eligible card of the column (or up to `count` of them).

    Offered is what asks for no skill that the caller lacks; with `labels` what has all
    of them, with `skills` what asks for all of these. What doesn't match keeps nobody
    waiting. The card is the caller's alone until `expires_at`; its attempt counts from
    now on, whatever becomes of the worker (seed A). Nothing eligible is an answer, no
    error. Raises NotFound, Forbidden, NotAQueue, SeatAtCapacity, Invalid.
    """
    access.require(caller, board_id, BoardRole.EDITOR)
    require_on(board_id, column_id)
    _check("count", count, 1, MAX_CLAIM_COUNT)
    check_seconds("lease_ttl_seconds", lease_ttl_seconds)
    wanted = Wanted(
        board_id,
        column_id,
        lease_ttl_seconds,
        tuple(labels),
        tuple(skills_of(skills, "/skills")),
    )
    asking.note(column_id)
    with room(caller, count or 1) as number:
        rows = _take(caller, wanted, number)
    if not rows[0].id:
        return _nothing(rows[0], column_id, count)
    return _claimed(caller, rows, many=count is not None)


def made(claimed: Claimed) -> list[UUID]:
    """The ids of the leases in an answer, for an Idempotency-Key to remember."""
    if isinstance(claimed.lease, LeaseShape):
        return [claimed.lease.id]
    claims = [] if claimed.claims is msgspec.UNSET else claimed.claims
    return [one.lease.id for one in claims]


def again(caller: Caller, ids: Sequence[UUID], *, many: bool) -> Claimed:
    """The same leases and receipts for a repeated Idempotency-Key, as they are now."""
    leases = reads.by_ids(caller, ids)
    cards = {
        card.id: card
        for card in cards_by_ids(caller, [lease.card_id for lease in leases])
    }
    claims = [
        Claim(
            lease=reads.lease_shape(lease),
            lease_token=receipt(lease.pk, bytes(lease.nonce)),
            card=_as_claimed(cards[lease.card_id], lease),
        )
        for lease in leases
        if lease.card_id in cards
    ]
    if not claims:
        raise NotFound("What this Idempotency-Key made is gone.")
    return _answer(claims, reads.server_time(), many=many, replayed=True)


def claimed_one(caller: Caller, row: Any) -> Claimed:
    """The answer to a claim of one card that was taken."""
    return _claimed(caller, [row], many=False)


def _claimed(caller: Caller, rows: list[Any], *, many: bool) -> Claimed:
    nudge(Nudge(caller.workspace_id))
    before = attempts_before(rows)
    claims = [_claim_of(caller, row, before.get(row.id)) for row in rows]
    return _answer(claims, rows[0].now, many=many)


def _as_claimed(card: CardShape, lease: Lease) -> ClaimedCard:
    contract = reads.contract_of(lease.column_id)
    return ClaimedCard(
        **msgspec.structs.asdict(card),
        max_attempts=contract.max_attempts,
        previous_attempts=reads.attempts_before(lease),
    )


def _answer(claims: list[Claim], now: Any, *, many: bool, **more: Any) -> Claimed:
    if many:
        return Claimed(server_time=now, claims=claims, **more)
    only = claims[0]
    return Claimed(
        server_time=now,
        lease=only.lease,
        lease_token=only.lease_token,
        card=only.card,
        **more,
    )


def check_seconds(field: str, value: int | None) -> None:
    _check(field, value, MIN_LEASE_SECONDS, MAX_LEASE_SECONDS)


def _check(field: str, value: int | None, low: int, high: int) -> None:
    if value is not None and not low <= value <= high:
        raise Invalid.at(f"/{field}", "out_of_range", f"{field} is {low} to {high}.")


def _take(caller: Caller, wanted: Wanted, count: int) -> list[Any]:
    """At least one row; without a card in it when there is nothing to claim."""
    column_id = wanted.column_id
    judging = errand(column_id, PASS_SECONDS)
    is_judged = judging.is_back()
    rows = wanted.take(caller, count, tidied=is_judged)
    if not rows or not rows[0].enabled:
        column_on(wanted.board_id, column_id)
        raise NotAQueue
    while _stopped_short(rows[0]):
        # A pass is followed by a try: what else there is to judge keeps nobody waiting.
        if not is_judged and _has_unjudged(column_id):
            judging.leave_for(partial(_make_ready, column_id, judging, rows[0].untidy))
        is_judged = False
        taken = _tidy_and_take(rows, caller, wanted, count, judging)
        rows = taken or rows
        if judging.is_late or (taken and (rows[0].full or not rows[0].unjudged)):
            break
    return rows


def _stopped_short(row: Any) -> bool:
    """Something to do stood before the cards, or all cards found were exhausted."""
    if row.paused or row.id:
        return False
    return bool(row.untidy or row.unjudged or row.unusual or row.picked)


def _make_ready(column_id: UUID, judging: Errand, is_untidy: bool) -> None:
    """A pass of judging, outside of any transaction. Tidy first: what comes free by it
    may have to be judged, too, and what the call has tidied itself is undone."""
    while is_untidy and tidy(column_id) >= BATCH:
        is_untidy = not judging.is_late
    judge(column_id)


@transaction.atomic
def _tidy_and_take(
    rows: list[Any], caller: Caller, wanted: Wanted, count: int, judging: Errand
) -> list[Any]:
    """Nothing at all when there is more to tidy, or to judge since, and time for it:
    what comes free may be next, and may have been held while the schema changed."""
    column_id = wanted.column_id
    for _ in range(_ROUNDS):
        if rows[0].untidy and _has_more(column_id) and not judging.is_late:
            return []
        if rows[0].unusual:
            return _take_in_turn(caller, wanted, count)
        if rows[0].picked:
            dead_letter_exhausted(column_id)
        rows = wanted.take(caller, count, tidied=True)
        if rows[0].id or not (rows[0].picked or rows[0].unusual):
            break
    return rows


def _has_more(column_id: UUID) -> bool:
    """Whether there's more to do after a batch of tidying, or because of it."""
    changed = tidy(column_id)
    return changed >= BATCH or (changed > 0 and _has_unjudged(column_id))


def _has_unjudged(column_id: UUID) -> bool:
    return Card.objects.unjudged(column_id).exists()


def _take_in_turn(caller: Caller, wanted: Wanted, count: int) -> list[Any]:
    """One by one, so that cards kept for the caller come at their place in the order."""
    rows: list[Any] = []
    for _ in range(count):
        found = _take_one(caller, wanted)
        if not found[0].id:
            return rows or found
        rows += found
    return rows


def _take_one(caller: Caller, wanted: Wanted) -> list[Any]:
    """Past those without an attempt left."""
    rows = wanted.take(caller, 1, tidied=True)
    for _ in range(_ROUNDS):
        if rows[0].id or not rows[0].picked:
            break
        dead_letter_exhausted(wanted.column_id)
        rows = wanted.take(caller, 1, tidied=True)
    return rows


def _claim_of(caller: Caller, row: Any, before: Any) -> Claim:
    lease_token = receipt(row.lease_id, row.nonce)
    handed.note(row, lease_token)
    holder = caller_ref(caller)
    author = None
    if row.created_by_id:
        author = ActorRef(row.created_by_id, row.by_handle, row.by_name, row.by_kind)
    fields = card_fields(
        row,
        caller.workspace_key,
        assignee=holder if row.assignee_id else None,
        holder=holder,
        created_by=author,
    )
    return Claim(
        lease=_lease_of(row, holder),
        lease_token=lease_token,
        card=ClaimedCard(
            **fields,
            max_attempts=row.max_attempts,
            previous_attempts=_attempts(before),
        ),
    )


def _attempts(text: msgspec.Raw | None) -> list[Attempt]:
    return msgspec.json.decode(text, type=list[Attempt]) if text else []


def _lease_of(row: Any, holder: ActorRef) -> LeaseShape:
    return LeaseShape(
        id=row.lease_id,
        card_id=row.id,
        board_id=row.board_id,
        column_id=row.column_id,
        state="active",
        attempt=row.attempts,
        holder=holder,
        seconds=row.seconds,
        acquired_at=row.now,
        expires_at=row.expires_at,
        renewals=0,
        renewed_at=None,
        ended_at=None,
        outcome=None,
        reason="",
        note="",
        next_due=None,
    )


def _nothing(row: Any, column_id: UUID, count: int | None) -> Claimed:
    reason, seconds = "drained", None
    if row.paused:
        reason = "paused"
    elif row.full:
        reason = "at_capacity"
    elif row.unjudged or row.untidy:
        reason, seconds = "waiting", 0.0
    elif (seconds := reads.seconds_to_next_due(column_id)) is not None:
        reason = "waiting"
    return nothing(row.now, reason, seconds, many=count is not None)


def nothing(
    now: datetime, reason: str, seconds: float | None = None, *, many: bool = False
) -> Claimed:
    """The answer when there is nothing to claim."""
    empty: dict[str, Any] = (
        {"claims": []} if many else {"lease": None, "lease_token": None, "card": None}
    )
    return Claimed(server_time=now, reason=reason, retry_after_seconds=seconds, **empty)
