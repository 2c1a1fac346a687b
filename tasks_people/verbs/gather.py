"""Gather: turn what has happened into messages for those who wait for it.

The verbs that end a task write an event and nothing else, so they cost the same whether
somebody waits or not. This reads the events and tells: the creator of a task of its end,
a person of what is assigned to them or called off while they were at it, everybody of
being mentioned.

Nothing is left out although transactions commit out of order: everything below the
oldest transaction that is still running has ended, and only so far does the mark in
`Gathering` move. What is visible above it is told as well, at once, and found to be told
already the next time (one message per recipient and event).
"""

import re
from collections.abc import Iterable
from typing import Any
from uuid import UUID

from django.db import connection, transaction

from accounts.models import Actor
from boards import events
from boards.models import Comment, Event
from boards.nudges import Nudge, nudge
from boards.shapes import card_key
from boards.watching import roles_now
from leases.statements.running import compact
from tasks_people.inbox import (
    MENTIONS,
    TASKS_ASSIGNED,
    TASKS_CANCELLED,
    TASKS_DONE,
)
from tasks_people.models import Gathering, Message
from tasks_people.verbs.ended import (
    HOW_IT_ENDED,
    IS_END,
    LEASE_AND_HOLDER,
    tell_of_ends,
)
from tasks_people.verbs.mailboxes import deliver

BATCH = 500
MAX_BATCHES = 100
# A pull looks for its own news only, unless nobody has gathered for so long.
STALE_SECONDS = 5
MAX_MENTIONS_PER_COMMENT = 20
MAX_QUOTED_CHARACTERS = 500
_MENTION = re.compile(r"(?<![\w@/.-])@([a-z0-9][a-z0-9-]{0,38})")

# Whoever ended a task by themselves as a person needs no telling.
_ENDED = f"""
SELECT e.id AS event_id, e.transaction, c.created_by_id AS recipient_id,
  '{TASKS_DONE}' AS topic, '{events.TASK_DONE}' AS type, c.id AS card_id, e.actor_id,
  {HOW_IT_ENDED}
    || jsonb_build_object('key', w.key || '-' || c.number, 'title', c.title) AS payload
FROM boards_event e JOIN boards_card c ON c.id = e.card_id
JOIN accounts_workspace w ON w.id = e.workspace_id
JOIN accounts_actor r ON r.id = c.created_by_id
{LEASE_AND_HOLDER}
WHERE e.workspace_id = %(workspace)s AND e.transaction >= %(mark)s AND {IS_END}
  AND NOT (r.kind = 'person' AND e.actor_id IS NOT DISTINCT FROM r.id)"""
# The latest event about the assignee is the one that tells of the present one.
_ASSIGNED = f"""
SELECT e.id, e.transaction, c.assignee_id, '{TASKS_ASSIGNED}', 'task.assigned', c.id,
  e.actor_id, jsonb_build_object('by', '@' || a.handle, 'key', w.key || '-' || c.number,
    'title', c.title, 'priority', c.priority)
FROM boards_event e JOIN boards_card c ON c.id = e.card_id
JOIN accounts_workspace w ON w.id = e.workspace_id
JOIN accounts_actor r ON r.id = c.assignee_id AND r.kind = 'person'
LEFT JOIN accounts_actor a ON a.id = e.actor_id
WHERE e.workspace_id = %(workspace)s AND e.transaction >= %(mark)s
  AND (e.type = '{events.CARD_CREATED}' OR e.type = '{events.CARD_UPDATED}'
    AND e.data -> 'changed' ? 'assignee')
  AND e.actor_id IS DISTINCT FROM r.id
  AND NOT EXISTS (SELECT FROM boards_event n WHERE n.card_id = e.card_id
    AND n.sequence > e.sequence AND n.type = '{events.CARD_UPDATED}'
    AND n.data -> 'changed' ? 'assignee')"""
# A person sends no heartbeats, by which an agent would learn it.
_CALLED_OFF = f"""
SELECT e.id, e.transaction, l.holder_id, '{TASKS_CANCELLED}', 'task.cancelled', c.id,
  e.actor_id, jsonb_build_object('by', '@' || (e.data ->> 'by'),
    'text', e.data ->> 'reason', 'key', w.key || '-' || c.number, 'title', c.title)
FROM boards_event e JOIN boards_card c ON c.id = e.card_id
JOIN accounts_workspace w ON w.id = e.workspace_id
CROSS JOIN LATERAL (SELECT l.holder_id FROM leases_lease l
  WHERE l.card_id = c.id AND l.acquired_at <= e.created_at
  ORDER BY l.acquired_at DESC LIMIT 1) l
JOIN accounts_actor r ON r.id = l.holder_id AND r.kind = 'person'
WHERE e.workspace_id = %(workspace)s AND e.transaction >= %(mark)s
  AND e.type = '{events.CARD_CANCEL_REQUESTED}' AND e.actor_id IS DISTINCT FROM r.id"""
_PENDING = f"""
SELECT * FROM ({_ENDED} UNION ALL {_ASSIGNED} UNION ALL {_CALLED_OFF}) p
WHERE NOT EXISTS (SELECT FROM tasks_people_message m
  WHERE m.recipient_id = p.recipient_id AND m.event_id = p.event_id)"""
_TELL = compact(f"""
WITH pending AS MATERIALIZED (
  {_PENDING} ORDER BY transaction, event_id LIMIT {BATCH}
), box AS (
  INSERT INTO tasks_people_mailbox AS b (actor_id, last_number)
  SELECT recipient_id, count(*) FROM pending GROUP BY recipient_id ORDER BY recipient_id
  ON CONFLICT (actor_id) DO UPDATE SET last_number = b.last_number + excluded.last_number
  RETURNING actor_id, last_number
), numbered AS (
  SELECT p.*, box.last_number + 1 - row_number() OVER (PARTITION BY p.recipient_id
    ORDER BY p.transaction DESC, p.event_id DESC) AS number
  FROM pending p JOIN box ON box.actor_id = p.recipient_id
)
INSERT INTO tasks_people_message (id, workspace_id, recipient_id, number, topic, type,
  correlation_id, sender_id, payload, event_id)
SELECT gen_random_uuid(), %(workspace)s, recipient_id, number, topic, type, card_id::text,
  actor_id, payload, event_id FROM numbered""")
_WAITS = compact(f"""
SELECT g.workspace_id IS NULL OR g.gathered_at < clock_timestamp()
    - make_interval(secs => {STALE_SECONDS})
  OR EXISTS (SELECT FROM ({_PENDING}) mine WHERE recipient_id = %(recipient)s)
FROM accounts_workspace w LEFT JOIN tasks_people_gathering g ON g.workspace_id = w.id
WHERE w.id = %(workspace)s""").replace("%(mark)s", "COALESCE(g.transaction, 0)")
_BEHIND = """
SELECT w.id FROM accounts_workspace w
LEFT JOIN tasks_people_gathering g ON g.workspace_id = w.id
WHERE EXISTS (SELECT FROM boards_event e WHERE e.workspace_id = w.id
  AND e.transaction >= COALESCE(g.transaction, 0))"""
_BEHIND_IN = f"{_BEHIND} AND w.id = ANY(%(workspaces)s::uuid[])"
_OLDEST = "SELECT pg_snapshot_xmin(pg_current_snapshot())::text::bigint"


def gather_all() -> int:
    """Every workspace in which something has happened; how many messages."""
    return sum(gather(row[0]) for row in _rows(_BEHIND, {}))


def gather_in(workspace_ids: Iterable[UUID]) -> int:
    """The same for these, of which most have no news most of the time."""
    values = {"workspaces": list(workspace_ids)}
    return sum(gather(row[0]) for row in _rows(_BEHIND_IN, values))


def gather_for(workspace_id: UUID, recipient_id: UUID) -> None:
    """Before somebody reads: after it they are told of everything that was committed
    before. It changes nothing where nothing waits for them."""
    values = {"workspace": workspace_id, "recipient": recipient_id}
    if any(row[0] for row in _rows(_WAITS, values)):
        gather(workspace_id)


@transaction.atomic
def gather(workspace_id: UUID) -> int:
    """Tell everybody in the workspace; how many messages. One at a time there."""
    Gathering.objects.bulk_create(
        [Gathering(workspace_id=workspace_id)], ignore_conflicts=True
    )
    mine = Gathering.objects.filter(pk=workspace_id)
    mark = mine.select_for_update().values_list("transaction", flat=True).get()
    # Before the events are read: all below it is visible then.
    ((oldest,),) = _rows(_OLDEST, {})
    told = _mentions(workspace_id, mark)
    for _ in range(MAX_BATCHES):
        with connection.cursor() as cursor:
            cursor.execute(_TELL, {"workspace": workspace_id, "mark": mark})
            number = cursor.rowcount
        told += number
        if number < BATCH:
            break
    # Last, because it holds the cards.
    if tell_of_ends(workspace_id, mark) and number < BATCH:
        mine.update(transaction=oldest)
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE tasks_people_gathering SET gathered_at = clock_timestamp()"
            " WHERE workspace_id = %s",
            [workspace_id],
        )
    if told:
        nudge(Nudge(workspace_id))
    return told


def _mentions(workspace_id: UUID, mark: int) -> int:
    """Tell those whom comments mention, if they can see the board."""
    rows = Event.objects.filter(
        workspace_id=workspace_id,
        transaction__gte=mark,
        type=events.CARD_COMMENTED,
    )
    told = 0
    for event in rows.order_by("transaction", "id"):
        told += _tell_mentioned(event)
    return told


def _tell_mentioned(event: Event) -> int:
    comment = (
        Comment.objects.select_related("card", "author__workspace")
        .filter(pk=event.data.get("comment_id"))
        .first()
    )
    if comment is None:
        return 0
    handles = list(dict.fromkeys(_MENTION.findall(comment.text)))
    mentioned = (
        Actor.objects.enabled()
        .in_workspace(event.workspace_id)
        .filter(handle__in=handles[:MAX_MENTIONS_PER_COMMENT])
        .exclude(pk=comment.author_id)
        .order_by("id")
    )
    people = {actor.pk: actor for actor in mentioned}
    board_id = comment.card.board_id
    seeing = roles_now((one, board_id) for one in people)
    known = set(
        Message.objects.filter(event_id=event.pk, recipient_id__in=people).values_list(
            "recipient_id", flat=True
        )
    )
    new = [
        actor
        for pk, actor in people.items()
        if (pk, board_id) in seeing and pk not in known
    ]
    for actor in new:
        deliver(actor, [_mention(event, comment)])
    return len(new)


def _mention(event: Event, comment: Comment) -> Message:
    key = card_key(comment.author.workspace.key, comment.card.number)
    return Message(
        workspace_id=event.workspace_id,
        topic=MENTIONS,
        type="card.mentioned",
        correlation_id=str(comment.card_id),
        sender=comment.author,
        payload={
            "by": f"@{comment.author.handle}",
            "text": comment.text[:MAX_QUOTED_CHARACTERS],
            "comment_id": str(comment.pk),
            "key": key,
            "title": comment.card.title,
        },
        event_id=event.pk,
    )


def _rows(statement: str, values: dict[str, Any]) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        found: list[tuple[Any, ...]] = cursor.fetchall()
        return found
