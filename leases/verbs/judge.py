"""Judge cards by the column's input schema, before anybody is offered them."""

from time import monotonic
from typing import Any
from uuid import UUID

import msgspec

from accounts.anew import must_be_outside
from boards.models import Card
from leases import schemas
from leases.models import Contract
from leases.statements.running import compact, run

BATCH = 200
# No card is begun after this long, so that a claim that does a pass stays a short call.
PASS_SECONDS = 1.0
MAX_SHOWN_PROBLEMS = 5

# The contract is locked against a change first: a judgement by a schema that was just
# replaced must not be written over the order to judge again.
_WRITE = compact("""
WITH contract AS MATERIALIZED (
  SELECT version FROM leases_contract
  WHERE column_id = %(column)s AND version = %(contract)s FOR SHARE
)
UPDATE boards_card c SET fits = j.misfit IS NULL, misfit = j.misfit
FROM contract, unnest(%(cards)s::uuid[], %(versions)s::bigint[], %(misfits)s::jsonb[])
  AS j (id, version, misfit)
WHERE c.id = j.id AND c.version = j.version AND c.fits IS NULL
""")


def judge(column_id: UUID) -> int:
    """Judge the first cards in claim order that nobody has judged since they or the
    schema changed; returns how many.

    No row is locked while a schema is at work: RuntimeError inside of a transaction,
    which a verb leaves for it (`accounts.anew`). A judgement counts only if card and
    contract are still the versions judged. Silent: it's the card's own fault.
    """
    return _judge(column_id, list(Card.objects.unjudged(column_id).in_order()[:BATCH]))


def judge_card(card: Card) -> None:
    """The same for one card, should nobody have done it yet."""
    _judge(
        card.column_id, list(Card.objects.unjudged(card.column_id).filter(pk=card.pk))
    )


def _judge(column_id: UUID, cards: list[Card]) -> int:
    must_be_outside()
    contract = Contract.objects.get(pk=column_id)
    deadline = monotonic() + PASS_SECONDS
    judged: list[tuple[Card, str | None]] = []
    for card in cards:
        if judged and monotonic() > deadline:
            break
        judged.append((card, _misfit(contract.input_schema, card)))
    run(
        _WRITE,
        {
            "column": column_id,
            "contract": contract.version,
            "cards": [card.pk for card, _ in judged],
            "versions": [card.version for card, _ in judged],
            "misfits": [misfit for _, misfit in judged],
        },
    )
    return len(judged)


def as_received(card: Card) -> dict[str, Any]:
    """The card as the schema sees it: what an agent works with (design section 5)."""
    return {
        "title": card.title,
        "description": card.description,
        "priority": card.priority,
        "labels": card.labels,
        "properties": card.properties,
        "payload": card.payload,
    }


def _misfit(schema: Any, card: Card) -> str | None:
    """What doesn't fit, as JSON; None when the card fits.

    Each card has the engine's whole time, also the last one of a pass: what is written
    down must not depend on how much the cards before it took."""
    problems = problems_of(schema, card)
    return msgspec.json.encode(problems).decode() if problems else None


def problems_of(schema: Any, card: Card) -> list[schemas.Problem]:
    """The first things in which the card doesn't fit; none without a schema."""
    if schema is None:
        return []
    return schemas.problems(schema, as_received(card))[:MAX_SHOWN_PROBLEMS]
