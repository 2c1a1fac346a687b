"""Leases that have ended, latest claimed first, without a walk along all of them.

A page looks at no more than MOST_WALKED rows: where few of many match it has fewer
lines than were asked for, and goes on from where it got to.
"""

from typing import Any
from uuid import UUID

from django.db import connection

from accounts.pages import MAX_PAGE_SIZE, decode_cursor, encode_cursor, size_of
from supervision.holds.filtering import LeaseFilter

MOST_WALKED = 10_000
_UNHAPPY = ("failed", "expired", "released", "revoked")
# Each board's own index is walked (`lease_history`, or `lease_unhappy` for the few that
# had no result); what any of them hasn't walked to yet is left to the next page.
_WALK = """
WITH walked AS MATERIALIZED (
  SELECT b.id AS board_id, l.id, l.matches, l.n
  FROM unnest(%(boards)s::uuid[]) b (id) CROSS JOIN LATERAL (
    SELECT w.id, row_number() OVER (ORDER BY w.id DESC) AS n,
      w.state <> 'active' AND {matches} AS matches
    FROM (SELECT * FROM leases_lease x
      WHERE x.board_id = b.id AND x.id < %(before)s::uuid {narrow}
      ORDER BY x.id DESC LIMIT %(walk)s) w
  ) l
), reached AS (
  SELECT max(id::text)::uuid AS id FROM walked WHERE n = %(walk)s
)
SELECT w.id, r.id FROM reached r LEFT JOIN walked w
  ON w.matches AND (r.id IS NULL OR w.id >= r.id)
ORDER BY w.id DESC LIMIT %(limit)s
"""
_LAST = UUID(int=(1 << 128) - 1)


def ended_ids(
    boards: list[UUID], wanted: LeaseFilter, *, page_size: int, page_token: str
) -> tuple[list[UUID], str]:
    """The ids of a page, and where the next one begins. Raises BadCursor."""
    size = size_of(page_size)
    before = decode_cursor(page_token, tuple[UUID])[0] if page_token else _LAST
    tests = {
        "column_id": wanted.column_id,
        "holder_id": wanted.agent_id,
        "token_id": wanted.token_id,
        "state": wanted.ended_as,
    }
    given = {name: value for name, value in tests.items() if value}
    narrow = ""
    if wanted.ended_as in _UNHAPPY:
        named = ", ".join(f"'{one}'" for one in _UNHAPPY)
        narrow = f"AND x.state IN ({named}) AND x.state = '{wanted.ended_as}'"
    matches = " AND ".join(f"w.{name} = %({name})s" for name in given) or "true"
    values: dict[str, Any] = {
        **given,
        "boards": boards,
        "before": before,
        "walk": max(MAX_PAGE_SIZE, MOST_WALKED // max(1, len(boards))),
        "limit": size + 1,
    }
    with connection.cursor() as cursor:
        cursor.execute(_WALK.format(matches=matches, narrow=narrow), values)
        rows = cursor.fetchall()
    return _cut(rows, size)


def _cut(rows: list[tuple[Any, Any]], size: int) -> tuple[list[UUID], str]:
    reached = rows[0][1] if rows else None
    ids = [one for one, _ in rows if one is not None]
    if len(ids) > size:
        return ids[:size], encode_cursor(ids[size - 1])
    return ids, encode_cursor(reached) if reached else ""
