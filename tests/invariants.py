"""What must be true of a workspace at every moment (design section 4), as one query.

Each part selects what breaks one rule; a sound database answers with no row at all.
"""

from uuid import UUID

from django.db import connection

_RULES = {
    # 1. At most one active lease per card, and both know each other.
    "a claimed card and its active lease don't match": """
        SELECT c.id FROM cards c LEFT JOIN leases l
          ON l.card_id = c.id AND l.state = 'active'
        WHERE (c.state = 'claimed') <> (l.id IS NOT NULL)
          OR l.id IS DISTINCT FROM c.lease_id OR l.holder_id IS DISTINCT FROM c.holder_id
          OR l.column_id <> c.column_id""",
    "two leases of a card overlap": """
        SELECT card_id FROM (SELECT card_id, acquired_at, lag(COALESCE(ended_at,
            'infinity')) OVER (PARTITION BY card_id ORDER BY acquired_at) AS before
          FROM leases) l WHERE acquired_at < before""",
    # 2. Places of the limit.
    "a slot and the lease in it don't match": """
        SELECT l.id FROM leases l LEFT JOIN leases_slot s ON s.lease_id = l.id
        WHERE l.state = 'active' AND l.slot IS DISTINCT FROM s.number
        UNION ALL
        SELECT s.lease_id FROM leases_slot s JOIN columns k ON k.id = s.column_id
        LEFT JOIN leases l ON l.id = s.lease_id
        WHERE s.lease_id IS NOT NULL AND (l.state IS DISTINCT FROM 'active'
          OR l.column_id <> s.column_id OR l.slot <> s.number)""",
    # 3. No card is lost.
    "a card is nowhere": """
        SELECT c.id FROM cards c JOIN columns k ON k.id = c.column_id
        WHERE k.board_id <> c.board_id
          OR k.archived_at IS NOT NULL AND c.archived_at IS NULL""",
    "two cards have one place": """
        SELECT min(id::text)::uuid FROM cards WHERE archived_at IS NULL
        GROUP BY column_id, position HAVING count(*) > 1""",
    "a card's state doesn't fit its column": """
        SELECT c.id FROM cards c JOIN columns k ON k.id = c.column_id
        WHERE c.state IN ('open', 'claimed') AND NOT k.is_queue
          OR c.state = '' AND k.is_queue""",
    "a column doesn't know its contract": """
        SELECT k.id FROM columns k LEFT JOIN leases_contract t ON t.column_id = k.id
        WHERE k.is_queue <> COALESCE(t.enabled, false) OR k.checks_input <>
          COALESCE(t.enabled AND t.input_schema IS NOT NULL, false)""",
    "a card waits that isn't open": """
        SELECT id FROM cards WHERE available_at IS NOT NULL AND state IN
          ('claimed', 'done', 'failed')""",
    # 4. One change, one event.
    "the events of a card don't count up": """
        SELECT c.id FROM cards c LEFT JOIN events e ON e.card_id = c.id
        GROUP BY c.id, c.sequence HAVING count(e.id) <> c.sequence
          OR min(e.sequence) <> 1 OR max(e.sequence) <> c.sequence""",
    "a lease doesn't have its events": """
        SELECT l.id FROM leases l LEFT JOIN events e ON e.lease_id = l.id
        GROUP BY l.id, l.state, l.outcome HAVING
          count(*) FILTER (WHERE e.type = 'card.lease.claimed') <> 1
          OR count(*) FILTER (WHERE e.type = 'card.lease.' || l.state)
            <> (l.state <> 'active')::int
          OR count(*) FILTER (WHERE e.type = 'card.lease.deadlettered')
            <> (l.outcome = 'dead_lettered')::int
          OR count(*) <> 1 + (l.state <> 'active')::int
            + (l.outcome = 'dead_lettered')::int""",
    "a card was claimed while it was held": """
        SELECT card_id FROM (SELECT card_id, type, lag(type) OVER (
            PARTITION BY card_id ORDER BY sequence) AS before
          FROM events WHERE type LIKE 'card.lease.%%'
            AND type <> 'card.lease.deadlettered') e
        WHERE (type = 'card.lease.claimed') = (before = 'card.lease.claimed')""",
    # 6. Attempts.
    "a card has more attempts than leases": """
        SELECT c.id FROM cards c WHERE c.attempts >
          (SELECT count(*) FROM leases l WHERE l.card_id = c.id)""",
    "an attempt isn't counted": """
        SELECT c.id FROM cards c JOIN leases l ON l.id = c.lease_id
        WHERE c.attempts <> l.attempt""",
}
_QUERY = """
WITH cards AS (SELECT * FROM boards_card WHERE workspace_id = %(workspace)s),
  leases AS (SELECT * FROM leases_lease WHERE board_id IN (
    SELECT id FROM boards_board WHERE workspace_id = %(workspace)s)),
  events AS (SELECT * FROM boards_event WHERE workspace_id = %(workspace)s
    AND card_id IS NOT NULL),
  columns AS (SELECT k.* FROM boards_column k JOIN boards_board b ON b.id = k.board_id
    WHERE b.workspace_id = %(workspace)s)
""" + " UNION ALL ".join(
    f"SELECT '{rule.replace(chr(39), chr(39) * 2)}', id FROM ({rows}) AS broken (id)"
    for rule, rows in _RULES.items()
)


def broken(workspace_id: UUID) -> list[tuple[str, UUID]]:
    """Which rule, and by what."""
    with connection.cursor() as cursor:
        cursor.execute(_QUERY, {"workspace": workspace_id})
        return cursor.fetchall()


def assert_sound(workspace_id: UUID) -> None:
    found = broken(workspace_id)
    assert not found, "\n".join(f"{rule}: {what}" for rule, what in found)
