"""Retry one dead letter, with its input put right first where that is why it failed."""

from dataclasses import replace
from typing import Any
from uuid import UUID

import msgspec
from django.db import transaction

from accounts.callers import Caller
from boards.errors import VersionMismatch
from boards.models import Column
from boards.verbs.cards import change
from boards.verbs.moving import card_seen, locked_card
from supervision.bulk.rules import Doing, apply, check, facts_of, judge

_RETRY = Doing("retry")


def retry_one(
    caller: Caller,
    *,
    card_id: UUID,
    payload: Any = msgspec.UNSET,
    version: int | None = None,
) -> UUID:
    """Back to the queue it failed in with fresh attempts, with this `payload` if one is
    given, in one transaction. `version` is the one the caller has seen.

    Raises NotFound, Forbidden, NotADeadLetter, Conflict, VersionMismatch, and
    DoesNotFit (nothing is changed then).
    """
    card = card_seen(caller, card_id)
    seen = card.version
    if payload is not msgspec.UNSET:
        card.payload = payload
    # The schema is at work before anything is locked.
    facts, _ = judge(facts_of(_RETRY, [card]), [card], seconds=2.0)
    with transaction.atomic():
        columns = {card.column_id, *(q.pk for q in facts.queues.values() if q)}
        list(
            Column.objects.filter(pk__in=columns)
            .order_by("pk")
            .select_for_update(no_key=True)
        )
        card = locked_card(caller, card_id, version)
        now = replace(facts_of(_RETRY, [card]), judged=facts.judged)
        if card.version != seen or not now.is_known(card):
            raise VersionMismatch("The card has just changed. Look at it again.")
        check(caller, _RETRY, card, now)
        if payload is not msgspec.UNSET:
            change(caller, card, {"payload": payload})
        apply(caller, _RETRY, [card], now)
    return card_id
