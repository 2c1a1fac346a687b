"""What a scrape of all queues needs: a few statements, whatever the history."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

from leases.statements.running import compact, run
from supervision.depths import Depth, depths
from supervision.histograms import added

_QUEUES = compact("""
SELECT k.id, w.slug AS workspace, b.name AS board, k.name AS queue,
  COALESCE(t.claims, 0) AS claims, COALESCE(t.completed, 0) AS completed,
  COALESCE(t.failed, 0) AS failed, COALESCE(t.dead_lettered, 0) AS dead_lettered,
  COALESCE(t.expired, 0) AS expired, COALESCE(t.released, 0) AS released,
  COALESCE(t.revoked, 0) AS revoked,
  COALESCE(t.run, '{}') AS run, COALESCE(t.wait, '{}') AS wait
FROM leases_contract c JOIN boards_column k ON k.id = c.column_id
JOIN boards_board b ON b.id = k.board_id
JOIN accounts_workspace w ON w.id = b.workspace_id
LEFT JOIN supervision_queuetotals t ON t.column_id = k.id
WHERE c.enabled AND k.archived_at IS NULL AND b.archived_at IS NULL
ORDER BY k.id
""")
_REAPER = compact("""
SELECT EXTRACT(EPOCH FROM statement_timestamp() - min(expires_at))::float8 AS seconds
FROM leases_lease WHERE ended_at IS NULL AND expires_at <= statement_timestamp()
""")
COUNTS = (
    *("claims", "completed", "failed", "dead_lettered"),
    *("expired", "released", "revoked"),
)
OTHER = "other"


@dataclass(frozen=True)
class QueueNow:
    """`counts`, `run` and `wait` (supervision.histograms) are of all times."""

    id: str
    workspace: str
    board: str
    queue: str
    counts: dict[str, int]
    run: Sequence[int]
    wait: Sequence[int]
    depth: Depth


def queues(most: int) -> list[QueueNow]:
    """Those of all workspaces, the oldest first, and all beyond `most` as one more that
    is called OTHER: so the first ones stay the same ones."""
    rows = run(_QUEUES, {})
    found = depths([row.id for row in rows])
    every = [_queue(row, found.get(row.id, Depth())) for row in rows]
    rest = every[most:]
    return [*every[:most], _together(rest)] if rest else every


def reaper_lag() -> float:
    """For how many seconds the longest-lapsed lease has been waiting to be ended."""
    seconds: float | None = run(_REAPER, {})[0].seconds
    return max(0.0, seconds or 0.0)


def _queue(row: Any, depth: Depth) -> QueueNow:
    return QueueNow(
        id=str(row.id),
        workspace=row.workspace,
        board=row.board,
        queue=row.queue,
        counts={name: getattr(row, name) for name in COUNTS},
        run=row.run,
        wait=row.wait,
        depth=depth,
    )


def _together(rest: Sequence[QueueNow]) -> QueueNow:
    return QueueNow(
        *(OTHER,) * 4,
        counts={name: sum(one.counts[name] for one in rest) for name in COUNTS},
        run=added(one.run for one in rest),
        wait=added(one.wait for one in rest),
        depth=Depth(
            *(
                sum(getattr(one.depth, field.name) for one in rest)
                for field in fields(Depth)
            )
        ),
    )
