"""All queues that somebody may see, as they stand: always the same few statements."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db.models import Q, QuerySet

from accounts.callers import Caller
from accounts.errors import NotFound
from accounts.roles import BoardRole
from boards import access
from boards.models import Board, BoardMember
from leases.models import Ask, Contract
from leases.reads import server_time
from supervision.depths import Depth, depths, oldest
from supervision.histograms import added, percentile
from supervision.models import QueueFigures
from supervision.stats.shapes import Percentiles, QueueStats, Rates
from supervision.stats.spans import HOUR, MINUTE, hour_before, span_of

MOST_QUEUES = 500
RECENT_MINUTES = 5
_RATES = ("completed", "failed", "dead_lettered", "expired")
_HOUR = span_of("1h")


@dataclass(frozen=True)
class Lately:
    """What the figures say of one queue. `minutes` are what the last ones of `rates`
    have lasted, the one that's under way so far included."""

    rates: Rates
    times: Percentiles
    minutes: float


def queue_stats(
    caller: Caller, *, column_ids: Iterable[UUID] | None = None
) -> list[QueueStats]:
    """The queues of the boards that the caller can see, by name; at most MOST_QUEUES."""
    contracts = _contracts(caller, column_ids)
    ids = [one.pk for one in contracts]
    counted, waits = depths(ids), oldest(ids)
    asked = dict(Ask.objects.filter(pk__in=ids).values_list("pk", "last_at"))
    lately = _lately(ids, server_time())
    return [
        _shape(
            one,
            counted.get(one.pk, Depth()),
            lately[one.pk],
            waits.get(one.pk),
            asked.get(one.pk),
        )
        for one in contracts
    ]


def one_queue(caller: Caller, *, column_id: UUID) -> QueueStats:
    """Raises NotFound."""
    found = queue_stats(caller, column_ids=[column_id])
    if not found:
        raise NotFound("There is no such queue here.")
    return found[0]


def column_of(caller: Caller, queue: str) -> tuple[UUID, UUID]:
    """The board and the column of a queue by its name. Raises NotFound."""
    found = _visible(caller).filter(queue=queue)
    row = found.values_list("column__board_id", "column_id").first()
    if row is None:
        raise NotFound(f"There is no queue {queue[:60]!r} here.")
    return row


def _visible(caller: Caller) -> QuerySet[Contract]:
    boards = Board.objects.filter(access.visible(caller), archived_at=None)
    return Contract.objects.filter(
        workspace_id=caller.workspace_id,
        enabled=True,
        column__archived_at=None,
        column__board__in=boards,
    )


def _contracts(caller: Caller, column_ids: Iterable[UUID] | None) -> Sequence[Contract]:
    rows = _visible(caller).select_related("column__board").order_by("queue")
    if column_ids is not None:
        rows = rows.filter(pk__in=list(column_ids))
    return list(rows.defer("input_schema", "output_schema")[:MOST_QUEUES])


def _lately(ids: Sequence[UUID], now: datetime) -> dict[UUID, Lately]:
    starts = _HOUR.starts(now)
    places = {start: number for number, start in enumerate(starts)}
    rates = {one: {name: [0] * len(starts) for name in _RATES} for one in ids}
    minutes = QueueFigures.objects.filter(
        column_id__in=ids, span=MINUTE, start__gte=starts[0]
    )
    for column_id, start, *counts in minutes.values_list("column_id", "start", *_RATES):
        if start in places:
            for name, count in zip(_RATES, counts, strict=True):
                rates[column_id][name][places[start]] = count
    times = _times(ids, now)
    lasted = RECENT_MINUTES - 1 + (now - starts[-1]).total_seconds() / MINUTE
    return {
        one: Lately(Rates(**rates[one]), times.get(one, Percentiles()), lasted)
        for one in ids
    }


def _times(ids: Sequence[UUID], now: datetime) -> dict[UUID, Percentiles]:
    hours = QueueFigures.objects.filter(
        column_id__in=ids, span=HOUR, start__gte=hour_before(now)
    )
    waits: dict[UUID, list[list[int]]] = {}
    runs: dict[UUID, list[list[int]]] = {}
    for column_id, wait, run in hours.values_list("column_id", "wait", "run"):
        waits.setdefault(column_id, []).append(wait)
        runs.setdefault(column_id, []).append(run)
    return {
        one: percentiles(added(waits.get(one, [])), added(runs.get(one, [])))
        for one in waits
    }


def percentiles(wait: Sequence[int], run: Sequence[int]) -> Percentiles:
    return Percentiles(
        wait_p50=percentile(wait, 0.5),
        wait_p95=percentile(wait, 0.95),
        run_p50=percentile(run, 0.5),
        run_p95=percentile(run, 0.95),
    )


def success_rate(completed: int, failed: int, expired: int) -> float | None:
    ended = completed + failed + expired
    return round(completed / ended, 4) if ended else None


def _shape(
    one: Contract,
    depth: Depth,
    lately: Lately,
    oldest_seconds: float | None,
    asked_at: datetime | None,
) -> QueueStats:
    rates = lately.rates
    return QueueStats(
        queue=one.queue,
        column_id=one.pk,
        column=one.column.name,
        board_id=one.column.board_id,
        board=one.column.board.name,
        state=_state(one, depth),
        pause_reason=one.pause_reason,
        depth=depth.ready,
        working=depth.working,
        limit=one.concurrency_limit,
        waiting=depth.waiting,
        misfits=depth.misfits,
        failed=depth.failed,
        lapsed=depth.lapsed,
        agents=depth.holders,
        oldest_seconds=oldest_seconds,
        asked_at=asked_at,
        completed_per_minute=_per_minute(rates.completed, lately.minutes),
        failed_per_minute=_per_minute(rates.failed, lately.minutes),
        success_rate=success_rate(
            sum(rates.completed), sum(rates.failed), sum(rates.expired)
        ),
        times=lately.times,
        last_hour=rates,
    )


def _state(one: Contract, depth: Depth) -> str:
    if not one.paused:
        return "running"
    return "draining" if depth.working else "paused"


def _per_minute(counts: Sequence[int], minutes: float) -> float:
    return round(sum(counts[-RECENT_MINUTES:]) / minutes, 2)


def managed_boards(caller: Caller) -> frozenset[UUID]:
    """The boards whose queues the caller may pause."""
    boards = Board.objects.filter(workspace_id=caller.workspace_id, archived_at=None)
    if not caller.is_admin():
        named = BoardMember.objects.filter(actor_id=caller.actor_id)
        boards = boards.filter(
            Q(pk__in=named.filter(role__gte=BoardRole.MANAGER).values("board_id"))
            | Q(default_role__gte=BoardRole.MANAGER)
            & ~Q(pk__in=named.values("board_id"))
        )
    return frozenset(boards.values_list("pk", flat=True))
