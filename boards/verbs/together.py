"""Many locked cards change in the same way: a statement for all of them and one for
their events, whatever their number. The rules were asked before."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.db import connection

from accounts.callers import Caller
from boards.models import Card, Event
from boards.ordering import GAP

# What arriving somewhere, ending or being put away changes, with its type. `misfit`
# goes with a card that is to be judged anew.
_FIELDS = {
    "board_id": "uuid",
    "column_id": "uuid",
    "position": "bigint",
    "state": "text",
    "attempts": "int",
    "available_at": "timestamptz",
    "fits": "boolean",
    "cancelled_at": "timestamptz",
    "waits": "smallint",
    "waits_since": "timestamptz",
}
_WRITE = f"""
UPDATE boards_card c SET {", ".join(f"{name} = t.{name}" for name in _FIELDS)},
  misfit = CASE WHEN t.fits IS FALSE THEN c.misfit END,
  archived_at = CASE WHEN %s THEN clock_timestamp() ELSE c.archived_at END,
  version = c.version + 1, sequence = c.sequence + 1, updated_at = clock_timestamp()
FROM unnest(%s::uuid[], {", ".join(f"%s::{type}[]" for type in _FIELDS.values())})
  AS t (id, {", ".join(_FIELDS)})
WHERE c.id = t.id
"""
_POSITIONS = (
    f"SELECT nextval('boards_card_position') * {GAP} FROM generate_series(1, %s)"
)


def save_all(
    cards: Sequence[Card], *, at_end: bool = False, away: bool = False
) -> None:
    """As `moving.changed` does with one: the next version and the next number in the
    history. `at_end`: behind all others of their columns, in this order; `away`:
    archived now."""
    if not cards:
        return
    with connection.cursor() as cursor:
        if at_end:
            cursor.execute(_POSITIONS, [len(cards)])
            for card, (position,) in zip(cards, cursor.fetchall(), strict=True):
                card.position = position
        values = [[getattr(card, name) for card in cards] for name in _FIELDS]
        cursor.execute(_WRITE, [away, [card.pk for card in cards], *values])
    for card in cards:
        card.version += 1
        card.sequence += 1


def record_all(
    caller: Caller, type: str, cards: Sequence[Card], data: Sequence[Mapping[str, Any]]
) -> None:
    """As `events.record` does with one; the cards are saved."""
    Event.objects.bulk_create(
        [
            Event(
                workspace_id=caller.workspace_id,
                type=type,
                actor_id=caller.actor_id,
                token_id=caller.token_id,
                board_id=card.board_id,
                column_id=card.column_id,
                card_id=card.pk,
                sequence=card.sequence,
                data=dict(facts),
            )
            for card, facts in zip(cards, data, strict=True)
        ]
    )
