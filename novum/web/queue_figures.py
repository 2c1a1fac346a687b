"""The charts of a queue: as JSON to be drawn, and as the rows of a table.

The rows are made here, as faces of cards are: a template would take a tenth of a second
for a month of them. There's nothing in them but numbers and times.
"""

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import msgspec
from django.utils.safestring import SafeString, mark_safe

from novum.templatetags.lengths import brief
from supervision.stats.shapes import Series

_COUNTS = (
    *("claims", "completed", "failed", "dead_lettered", "expired"),
    *("depth", "working"),
)
_TIMES = (("wait_p50", "wait_p95"), ("run_p50", "run_p95"))


def as_json(series: Series) -> str:
    return json.dumps(msgspec.to_builtins(series), separators=(",", ":"))


def as_rows(series: Series) -> SafeString:
    """The latest step first, without those in which nothing happened."""
    counts: list[Sequence[int]] = [getattr(series, name) for name in _COUNTS]
    times: list[tuple[Sequence[Any], Sequence[Any]]] = [
        (getattr(series, low), getattr(series, high)) for low, high in _TIMES
    ]
    rows = []
    for number in reversed(range(len(series.at))):
        told = [column[number] for column in counts]
        if any(told):
            cells = [str(count) for count in told]
            cells += [
                f"{brief(low[number])} · {brief(high[number])}" for low, high in times
            ]
            rows.append(_row(series.at[number], cells))
    return mark_safe("".join(rows))


def _row(at: int, cells: Sequence[str]) -> str:
    moment = datetime.fromtimestamp(at, UTC)
    numbers = "".join(f'<td class="num">{cell}</td>' for cell in cells)
    return (
        f'<tr><th scope="row"><time datetime="{moment.isoformat()}">'
        f"{moment:%Y-%m-%d %H:%M} UTC</time></th>{numbers}</tr>"
    )
