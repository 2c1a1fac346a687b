"""Roll up: add what the events tell to the figures of their minutes and hours.

A workspace's cursor follows its events in the order of the feed (boards.reads): only
what is older than every transaction still running, so nothing is left out that commits
late. Figures and cursor move in one transaction, under the cursor's lock: each event
counts once, however many do this at the same time.
"""

from typing import Any
from uuid import UUID

from django.db import transaction

from boards import events
from boards.models import ClockTimestamp
from leases.statements.running import compact, run
from supervision.histograms import BOUNDS
from supervision.models import RollUp
from supervision.ready_since import quoted, ready_since
from supervision.verbs.figures import Tally, write
from supervision.verbs.sample import sample_when_due

BATCH = 2_000
# Of one workspace in one pass; the rest is the next pass's.
MAX_BATCHES = 50

_TOLD = (
    events.LEASE_CLAIMED,
    events.LEASE_COMPLETED,
    events.LEASE_FAILED,
    events.LEASE_DEADLETTERED,
    events.LEASE_EXPIRED,
    events.LEASE_RELEASED,
    events.LEASE_REVOKED,
)


def _bucket(since: str, until: str) -> str:
    seconds = f"EXTRACT(EPOCH FROM {until} - {since})::float8"
    return f"width_bucket({seconds}, %(bounds)s::float8[])"


_ON_AVERAGE = "(l.acquired_at + (l.renewed_at - l.acquired_at) / l.renewals)"
# One row for each kind of thing that happened, with how often; at least one, which says
# how far the batch goes.
_READ = compact(f"""
WITH batch AS MATERIALIZED (
  SELECT e.id, e.transaction, e.type, e.column_id, e.card_id, e.lease_id, e.sequence,
    e.created_at
  FROM boards_event e
  WHERE e.workspace_id = %(workspace)s AND e.transaction >= %(mark)s
    AND (e.transaction, e.id) > (%(mark)s, %(event)s)
    AND e.transaction < pg_snapshot_xmin(pg_current_snapshot())::text::bigint
  ORDER BY e.transaction, e.id LIMIT {BATCH}
), measured AS (
  SELECT b.column_id, date_trunc('minute', b.created_at, 'UTC') AS minute, l.holder_id,
    b.type, CASE
      WHEN b.type = '{events.LEASE_CLAIMED}'
      THEN {_bucket("COALESCE(s.since, c.created_at)", "l.acquired_at")}
      WHEN b.type IN ('{events.LEASE_COMPLETED}', '{events.LEASE_FAILED}')
      THEN {_bucket("l.acquired_at", "l.ended_at")} END AS took,
    l.renewals > 0 AS renewed, CASE
      WHEN l.seconds IS NULL OR b.type IN ('{events.LEASE_CLAIMED}',
        '{events.LEASE_EXPIRED}', '{events.LEASE_DEADLETTERED}') THEN NULL
      WHEN l.renewals = 0 THEN {_bucket("l.acquired_at", "l.ended_at")}
      ELSE GREATEST({_bucket("l.renewed_at", "l.ended_at")},
        {_bucket("l.acquired_at", _ON_AVERAGE)})
      END AS silent
  FROM batch b LEFT JOIN leases_lease l ON l.id = b.lease_id
  LEFT JOIN boards_card c ON c.id = b.card_id AND b.type = '{events.LEASE_CLAIMED}'
  LEFT JOIN LATERAL ({ready_since("b.card_id", "b.sequence")}) s ON b.type = '{events.LEASE_CLAIMED}'
  WHERE b.column_id IS NOT NULL AND b.type IN ({quoted(_TOLD)})
)
SELECT z.read, z.transaction, z.event, m.*
FROM (SELECT count(*) AS read, max(transaction) AS transaction,
    (SELECT id FROM batch ORDER BY transaction DESC, id DESC LIMIT 1) AS event
  FROM batch) z
LEFT JOIN (SELECT column_id, minute, holder_id, type, took, renewed, silent,
    count(*) AS times FROM measured GROUP BY 1, 2, 3, 4, 5, 6, 7) m ON true
""")

# One look for all workspaces, most of which have no news most of the time.
_WITH_NEWS = compact("""
SELECT r.workspace_id FROM supervision_rollup r
WHERE EXISTS (SELECT FROM boards_event e
    WHERE e.workspace_id = r.workspace_id AND e.transaction >= r.transaction
      AND (e.transaction, e.id) > (r.transaction, r.event_id)
      AND e.transaction < pg_snapshot_xmin(pg_current_snapshot())::text::bigint)
  OR r.sampled_at IS NULL OR r.sampled_at < date_trunc('minute', clock_timestamp())
ORDER BY r.workspace_id
""")
_JOIN = compact("""
INSERT INTO supervision_rollup (workspace_id)
SELECT w.id FROM accounts_workspace w WHERE NOT EXISTS (
  SELECT FROM supervision_rollup r WHERE r.workspace_id = w.id)
ON CONFLICT DO NOTHING
""")


def roll_up_all() -> int:
    """A pass over all workspaces with news; how many events were read. Safe to run many
    at once: a workspace that somebody is at is passed over."""
    run(_JOIN, {})
    return sum(roll_up(row.workspace_id) for row in run(_WITH_NEWS, {}))


def roll_up(workspace_id: UUID) -> int:
    """What has happened in one workspace since the last time, and once a minute how
    much lies in its queues; how many events were read."""
    done = 0
    for _ in range(MAX_BATCHES):
        read = _roll_up(workspace_id)
        done += read
        if read < BATCH:
            break
    return done


@transaction.atomic
def _roll_up(workspace_id: UUID) -> int:
    mark = (
        RollUp.objects.select_for_update(skip_locked=True, no_key=True)
        .filter(pk=workspace_id)
        .first()
    )
    if mark is None:
        return 0
    rows = _read(mark)
    tally = Tally()
    for row in rows:
        if row.times:
            tally.add(row)
    sampled = sample_when_due(mark, tally)
    write(tally)
    read: int = rows[0].read
    if read:
        mark.transaction, mark.event_id = rows[0].transaction, rows[0].event
    if read or sampled:
        mark.rolled_at = ClockTimestamp()
        mark.save(update_fields=["transaction", "event_id", "sampled_at", "rolled_at"])
    return read


def _read(mark: RollUp) -> list[Any]:
    values = {
        "workspace": mark.pk,
        "mark": mark.transaction,
        "event": mark.event_id,
        "bounds": list(BOUNDS),
    }
    return run(_READ, values)
