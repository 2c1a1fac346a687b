"""The end with a result, for leases that this process gave out (leases.handed) and for
those that must be looked at first."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

import msgspec

from accounts.callers import Caller
from accounts.ids import new_id
from boards import events
from leases.handed import Handed, Terms
from leases.statements.ending import (
    CARD_LOCKED,
    CLOCKED,
    FREED,
    LEASE_LOCKED,
    MANY_HELD,
    NEXT_POSITION,
    ONE_HELD,
    ONLY,
    RESULT,
    STILL_HELD,
    THEIRS,
    THESE,
    TOLD_OF_CARD,
    TOLD_OF_LEASE,
    event,
    recorded,
    told,
)
from leases.statements.running import compact, run

# As ONE_HELD for one that this process gave out (leases.handed): where it lies is known,
# and nothing is there for it where the contract has changed or the holder was told to
# stop.
_KNOWN_HELD = f"""
target AS MATERIALIZED (
  SELECT d.id, d.is_queue, d.checks_input
  FROM leases_contract k JOIN boards_column d ON d.id = {{target}}
  WHERE d.archived_at IS NULL AND k.column_id = %(column)s FOR KEY SHARE OF d
), held AS MATERIALIZED (
  SELECT c.*, l.*
  FROM (SELECT {CARD_LOCKED} FROM boards_card c
    WHERE (SELECT count(*) FROM target) >= 0 AND c.id = %(card)s
    FOR NO KEY UPDATE) c
  CROSS JOIN LATERAL (SELECT {LEASE_LOCKED} FROM leases_lease l
    WHERE l.id = {ONLY} AND l.card_id = c.id AND l.cancel_told_at IS NULL
    FOR NO KEY UPDATE) l
), clocked AS MATERIALIZED (
  SELECT {CLOCKED}, 1 AS n
  FROM held JOIN leases_contract k ON k.column_id = %(column)s AND k.version = %(version)s
  LEFT JOIN target d ON d.id = {{target}}
)"""
# And for many of those.
_KNOWN_HELD_MANY = f"""
target AS MATERIALIZED (
  SELECT d.id, d.is_queue, d.checks_input FROM boards_column d
  WHERE d.archived_at IS NULL AND d.id IN (SELECT {{target}} FROM leases_contract k
    WHERE k.column_id = ANY(%(columns)s::uuid[])) FOR KEY SHARE
), held AS MATERIALIZED (
  SELECT c.*, l.*, w.terms, w.output, w.properties, w.n
  FROM (SELECT * FROM unnest(%(leases)s::uuid[], %(cards)s::uuid[],
      %(versions)s::bigint[], %(outputs)s::jsonb[], %(properties)s::jsonb[])
      WITH ORDINALITY AS g (lease, card, terms, output, properties, n)
    WHERE (SELECT count(*) FROM target) >= 0 ORDER BY card) w
  CROSS JOIN LATERAL (SELECT {CARD_LOCKED} FROM boards_card c
    WHERE c.id = w.card FOR NO KEY UPDATE) c
  CROSS JOIN LATERAL (SELECT {LEASE_LOCKED} FROM leases_lease l
    WHERE l.id = w.lease AND l.card_id = c.id AND l.cancel_told_at IS NULL
    FOR NO KEY UPDATE) l
), clocked AS MATERIALIZED (
  SELECT {CLOCKED}
  FROM (SELECT count(*) FROM held) AS all_of_them, held
  JOIN leases_contract k ON k.column_id = held.queue_id AND k.version = held.terms
  LEFT JOIN target d ON d.id = {{target}}
)"""


_OF_MANY = f"""SELECT clocked.*, g.output, g.properties FROM clocked
  JOIN unnest(%(leases)s::uuid[], %(outputs)s::jsonb[], %(properties)s::jsonb[])
    AS g (lease_id, output, properties) USING (lease_id)
  WHERE {STILL_HELD}"""
_OF_ONE = f"""SELECT *, (%(outputs)s::jsonb[])[1] AS output,
    (%(properties)s::jsonb[])[1] AS properties
  FROM clocked WHERE {STILL_HELD}"""
_OF_KNOWN = f"SELECT * FROM clocked WHERE {STILL_HELD}"


def _complete(held: str, ending: str) -> str:
    parts = held.format(
        target="k.on_success_column_id", columns=THEIRS, pick=THESE, skip=""
    )
    return compact(f"""
WITH {parts},
ending AS MATERIALIZED (
  {ending}
), card AS (
  UPDATE boards_card c SET lease_id = NULL, holder_id = NULL, available_at = NULL,
    state = CASE WHEN e.is_queue THEN 'open' ELSE 'done' END,
    attempts = CASE WHEN e.is_queue THEN 0 ELSE c.attempts END,
    waits = CASE WHEN e.is_queue THEN 0 ELSE c.waits END,
    waits_since = CASE WHEN e.is_queue THEN NULL ELSE c.waits_since END,
    assignee_id = CASE WHEN e.is_queue THEN NULL ELSE c.assignee_id END,
    column_id = COALESCE(e.target, c.column_id),
    position = CASE WHEN e.target IS NULL THEN c.position ELSE {NEXT_POSITION} END,
    fits = CASE WHEN e.checks_input THEN NULL ELSE true END, misfit = NULL,
    output = COALESCE(e.output, c.output),
    properties = c.properties || COALESCE(e.properties, '{{}}'),
    version = c.version + 1, sequence = c.sequence + 1, updated_at = e.now
  FROM ending e WHERE c.id = e.id RETURNING {TOLD_OF_CARD}
), lease AS (
  UPDATE leases_lease l SET state = 'completed', ended_at = e.now, output = e.output
  FROM ending e, accounts_actor h WHERE l.id = e.lease_id AND h.id = l.holder_id
  RETURNING {TOLD_OF_LEASE}
), {FREED}, {recorded(event(events.LEASE_COMPLETED, "l.n", "c.sequence"))}
{RESULT}
""")


_COMPLETE_ONE = _complete(ONE_HELD, _OF_ONE)
_COMPLETE_KNOWN = _complete(_KNOWN_HELD, _OF_ONE)
_COMPLETE_MANY = _complete(MANY_HELD, _OF_MANY)
_COMPLETE_KNOWN_MANY = _complete(_KNOWN_HELD_MANY, _OF_KNOWN)


def complete(
    caller: Caller,
    leases: Sequence[UUID],
    outputs: Sequence[Any],
    properties: Sequence[Any],
) -> list[Any]:
    """End these with results; a row for each that was still held."""
    statement = _COMPLETE_ONE if len(leases) == 1 else _COMPLETE_MANY
    return told(run(statement, _results(caller, leases, outputs, properties)))


def complete_known(
    caller: Caller,
    leases: Sequence[tuple[Handed, Terms]],
    outputs: Sequence[Any],
    properties: Sequence[Any],
) -> list[Any]:
    """The same for those that this process gave out, while the contract of their column
    is as it was known here and the holder hasn't been told to stop."""
    ids = [lease.lease_id for lease, _ in leases]
    parameters = _results(caller, ids, outputs, properties)
    columns = [lease.column_id for lease, _ in leases]
    cards = [lease.card_id for lease, _ in leases]
    versions = [terms.version for _, terms in leases]
    if len(leases) == 1:
        known = {"column": columns[0], "card": cards[0], "version": versions[0]}
        return told(run(_COMPLETE_KNOWN, parameters | known))
    many = {"columns": columns, "cards": cards, "versions": versions}
    return told(run(_COMPLETE_KNOWN_MANY, parameters | many))


def _results(
    caller: Caller,
    leases: Sequence[UUID],
    outputs: Sequence[Any],
    properties: Sequence[Any],
) -> dict[str, Any]:
    return {
        "leases": list(leases),
        "outputs": [_json(value) for value in outputs],
        "properties": [_json(value) for value in properties],
        "events": [new_id() for _ in leases],
        "actor": caller.actor_id,
        "token": caller.token_id,
    }


def _json(value: Any) -> str | None:
    return None if value is None else msgspec.json.encode(value).decode()
