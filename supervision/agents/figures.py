"""What seats hold now, and what they did in the last 24 hours: from rolled-up hours,
and of single tokens from a bounded look at the latest attempts."""

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db import connection
from django.db.models import Count, Q
from django.db.models.functions import Now

from accounts import reads
from accounts.callers import Caller
from accounts.models import WorkerToken
from accounts.pages import Page, paged
from accounts.shapes import AgentShape
from leases.models import Lease
from leases.reads import server_time
from supervision.agents.shapes import AgentDetail, AgentFigures, WorkerFigures
from supervision.histograms import added, percentile
from supervision.models import Counts, HolderFigures
from supervision.needs.scope import Scope, scope
from supervision.stats.shapes import Totals

DAY = timedelta(hours=24)
MOST_LOOKED_AT = 10_000
MOST_WORKERS = 200
_COUNTS = Totals.__struct_fields__

# Along each board's own history, from its latest attempt on.
_WORKERS = """
WITH looked AS MATERIALIZED (
  SELECT l.* FROM unnest(%(boards)s::uuid[]) b (id) CROSS JOIN LATERAL (
    SELECT x.board_id, x.holder_id, x.token_id, x.state, x.acquired_at, x.ended_at
    FROM leases_lease x WHERE x.board_id = b.id
    ORDER BY x.id DESC LIMIT %(each)s) l
), reached AS (
  SELECT max(f.at) AS at FROM (
    SELECT min(l.acquired_at) AS at, count(*) AS n FROM looked l
    GROUP BY l.board_id) f WHERE f.n >= %(each)s AND f.at > %(since)s
)
SELECT l.token_id, (SELECT at FROM reached),
  count(*),
  count(*) FILTER (WHERE l.state = 'completed'),
  count(*) FILTER (WHERE l.state = 'failed'),
  count(*) FILTER (WHERE l.state = 'expired'),
  count(*) FILTER (WHERE l.state = 'released'),
  count(*) FILTER (WHERE l.state = 'revoked'),
  percentile_cont(ARRAY[0.5, 0.95]) WITHIN GROUP (
    ORDER BY EXTRACT(EPOCH FROM l.ended_at - l.acquired_at)::float8)
    FILTER (WHERE l.state IN ('completed', 'failed'))
FROM looked l WHERE l.holder_id = %(holder)s
  AND l.acquired_at >= GREATEST(%(since)s, (SELECT at FROM reached))
GROUP BY l.token_id
"""
# As they come from it.
_OF_WORKER = (
    "claims",
    "completed",
    "failed",
    "expired",
    "released",
    "revoked_leases",
)


@paged
def agent_figures(
    caller: Caller, *, page_size: int, page_token: str
) -> Page[AgentFigures]:
    """The workspace's seats, each with its figures. Raises BadCursor."""
    page = reads.agents(caller, page_size=page_size, page_token=page_token)
    return Page(figures_of(caller, page.items), page.next_page_token)


def agent_detail(caller: Caller, *, agent_id: UUID) -> AgentDetail:
    """One seat, with what each of its tokens did. Raises NotFound."""
    agent = reads.agent(caller, agent_id=agent_id)
    seen = scope(caller)
    (figures,) = _figures(caller, [agent], seen)
    workers, since = _workers(caller, agent_id, seen)
    return AgentDetail(figures, workers, since)


def figures_of(caller: Caller, agents: Sequence[AgentShape]) -> list[AgentFigures]:
    """In their order."""
    return _figures(caller, agents, scope(caller))


def _figures(
    caller: Caller, agents: Sequence[AgentShape], seen: Scope
) -> list[AgentFigures]:
    ids = [one.id for one in agents]
    columns = seen.columns
    held, doing = _held(caller, ids, columns), _doing(caller, ids, columns)
    done = _done(ids, columns, server_time() - DAY)
    found = []
    for one in agents:
        holds, lapsed = held.get(one.id, (0, 0))
        text, at = doing.get(one.id, ("", None))
        totals, run = done[one.id]
        found.append(
            AgentFigures(
                agent=one,
                holds=holds,
                lapsed=lapsed,
                doing=text,
                doing_at=at,
                totals=totals,
                run_p50=percentile(run, 0.5),
                run_p95=percentile(run, 0.95),
            )
        )
    return found


def _active(caller: Caller, ids: list[UUID], columns: list[UUID]) -> Any:
    return Lease.objects.filter(
        workspace_id=caller.workspace_id,
        state=Lease.State.ACTIVE,
        holder_id__in=ids,
        column_id__in=columns,
    )


def _held(
    caller: Caller, ids: list[UUID], columns: list[UUID]
) -> dict[UUID, tuple[int, int]]:
    rows = _active(caller, ids, columns).order_by().values_list("holder_id")
    found = rows.annotate(
        holds=Count("id"), gone=Count("id", filter=Q(expires_at__lte=Now()))
    )
    return {holder: (holds, gone) for holder, holds, gone in found}


def _doing(
    caller: Caller, ids: list[UUID], columns: list[UUID]
) -> dict[UUID, tuple[str, datetime]]:
    rows = _active(caller, ids, columns).exclude(doing="")
    latest = rows.order_by("holder_id", "-doing_at").distinct("holder_id")
    found = latest.values_list("holder_id", "doing", "doing_at")
    return {holder: (text, at) for holder, text, at in found}


def _done(
    ids: list[UUID], columns: list[UUID], since: datetime
) -> dict[UUID, tuple[Totals, list[int]]]:
    sums: dict[UUID, list[int]] = {one: [0] * len(_COUNTS) for one in ids}
    runs: dict[UUID, list[list[int]]] = defaultdict(list)
    rows = HolderFigures.objects.filter(
        holder_id__in=ids,
        span=Counts.Span.HOUR,
        start__gte=since,
        column_id__in=columns,
    )
    for holder, run, *counts in rows.values_list("holder_id", "run", *_COUNTS):
        runs[holder].append(run)
        sums[holder] = [a + b for a, b in zip(sums[holder], counts, strict=True)]
    return {one: (Totals(*sums[one]), added(runs[one])) for one in ids}


def _workers(
    caller: Caller, agent_id: UUID, seen: Scope
) -> tuple[list[WorkerFigures], datetime | None]:
    boards = seen.boards
    since = server_time() - DAY
    values: dict[str, Any] = {
        "boards": boards,
        "each": max(200, MOST_LOOKED_AT // max(1, len(boards))),
        "since": since,
        "holder": agent_id,
    }
    with connection.cursor() as cursor:
        cursor.execute(_WORKERS, values)
        rows = {row[0]: row[1:] for row in cursor.fetchall()}
    tokens = WorkerToken.objects.filter(
        actor_id=agent_id, workspace_id=caller.workspace_id
    ).filter(Q(revoked_at=None) | Q(pk__in=[one for one in rows if one]))
    held = _active(caller, [agent_id], seen.columns).order_by().values_list("token_id")
    holds = dict(held.annotate(holds=Count("id")))
    named = list(tokens.order_by("revoked_at", "-last_used_at", "-id")[:MOST_WORKERS])
    found = [_worker(one, holds.get(one.pk, 0), rows.get(one.pk)) for one in named]
    known = {one.pk for one in named}
    found += [
        _worker(None, holds.get(pk, 0), row)
        for pk, row in rows.items()
        if pk not in known
    ]
    reached = next(iter(rows.values()))[0] if rows else None
    return found, reached


def _worker(token: WorkerToken | None, holds: int, row: Any) -> WorkerFigures:
    _, *counts, times = row or (None, *[0] * len(_OF_WORKER), None)
    run_p50, run_p95 = times or (None, None)
    return WorkerFigures(
        token_id=token.pk if token else None,
        name=token.name if token else None,
        last_used_at=token.last_used_at if token else None,
        revoked=bool(token and token.revoked_at),
        holds=holds,
        run_p50=run_p50,
        run_p95=run_p95,
        **dict(zip(_OF_WORKER, counts, strict=True)),
    )
