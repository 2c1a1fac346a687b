"""Since when a card could be claimed: it came here, or its attempt before ended and the
backoff was over. Comments, edits and moves within the column are none of that. A card
that was given a date not to start before counts from when it came, too."""

from boards import events

_OPENS = (
    events.CARD_CREATED,
    events.CARD_MOVED,
    events.CARD_RESTORED,
    events.CARD_REQUEUED,
    events.LEASE_COMPLETED,
    events.LEASE_FAILED,
    events.LEASE_EXPIRED,
    events.LEASE_RELEASED,
    events.LEASE_REVOKED,
)


def quoted(types: tuple[str, ...]) -> str:
    return ", ".join(f"'{one}'" for one in types)


def ready_since(card: str, before: str) -> str:
    """A query for one row, `since`, by the events of this card up to the number
    `before` (without it) in its history; none when they're forgotten. One or two
    steps along an index."""
    return f"""
SELECT GREATEST(o.created_at, CASE WHEN o.type = '{events.LEASE_FAILED}'
    THEN (o.data #>> '{{lease,next_due}}')::timestamptz END) AS since
  FROM boards_event o
  WHERE o.card_id = {card} AND o.sequence < {before} AND o.type IN ({quoted(_OPENS)})
    AND NOT (o.type = '{events.CARD_MOVED}'
      AND o.data ->> 'from_column_id' = o.data ->> 'to_column_id')
  ORDER BY o.sequence DESC LIMIT 1"""
