"""What the end of a task is, and the event `task.done` that tells of it.

Every end gets one, also those of which nobody is told because the creator ended the
task themselves. It is written where the messages are made (tasks_people.verbs.gather),
in their transaction, once for ever: only one gatherer at a time works in a workspace,
and it looks for an event of the card that names the ending event. The card's `sequence`
is raised as for every event, so the order of a card's events stays without gaps.
"""

from typing import Any
from uuid import UUID

from django.db import connection

from accounts.ids import new_id
from boards import events
from boards.nudges import Nudge, nudge
from leases.statements.running import compact

# So many at once: their cards are held until the gatherer has finished.
MOST = 2_000

# Of an event `e` about a card `c`; `l` is the lease it ended, `h` its holder.
IS_END = f"""(e.type IN ('{events.LEASE_DEADLETTERED}', '{events.CARD_CANCELLED}')
    OR e.type = '{events.LEASE_COMPLETED}' AND e.data ->> 'state' = 'done')"""
HOW_IT_ENDED = f"""
jsonb_build_object('status', CASE e.type
      WHEN '{events.LEASE_COMPLETED}' THEN 'done'
      WHEN '{events.CARD_CANCELLED}' THEN 'cancelled'
      ELSE CASE WHEN l.state = 'failed' AND h.kind = 'person' THEN 'declined'
        ELSE 'failed' END END)
    || CASE e.type WHEN '{events.LEASE_COMPLETED}'
      THEN jsonb_build_object('result', l.output)
      ELSE jsonb_build_object('error',
        COALESCE(NULLIF(l.reason, ''), e.data ->> 'reason', '')) END
    || jsonb_build_object(
      'by', '@' || CASE e.type WHEN '{events.CARD_CANCELLED}' THEN e.data ->> 'by'
        ELSE h.handle END)"""
LEASE_AND_HOLDER = """LEFT JOIN leases_lease l ON l.id = e.lease_id
LEFT JOIN accounts_actor h ON h.id = l.holder_id"""

# OFFSET 0: one look by the card's index for each end, however many events there are.
_UNTOLD = compact(f"""
SELECT e.id, e.card_id FROM boards_event e
WHERE e.workspace_id = %(workspace)s AND e.transaction >= %(mark)s AND {IS_END}
  AND EXISTS (SELECT FROM boards_card c WHERE c.id = e.card_id)
  AND NOT EXISTS (SELECT FROM boards_event d WHERE d.card_id = e.card_id
    AND d.sequence > e.sequence AND d.type = '{events.TASK_DONE}'
    AND d.data ->> 'event_id' = e.id::text OFFSET 0)
ORDER BY e.transaction, e.id LIMIT {MOST}""")
# A card that somebody holds right now is left for the next time: nobody waits here for
# a verb, and no verb can be waiting for us that we wait for.
_TELL = compact(f"""
WITH locked AS MATERIALIZED (
  SELECT id FROM boards_card WHERE id = ANY(%(cards)s) ORDER BY id
  FOR NO KEY UPDATE SKIP LOCKED
), ended AS MATERIALIZED (
  SELECT a.id AS own_id, e.*, count(*) OVER (PARTITION BY e.card_id) AS many,
    row_number() OVER (PARTITION BY e.card_id ORDER BY a.id DESC) AS number
  FROM unnest(%(ends)s::uuid[], %(ids)s::uuid[]) AS a (end_id, id)
  JOIN boards_event e ON e.id = a.end_id JOIN locked ON locked.id = e.card_id
), card AS (
  UPDATE boards_card c SET sequence = c.sequence + m.many
  FROM (SELECT DISTINCT card_id, many FROM ended) m WHERE c.id = m.card_id
  RETURNING c.id, c.sequence
)
INSERT INTO boards_event ({events.EVENT_COLUMNS})
SELECT e.own_id, e.workspace_id, '{events.TASK_DONE}', e.actor_id, e.token_id,
  e.board_id, e.column_id, e.card_id, NULL, card.sequence - e.number + 1,
  {HOW_IT_ENDED}
    || jsonb_build_object('correlation_id', e.card_id::text, 'event_id', e.id::text)
FROM ended e JOIN card ON card.id = e.card_id {LEASE_AND_HOLDER}""")


def tell_of_ends(workspace_id: UUID, mark: int) -> bool:
    """Write `task.done` for the ends from `mark` (a transaction's number) on. Whether
    that was all of them. Whoever calls holds the workspace's `Gathering`."""
    with connection.cursor() as cursor:
        cursor.execute(_UNTOLD, {"workspace": workspace_id, "mark": mark})
        found: list[tuple[Any, ...]] = cursor.fetchall()
        if not found:
            return True
        values = {
            "ends": [end_id for end_id, _ in found],
            "cards": [card_id for _, card_id in found],
            "ids": [new_id() for _ in found],
        }
        cursor.execute(_TELL, values)
        nudge(Nudge(workspace_id))
        return bool(cursor.rowcount == len(found) < MOST)
