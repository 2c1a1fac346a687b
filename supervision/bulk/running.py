"""Run bulk actions, a chunk at a time: each is one transaction, and rows are the truth.

A chunk locks the action (who finds it locked goes home), then the columns its cards
come from and go to (the lower id first, as everywhere), then the cards, past those that
somebody else has locked: they have their turn in the next chunk. So nobody waits for a
chunk longer than it takes, no two runners do a card twice, and no circle of waiting can
come about; a killed runner leaves nothing half done.
"""

from dataclasses import dataclass, replace
from time import monotonic, sleep
from uuid import UUID

from django.db import DatabaseError, OperationalError, connection, transaction
from django.db.models import QuerySet

from accounts.callers import Caller
from accounts.credentials import caller_now, caller_of_actor
from accounts.errors import Unauthenticated
from accounts.models import Actor
from boards.models import Card, ClockTimestamp, Column
from supervision.bulk.rules import Doing, Facts, apply, facts_of, judge, refusal
from supervision.models import BulkAction, BulkItem

CHUNK = 100
# Processor time for input schemas before a chunk; no row is locked meanwhile.
JUDGE_SECONDS = 1.0
_TRIES = 5
_SCOPE = "write"
_WRITE = """
UPDATE supervision_bulkitem i
SET state = t.state, code = t.code, detail = t.detail, at = clock_timestamp()
FROM unnest(%s::int[], %s::text[], %s::text[], %s::text[])
  AS t (number, state, code, detail)
WHERE i.action_id = %s AND i.number = t.number
"""


@dataclass(frozen=True)
class _Turn:
    """What a chunk works on: read and judged before anything is locked."""

    caller: Caller
    doing: Doing
    cards: dict[UUID, Card]
    judged: Facts


def run_some(seconds: float) -> int:
    """A chunk of each running action by turns, for about so long; how many cards had
    their turn. After each round it rests for as long as that took, so that claims
    have the machine, too. Safe to run many at once."""
    until, settled = monotonic() + seconds, 0
    while (began := monotonic()) < until:
        ids = list(_running().values_list("pk", flat=True))
        now = [run_chunk(action_id) for action_id in ids]
        settled += sum(now)
        if not any(now):
            break
        sleep(monotonic() - began)
    return settled


def run_on(action_id: UUID, seconds: float) -> int:
    """The same for one action."""
    until, settled = monotonic() + seconds, 0
    while monotonic() < until:
        now = run_chunk(action_id)
        settled += now
        if not now:
            break
    return settled


def run_chunk(action_id: UUID, *, size: int = CHUNK) -> int:
    """The next cards of an action; how many are settled now (0: it has ended, or
    somebody else is at it)."""
    for _ in range(_TRIES):
        try:
            return _run_chunk(action_id, size)
        except OperationalError:
            # Such as a deadlock with what we don't know: the chunk is undone, try anew.
            continue
        except DatabaseError as error:
            # One of them spoils it for the others: one by one, and that one is told.
            if size > 1:
                return run_chunk(action_id, size=1)
            return _give_up(action_id, error)
    return 0


def _run_chunk(action_id: UUID, size: int) -> int:
    action = _running().filter(pk=action_id).first()
    if action is None:
        return 0
    caller = _caller_of(action)
    if caller is None:
        _end(action_id, BulkAction.State.STOPPED)
        return 0
    turn = _turn(action, caller, size)
    with transaction.atomic():
        locked = (
            _running()
            .filter(pk=action_id)
            .select_for_update(skip_locked=True, no_key=True)
            .first()
        )
        return 0 if locked is None else _settle(locked, turn)


def _running() -> QuerySet[BulkAction]:
    return BulkAction.objects.filter(state=BulkAction.State.RUNNING).order_by(
        "created_at"
    )


def _turn(action: BulkAction, caller: Caller, size: int) -> _Turn:
    doing = Doing(action.verb, action.column_id, action.reason)
    waiting = BulkItem.objects.filter(action=action, state=BulkItem.State.WAITING)
    ids = list(waiting.order_by("number").values_list("card_id", flat=True)[:size])
    cards = Card.objects.in_bulk(ids)
    facts, _ = judge(
        facts_of(doing, cards.values()), cards.values(), seconds=JUDGE_SECONDS
    )
    return _Turn(caller, doing, cards, facts)


def _settle(action: BulkAction, turn: _Turn) -> int:
    """Under the action's lock."""
    waiting = BulkItem.objects.filter(action=action, state=BulkItem.State.WAITING)
    items = {one.card_id: one for one in waiting.filter(card_id__in=turn.cards)}
    cards = _locked_cards(turn, list(items))
    # Asked anew behind the locks: nothing of it changes any more.
    facts = replace(facts_of(turn.doing, cards), judged=turn.judged.judged)
    ordered = sorted(cards, key=lambda card: items[card.pk].number)
    ready = [card for card in ordered if facts.is_known(card)]
    settled = [_judged(items[card.pk], turn, card, facts) for card in ready]
    passed = {one.card_id for one in settled if one.state == BulkItem.State.DONE}
    apply(turn.caller, turn.doing, [card for card in ready if card.pk in passed], facts)
    _write(action, settled)
    _count(action, settled)
    return len(settled)


def _locked_cards(turn: _Turn, ids: list[UUID]) -> list[Card]:
    columns = {card.column_id for card in turn.cards.values()}
    columns |= {queue.pk for queue in turn.judged.queues.values() if queue}
    columns |= {turn.judged.target.pk} if turn.judged.target else set()
    list(
        Column.objects.filter(pk__in=columns)
        .order_by("pk")
        .select_for_update(no_key=True)
        .values_list("pk", flat=True)
    )
    found = Card.objects.filter(pk__in=ids).order_by("pk")
    cards = found.select_for_update(skip_locked=True, no_key=True)
    # What has just been moved on lies in a column that isn't locked.
    return [card for card in cards if card.column_id in columns]


def _judged(item: BulkItem, turn: _Turn, card: Card, facts: Facts) -> BulkItem:
    """By the rules of the dry run."""
    error = refusal(turn.caller, turn.doing, card, facts)
    item.state = BulkItem.State.REFUSED if error else BulkItem.State.DONE
    item.code, item.detail = (error.code, error.detail) if error else ("", "")
    return item


@transaction.atomic
def _give_up(action_id: UUID, error: DatabaseError) -> int:
    """The next card can't be done, and it's no rule that says so."""
    action = _running().filter(pk=action_id).select_for_update(no_key=True).first()
    waiting = BulkItem.objects.filter(action=action_id, state=BulkItem.State.WAITING)
    item = waiting.order_by("number").first()
    if action is None or item is None:
        return 0
    item.state, item.code = BulkItem.State.REFUSED, "internal"
    item.detail = f"That was our fault ({type(error).__name__})."
    _write(action, [item])
    _count(action, [item])
    return 1


def _write(action: BulkAction, settled: list[BulkItem]) -> None:
    rows = [(one.number, str(one.state), one.code, one.detail) for one in settled]
    if rows:
        with connection.cursor() as cursor:
            cursor.execute(_WRITE, [*map(list, zip(*rows, strict=True)), action.pk])


def _count(action: BulkAction, settled: list[BulkItem]) -> None:
    done = sum(1 for item in settled if item.state == BulkItem.State.DONE)
    action.done += done
    action.refused += len(settled) - done
    action.touched_at = ClockTimestamp()
    left = BulkItem.objects.filter(action=action, state=BulkItem.State.WAITING)
    if not left.exists():
        action.state = BulkAction.State.FINISHED
        action.ended_at = ClockTimestamp()
    action.save(update_fields=["done", "refused", "touched_at", "state", "ended_at"])


def _end(action_id: UUID, state: str) -> None:
    _running().filter(pk=action_id).update(state=state, ended_at=ClockTimestamp())


def _caller_of(action: BulkAction) -> Caller | None:
    """Who started it, as they are now; None when they may not act any more."""
    actor = (
        Actor.objects.enabled()
        .select_related("workspace", "user")
        .filter(pk=action.actor_id)
        .first()
    )
    if actor is None or (actor.user and not actor.user.is_active):
        return None
    caller = caller_of_actor(actor)
    if action.token_id is None:
        return caller
    try:
        caller = caller_now(replace(caller, token_id=action.token_id))
    except Unauthenticated:
        return None
    return caller if _SCOPE in caller.scopes else None
