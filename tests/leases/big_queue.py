"""A queue with everything in the way that can be, made by SQL."""

from django.db import connection

from tests.builders import World, an_agent

AT_ONCE = 100_000
_CARDS = """
INSERT INTO boards_card (id, workspace_id, board_id, column_id, number, title,
  description, priority, position, labels, properties, state, fits, misfit, attempts,
  version, sequence, available_at, assignee_id, lease_id, holder_id)
SELECT lpad(to_hex(nextval('boards_card_position')), 32, '0')::uuid, %(workspace)s, %(board)s, %(column)s,
  nextval('boards_card_position') + 1000, 'Card', 'Text', %(priority)s,
  nextval('boards_card_position') * 16777216, '{}', '{}', %(state)s, %(fits)s,
  CASE WHEN NOT %(fits)s THEN '[]'::jsonb END, 0, 1, 1,
  CASE WHEN %(waits)s THEN now() + interval '1 day' END, %(assignee)s,
  CASE WHEN %(state)s = 'claimed' THEN gen_random_uuid() END,
  CASE WHEN %(state)s = 'claimed' THEN %(holder)s::uuid END
FROM generate_series(1, %(count)s) i
"""
_LEASES = """
INSERT INTO leases_lease (id, workspace_id, board_id, column_id, card_id, holder_id,
  state, attempt, nonce, seconds, acquired_at, expires_at, renewals, ended_at, outcome,
  reason, note)
SELECT COALESCE(lease_id, gen_random_uuid()), workspace_id, board_id, column_id, id,
  %(holder)s, CASE state WHEN 'claimed' THEN 'active' ELSE 'completed' END, 1, 'x', 300,
  now(), now() + interval '1 day', 0, CASE state WHEN 'done' THEN now() END, '', '', ''
FROM boards_card WHERE state IN ('claimed', 'done') AND description = 'Text'
"""
_EVENTS = """
INSERT INTO boards_event (id, workspace_id, type, card_id, sequence, data)
SELECT gen_random_uuid(), workspace_id, 'card.created', id, 1, '{}'
FROM boards_card WHERE description = 'Text'
"""


def fill(world: World, ready: int, *, in_the_way: bool = True) -> None:
    """`ready` cards for anyone, behind all kinds that can't be claimed."""
    if in_the_way:
        other = an_agent(world.workspace).actor_id
        add(world, 10_000, priority=1, waits=True)
        add(world, 10_000, priority=1, assignee=other)
        add(world, 1_000, priority=1, state="claimed", holder=other)
        add(world, 1_000, priority=1, fits=False)
        add(world, 20_000, priority=1, state="done")
        add(world, 5_000, priority=5, assignee=world.worker.actor_id)
        with connection.cursor() as cursor:
            cursor.execute(_LEASES, {"holder": world.worker.actor_id})
            cursor.execute(_EVENTS)
    add(world, ready)


def add(world: World, count: int, **kind: object) -> None:
    usual = {
        "priority": 3,
        "state": "open",
        "fits": True,
        "waits": False,
        "assignee": None,
        "holder": None,
    }
    given = {
        "workspace": world.workspace.pk,
        "board": world.board,
        "column": world.queue,
        **usual,
        **kind,
    }
    # Not all at once: the feed, also that of tests beside this one, waits for the
    # longest transaction of the server.
    for done in range(0, count, AT_ONCE):
        with connection.cursor() as cursor:
            cursor.execute(_CARDS, {**given, "count": min(AT_ONCE, count - done)})
