"""The table of queues: what is shown of each, filtered and sorted by the address."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.http import HttpRequest
from django.utils.timezone import now
from django.utils.translation import gettext_lazy

from supervision.stats.shapes import QueueStats, Rates

# So long a card may lie there without anybody asking.
UNATTENDED = timedelta(minutes=10)
POOR_SUCCESS = 0.9
SPARK_HEIGHT, SPARK_STEP = 24, 2
PER_PAGE = 50

_KEYS: dict[str, Callable[[QueueStats], Any]] = {
    "queue": lambda one: one.queue,
    "depth": lambda one: one.depth,
    "working": lambda one: one.working,
    "waiting": lambda one: one.waiting + one.misfits,
    "failed": lambda one: one.failed,
    "oldest": lambda one: one.oldest_seconds or 0.0,
    "rate": lambda one: one.completed_per_minute,
    "success": lambda one: 2.0 if one.success_rate is None else one.success_rate,
    "wait": lambda one: one.times.wait_p95 or 0.0,
    "run": lambda one: one.times.run_p95 or 0.0,
}
_HEADS = {
    "queue": gettext_lazy("Queue"),
    "depth": gettext_lazy("Ready"),
    "working": gettext_lazy("Working"),
    "waiting": gettext_lazy("Waiting"),
    "failed": gettext_lazy("Failed"),
    "oldest": gettext_lazy("Oldest"),
    "rate": gettext_lazy("Last hour"),
    "success": gettext_lazy("Success"),
    "wait": gettext_lazy("Wait p50 · p95"),
    "run": gettext_lazy("Run p50 · p95"),
}
# What is sorted by a number begins with the largest; success with the poorest.
_RISING = ("queue", "success")


@dataclass(frozen=True)
class Wanted:
    """`sort` is a column, with a minus for falling; pages are numbered from 1."""

    q: str = ""
    board: UUID | None = None
    paused: bool = False
    trouble: bool = False
    sort: str = "queue"
    page: int = 1

    @property
    def is_active(self) -> bool:
        return bool(self.q or self.board or self.paused or self.trouble)

    def link(self, **changes: Any) -> str:
        named = {
            "q": self.q,
            "board": self.board,
            "paused": "yes" if self.paused else "",
            "trouble": "yes" if self.trouble else "",
            "sort": "" if self.sort == "queue" else self.sort,
            **changes,
        }
        return "?" + urlencode({name: each for name, each in named.items() if each})


@dataclass(frozen=True)
class Head:
    """A column's head: where it leads, and how it's sorted now (as ARIA says it)."""

    name: str
    label: Any
    link: str
    sorted: str


@dataclass(frozen=True)
class Row:
    """`spark` are the paths of the last hour, `troubles` what is wrong in words."""

    stats: QueueStats
    may_manage: bool
    spark: tuple[str, str]
    troubles: list[tuple[str, Any]]


@dataclass(frozen=True)
class Shown:
    """One page of rows, of `total`; where the pages before and after it are."""

    rows: list[Row]
    total: int
    before: str
    after: str


def wanted_of(request: HttpRequest) -> Wanted:
    """A link never leads to an error page: what doesn't exist is left out."""
    given = request.GET
    try:
        board = UUID(given.get("board", ""))
    except ValueError:
        board = None
    sort = given.get("sort", "")
    return Wanted(
        q=given.get("q", "").strip()[:100],
        board=board,
        paused=given.get("paused") == "yes",
        trouble=given.get("trouble") == "yes",
        sort=sort if sort.removeprefix("-") in _KEYS else "queue",
        page=_number(given.get("page", "")),
    )


def shown(
    stats: Iterable[QueueStats], wanted: Wanted, managed: Iterable[UUID]
) -> Shown:
    """Those that the filter lets through, in order; where equal, by name."""
    found = [one for one in stats if _matches(one, wanted)]
    key = _KEYS[wanted.sort.removeprefix("-")]
    found.sort(key=key, reverse=wanted.sort.startswith("-"))
    mine, first = frozenset(managed), (wanted.page - 1) * PER_PAGE
    return Shown(
        rows=[
            row_of(one, one.board_id in mine) for one in found[first : first + PER_PAGE]
        ],
        total=len(found),
        before=wanted.link(page=wanted.page - 1) if first else "",
        after=wanted.link(page=wanted.page + 1)
        if first + PER_PAGE < len(found)
        else "",
    )


def row_of(one: QueueStats, may_manage: bool) -> Row:
    return Row(one, may_manage, spark(one.last_hour), troubles(one))


def heads(wanted: Wanted) -> list[Head]:
    return [_head(name, label, wanted) for name, label in _HEADS.items()]


def troubles(one: QueueStats) -> list[tuple[str, Any]]:
    """Icon and words."""
    found: list[tuple[str, Any]] = []
    if one.state == "running" and _is_unattended(one):
        found.append(("bot", gettext_lazy("nobody asks")))
    if one.lapsed:
        found.append(("hourglass", gettext_lazy("lapsed leases")))
    if one.misfits:
        found.append(("circle-alert", gettext_lazy("misfits")))
    if one.success_rate is not None and one.success_rate < POOR_SUCCESS:
        found.append(("triangle-alert", gettext_lazy("many fail")))
    return found


def spark(hour: Rates | None) -> tuple[str, str]:
    """Two SVG paths of upright strokes, one a minute: what was completed, and above it
    what failed or lapsed."""
    if hour is None:
        return "", ""
    bad = [sum(each) for each in zip(hour.failed, hour.expired, strict=True)]
    highest = max((a + b for a, b in zip(hour.completed, bad, strict=True)), default=0)
    if not highest:
        return "", ""
    unit = SPARK_HEIGHT / highest
    done = _strokes((0.0, count * unit) for count in hour.completed)
    failed = _strokes(
        (good * unit, count * unit)
        for good, count in zip(hour.completed, bad, strict=True)
    )
    return done, failed


def _strokes(bars: Iterable[tuple[float, float]]) -> str:
    return "".join(
        f"M{number * SPARK_STEP + 1} {SPARK_HEIGHT - low:.1f}v-{max(tall, 1):.1f}"
        for number, (low, tall) in enumerate(bars)
        if tall
    )


def _matches(one: QueueStats, wanted: Wanted) -> bool:
    words = f"{one.queue} {one.column} {one.board}".casefold()
    return (
        wanted.q.casefold() in words
        and (wanted.board is None or one.board_id == wanted.board)
        and (not wanted.paused or one.state != "running")
        and (not wanted.trouble or bool(troubles(one)))
    )


def _number(typed: str) -> int:
    """A page's number; the first one for what is none."""
    is_one = typed.isascii() and typed.isdecimal() and len(typed) < 4
    return max(1, int(typed)) if is_one else 1


def _is_unattended(one: QueueStats) -> bool:
    if (one.oldest_seconds or 0.0) < UNATTENDED.total_seconds():
        return False
    return one.asked_at is None or now() - one.asked_at > UNATTENDED


def _head(name: str, label: Any, wanted: Wanted) -> Head:
    current, falls = wanted.sort.removeprefix("-"), wanted.sort.startswith("-")
    if name != current:
        return Head(
            name, label, wanted.link(sort=name if name in _RISING else f"-{name}"), ""
        )
    turned = name if falls else f"-{name}"
    order = "descending" if falls else "ascending"
    return Head(name, label, wanted.link(sort=turned), order)


def boards(stats: Sequence[QueueStats]) -> list[tuple[UUID, str]]:
    named = {one.board_id: one.board for one in stats}
    return sorted(named.items(), key=lambda one: one[1].casefold())
