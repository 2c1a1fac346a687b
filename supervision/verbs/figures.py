"""Add up what was read, and add it to the rows of the minutes and hours."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from boards import events
from leases.statements.running import compact, run

COUNTS = {
    events.LEASE_CLAIMED: "claims",
    events.LEASE_COMPLETED: "completed",
    events.LEASE_FAILED: "failed",
    events.LEASE_DEADLETTERED: "dead_lettered",
    events.LEASE_EXPIRED: "expired",
    events.LEASE_RELEASED: "released",
    events.LEASE_REVOKED: "revoked",
}
_MINUTE, _HOUR = 60, 3600
_QUEUE = ("run", "wait", "quiet", "gap")
_HOLDER = ("run",)
_TOTAL = ("run", "wait")


@dataclass
class Sums:
    counts: Counter[str] = field(default_factory=Counter)
    histograms: dict[str, Counter[int]] = field(default_factory=dict)
    depth: int = 0
    working: int = 0

    def add(self, row: Any, *, silence: bool = False) -> None:
        name = COUNTS[row.type]
        self.counts[name] += row.times
        if row.took is not None:
            kind = "wait" if name == "claims" else "run"
            self._put(kind, row.took, row.times)
        if silence and row.silent is not None:
            self._put("gap" if row.renewed else "quiet", row.silent, row.times)

    def _put(self, kind: str, number: int, times: int) -> None:
        self.histograms.setdefault(kind, Counter())[number] += times

    def histogram(self, kind: str) -> list[int]:
        found = self.histograms.get(kind)
        if not found:
            return []
        return [found[number] for number in range(max(found) + 1)]


@dataclass
class Tally:
    """Sums of queues by (column, span, start) and of holders by (column, span, start,
    holder); `totals` of queues, of all times."""

    queues: dict[tuple[UUID, int, datetime], Sums] = field(default_factory=dict)
    holders: dict[tuple[UUID, int, datetime, UUID], Sums] = field(default_factory=dict)
    totals: dict[tuple[UUID], Sums] = field(default_factory=dict)

    def add(self, row: Any) -> None:
        """What happened `times` times in one minute of one queue."""
        self.totals.setdefault((row.column_id,), Sums()).add(row)
        for span, start in _spans(row.minute):
            queue = self.queues.setdefault((row.column_id, span, start), Sums())
            # What another lease length would do is asked of days, not of minutes.
            queue.add(row, silence=span == _HOUR)
            if row.holder_id is not None:
                key = (row.column_id, span, start, row.holder_id)
                self.holders.setdefault(key, Sums()).add(row)

    def sample(
        self, column_id: UUID, at: datetime, *, depth: int, working: int
    ) -> None:
        for span, start in _spans(at.replace(second=0, microsecond=0)):
            sums = self.queues.setdefault((column_id, span, start), Sums())
            sums.depth, sums.working = depth, working


def _spans(minute: datetime) -> tuple[tuple[int, datetime], ...]:
    return (_MINUTE, minute), (_HOUR, minute.replace(minute=0))


def write(tally: Tally) -> None:
    """Add the sums to what is there. In the order of the keys, so that nobody who does
    the same can wait for us while we wait for them."""
    if tally.queues:
        keys = sorted(tally.queues)
        sums = [tally.queues[key] for key in keys]
        values = _values(keys, sums, _QUEUE)
        values["depth"] = [one.depth for one in sums]
        values["working"] = [one.working for one in sums]
        run(_WRITE_QUEUES, values)
    if tally.holders:
        holders = sorted(tally.holders)
        sums = [tally.holders[key] for key in holders]
        run(_WRITE_HOLDERS, _values(holders, sums, _HOLDER))
    if tally.totals:
        columns = sorted(tally.totals)
        sums = [tally.totals[column] for column in columns]
        run(_WRITE_TOTALS, _values(columns, sums, _TOTAL))


def _values(
    keys: Sequence[tuple[Any, ...]], sums: Sequence[Sums], kinds: Sequence[str]
) -> dict[str, list[Any]]:
    """By the names of the table's columns."""
    names = ("column_id", "span", "start", "holder_id")
    values = {
        name: list(column)
        for name, column in zip(names, zip(*keys, strict=True), strict=False)
    }
    for name in COUNTS.values():
        values[name] = [one.counts[name] for one in sums]
    for kind in kinds:
        values[kind] = [_array(one.histogram(kind)) for one in sums]
    return values


def _array(numbers: Iterable[int]) -> str:
    return "{" + ",".join(map(str, numbers)) + "}"


_KEY = {"column_id": "uuid", "span": "smallint", "start": "timestamptz"}


def _statement(
    table: str, key: Mapping[str, str], kinds: Sequence[str], tops: Sequence[str] = ()
) -> str:
    """Add to rows or make them: counts and histograms are added up, of `tops` the
    higher one stays. A column that is gone for good keeps none of the others back."""
    types = dict(key)
    types |= dict.fromkeys([*COUNTS.values(), *tops], "int")
    types |= dict.fromkeys(kinds, "text")
    given = ", ".join(f"%({name})s::{type}[]" for name, type in types.items())
    values = ", ".join(f"{name}::int[]" if name in kinds else name for name in types)
    changes = [f"{name} = f.{name} + excluded.{name}" for name in COUNTS.values()]
    changes += [f"{name} = GREATEST(f.{name}, excluded.{name})" for name in tops]
    changes += [f"{name} = {_ADDED.format(name)}" for name in kinds]
    return compact(f"""
INSERT INTO {table} AS f ({", ".join(types)})
SELECT {values} FROM unnest({given}) AS n ({", ".join(types)})
WHERE EXISTS (SELECT FROM boards_column c WHERE c.id = n.column_id)
ON CONFLICT ({", ".join(key)}) DO UPDATE SET {", ".join(changes)}
""")


# The shorter one is filled up with nulls.
_ADDED = """CASE WHEN cardinality(excluded.{0}) = 0 THEN f.{0} ELSE ARRAY(
    SELECT COALESCE(a, 0) + COALESCE(b, 0) FROM unnest(f.{0}, excluded.{0}) AS u (a, b))
  END"""
_WRITE_QUEUES = _statement(
    "supervision_queuefigures", _KEY, _QUEUE, ("depth", "working")
)
_WRITE_HOLDERS = _statement(
    "supervision_holderfigures", _KEY | {"holder_id": "uuid"}, _HOLDER
)
_WRITE_TOTALS = _statement("supervision_queuetotals", {"column_id": "uuid"}, _TOTAL)
