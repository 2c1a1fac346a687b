"""The spans of time that figures are shown for, cut into steps."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from supervision.models import Counts

MINUTE, HOUR = Counts.Span.MINUTE.value, Counts.Span.HOUR.value


@dataclass(frozen=True)
class Span:
    """`seconds` in steps of `step`, of rows of `rows` seconds each. By holder it's read
    from rows of `holder_rows`: there are many holders."""

    name: str
    seconds: int
    step: int
    rows: int
    holder_rows: int

    def starts(self, now: datetime) -> list[datetime]:
        """The beginnings of the steps; the last one is under way."""
        last = int(now.timestamp()) // self.step * self.step
        count = self.seconds // self.step
        return [
            datetime.fromtimestamp(last - self.step * back, UTC)
            for back in reversed(range(count))
        ]


SPANS: Sequence[Span] = (
    Span("1h", 3_600, 60, MINUTE, MINUTE),
    Span("24h", 86_400, 600, MINUTE, HOUR),
    Span("7d", 7 * 86_400, 3_600, HOUR, HOUR),
    Span("30d", 30 * 86_400, 4 * 3_600, HOUR, HOUR),
)
NAMES = tuple(span.name for span in SPANS)


def span_of(name: str) -> Span:
    """The hour for what there isn't."""
    return next((span for span in SPANS if span.name == name), SPANS[0])


def hour_before(now: datetime) -> datetime:
    """The beginning of the hour before the present one."""
    return now.replace(minute=0, second=0, microsecond=0) - timedelta(hours=1)
